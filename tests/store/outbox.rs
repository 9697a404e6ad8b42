//! Messages to destinations.

use std::time::Duration;

use hookgate::model::{Attempt, AttemptOutcome, Content, Failure, Leased, Message, Next};
use hookgate::store::{Lane, Settled};

use super::fixture::{Fixture, LONG, key, lane};
use crate::support::database::{Engine, both_engines};

both_engines!(
    a_message_is_claimed_with_all_that_a_delivery_needs,
    a_message_without_destination_is_never_claimed,
    each_destination_has_its_own_room,
    one_destination_does_not_stand_in_anothers_way,
    what_one_destination_leaves_another_may_take,
    a_published_message_is_done_and_its_attempt_recorded,
    a_stale_sender_cannot_settle_but_its_attempt_is_recorded,
    a_failed_attempt_is_recorded_and_waits,
    a_rejected_message_goes_to_review,
    an_exhausted_message_goes_to_review,
    a_message_that_crashed_before_is_claimed_alone_in_its_lane,
    a_claim_given_back_or_extended_or_failed_without_attempt,
    the_next_due_message_of_these_destinations_is_foretold,
);

fn attempt(outcome: AttemptOutcome, status: u16) -> Attempt {
    let error = (outcome != AttemptOutcome::Succeeded).then(|| format!("status.{status}"));
    Attempt { outcome, status: Some(status), error, duration: Duration::from_millis(12), retry_after: None }
}

impl Fixture {
    async fn messages(&self, limit: u32, lanes: &[Lane]) -> Vec<Leased<Message>> {
        self.store.outbox.claim(limit, lanes).await.expect("claim")
    }

    async fn one_message(&self) -> Leased<Message> {
        let mut claimed = self.messages(1, &[lane("crm", 1)]).await;
        assert_eq!(claimed.len(), 1, "one message is due");
        claimed.remove(0)
    }
}

fn ids(claimed: &[Leased<Message>]) -> Vec<&str> {
    claimed.iter().map(|leased| leased.item.key.event_id.as_str()).collect()
}

async fn a_message_is_claimed_with_all_that_a_delivery_needs(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    let leased = fixture.one_message().await;
    assert_eq!((leased.epoch, leased.attempts, leased.crash_attempts), (1, 1, 0));
    let message = leased.item;
    assert_eq!(message.key, key("evt_1"));
    assert_eq!(&*message.destination, "crm");
    assert_eq!(message.message_id, "msg_evt_1");
    assert_eq!(message.event_type, "Booked");
    assert_eq!(message.content, Content::Payload(r#"{"amount": 5}"#.into()));
    assert_eq!(message.headers, None);
    assert_eq!(message.received_at, super::fixture::time("2026-02-01T00:00:00.123Z"));
    assert!(message.trace_context.is_some());
}

async fn a_message_without_destination_is_never_claimed(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", None).await;
    assert!(fixture.messages(10, &[lane("crm", 10), lane("", 10)]).await.is_empty());
    assert_eq!(fixture.store.outbox.next_due(&[lane("crm", 10)]).await.unwrap(), None);
    let (_, outbox) = fixture.store.ledger.backlog().await.unwrap();
    assert!(outbox.is_empty(), "{outbox:?}");
}

async fn each_destination_has_its_own_room(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (id, destination) in
        [("evt_1", "crm"), ("evt_2", "crm"), ("evt_3", "crm"), ("evt_4", "erp"), ("evt_5", "erp")]
    {
        fixture.message(id, Some(destination)).await;
    }
    let mut claimed = ids(&fixture.messages(10, &[lane("crm", 2), lane("erp", 1)]).await).join(" ");
    assert_eq!(claimed, "evt_1 evt_2 evt_4");
    claimed = ids(&fixture.messages(10, &[lane("erp", 5)]).await).join(" ");
    assert_eq!(claimed, "evt_5");
    assert!(fixture.messages(10, &[]).await.is_empty());
    assert!(fixture.messages(10, &[lane("crm", 0)]).await.is_empty());
}

async fn one_destination_does_not_stand_in_anothers_way(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for n in 0..6 {
        fixture.message(&format!("evt_{n}"), Some("crm")).await;
    }
    fixture.message("evt_erp", Some("erp")).await;
    let claimed = fixture.messages(4, &[lane("crm", 10), lane("erp", 10)]).await;
    assert_eq!(claimed.len(), 4);
    assert!(ids(&claimed).contains(&"evt_erp"));
}

async fn what_one_destination_leaves_another_may_take(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for n in 0..6 {
        fixture.message(&format!("evt_{n}"), Some("crm")).await;
    }
    assert_eq!(fixture.messages(4, &[lane("crm", 10), lane("erp", 10)]).await.len(), 4);
}

async fn a_published_message_is_done_and_its_attempt_recorded(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    let leased = fixture.one_message().await;
    let settled =
        fixture.store.outbox.publish(leased, &attempt(AttemptOutcome::Succeeded, 200)).await.unwrap();
    assert_eq!(settled, Settled::Written);
    let done = "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL AND lease_until IS NULL AND last_error IS NULL";
    assert_eq!(fixture.raw.count(done).await, 1);
    let noted = "SELECT count(*) FROM delivery_attempts WHERE destination = 'crm' AND message_id = 'msg_evt_1' \
                 AND attempt = 1 AND outcome = 'succeeded' AND status = 200 AND error IS NULL AND duration_ms = 12 \
                 AND outbox_id = (SELECT id FROM outbox)";
    assert_eq!(fixture.raw.count(noted).await, 1);
    fixture.expire("outbox").await;
    assert!(fixture.messages(10, &[lane("crm", 10)]).await.is_empty());
}

async fn a_stale_sender_cannot_settle_but_its_attempt_is_recorded(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    let (first, second) = {
        let first = fixture.one_message().await;
        fixture.expire("outbox").await;
        let second = fixture.one_message().await;
        fixture.expire("outbox").await;
        (first, second)
    };
    let fresh = fixture.one_message().await;
    assert_eq!((fresh.epoch, fresh.crash_attempts), (3, 2));
    let outbox = &fixture.store.outbox;
    let sent = attempt(AttemptOutcome::Succeeded, 200);
    assert_eq!(outbox.publish(first, &sent).await.unwrap(), Settled::LeaseLost);
    let failed = attempt(AttemptOutcome::Failed, 503);
    let next = Next::Review { reason: "why".into() };
    assert_eq!(outbox.fail_attempt(second, &failed, &next).await.unwrap(), Settled::LeaseLost);
    let untouched =
        "SELECT count(*) FROM outbox WHERE published_at IS NULL AND review_at IS NULL AND last_error IS NULL";
    assert_eq!(fixture.raw.count(untouched).await, 1);
    let lost = fixture.dialect("lease_lost", "lease_lost = 1");
    assert_eq!(fixture.raw.count(&format!("SELECT count(*) FROM delivery_attempts WHERE {lost}")).await, 2);
    assert_eq!(outbox.publish(fresh, &sent).await.unwrap(), Settled::Written);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM delivery_attempts").await, 3);
}

async fn a_failed_attempt_is_recorded_and_waits(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    let leased = fixture.one_message().await;
    let next = Next::Retry { after: Duration::from_secs(90) };
    let failed = attempt(AttemptOutcome::Failed, 503);
    assert_eq!(fixture.store.outbox.fail_attempt(leased, &failed, &next).await.unwrap(), Settled::Written);
    assert!(fixture.messages(10, &[lane("crm", 10)]).await.is_empty());
    let noted = "SELECT last_error, error FROM outbox JOIN delivery_attempts ON outbox_id = outbox.id \
                 WHERE outcome = 'failed' AND status = 503 AND lease_until IS NULL";
    assert_eq!(fixture.raw.pairs(noted).await, [("status.503".into(), "status.503".into())]);
    fixture.raw.execute("UPDATE outbox SET available_at = created_at").await;
    assert_eq!(fixture.one_message().await.attempts, 2);
}

async fn a_rejected_message_goes_to_review(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    let leased = fixture.one_message().await;
    let next = Next::Review { reason: "the destination said 410".into() };
    fixture.store.outbox.fail_attempt(leased, &attempt(AttemptOutcome::Rejected, 410), &next).await.unwrap();
    let noted =
        "SELECT last_error, review_reason FROM outbox WHERE review_at IS NOT NULL AND published_at IS NULL";
    assert_eq!(fixture.raw.pairs(noted).await, [("status.410".into(), "the destination said 410".into())]);
    let (_, outbox) = fixture.store.ledger.backlog().await.unwrap();
    assert_eq!((outbox[0].name.as_str(), outbox[0].backlog, outbox[0].needs_review), ("crm", 0, 1));
}

async fn an_exhausted_message_goes_to_review(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    fixture.message("evt_2", Some("crm")).await;
    fixture.raw.execute("UPDATE outbox SET attempts = 3 WHERE event_id = 'evt_1'").await;
    assert_eq!(ids(&fixture.messages(10, &[lane("crm", 10)]).await), ["evt_2"]);
    let review = "SELECT event_id, review_reason FROM outbox WHERE review_at IS NOT NULL";
    assert_eq!(fixture.raw.pairs(review).await, [("evt_1".into(), "no attempts left".into())]);
}

async fn a_message_that_crashed_before_is_claimed_alone_in_its_lane(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (id, destination) in [("evt_1", "crm"), ("evt_2", "crm"), ("evt_3", "erp"), ("evt_4", "erp")] {
        fixture.message(id, Some(destination)).await;
    }
    fixture.one_message().await;
    fixture.expire("outbox").await;
    let claimed = fixture.messages(10, &[lane("crm", 10), lane("erp", 10)]).await;
    assert_eq!(ids(&claimed).join(" "), "evt_1 evt_3 evt_4");
}

async fn a_claim_given_back_or_extended_or_failed_without_attempt(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let outbox = &fixture.store.outbox;
    fixture.message("evt_1", Some("crm")).await;
    let leased = fixture.one_message().await;
    assert_eq!(outbox.give_back(leased).await.unwrap(), Settled::Written);
    let leased = fixture.one_message().await;
    assert_eq!((leased.epoch, leased.attempts), (2, 1));
    fixture.expire("outbox").await;
    assert_eq!(outbox.extend(&leased, LONG).await.unwrap(), Settled::Written);
    assert!(fixture.messages(10, &[lane("crm", 10)]).await.is_empty());
    let failure = Failure { code: "destination.unknown".into(), retryable: false };
    let next = Next::Review { reason: "why".into() };
    assert_eq!(outbox.fail(leased, &failure, &next).await.unwrap(), Settled::Written);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM delivery_attempts").await, 0);
    let noted = "SELECT last_error, review_reason FROM outbox WHERE review_at IS NOT NULL";
    assert_eq!(fixture.raw.pairs(noted).await, [("destination.unknown".into(), "why".into())]);
}

async fn the_next_due_message_of_these_destinations_is_foretold(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    fixture.message("evt_2", Some("erp")).await;
    let due = async |names: &[&str]| {
        let lanes: Vec<Lane> = names.iter().map(|name| lane(name, 1)).collect();
        fixture.store.outbox.next_due(&lanes).await.unwrap()
    };
    assert_eq!(due(&["other"]).await, None);
    assert_eq!(due(&[]).await, None);
    assert_eq!(due(&["other", "erp"]).await, Some(Duration::ZERO));
    fixture.one_message().await;
    let lease = due(&["crm"]).await.unwrap().as_secs_f64();
    assert!((30.0..=60.0).contains(&lease), "the lease ends in {lease} s");
    assert_eq!(due(&["crm", "erp"]).await, Some(Duration::ZERO));
}
