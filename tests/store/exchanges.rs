//! Exchanges: an event whose destination is asked while the provider waits.

use std::time::Duration;

use bytes::Bytes;
use hookgate::model::{Answer, Asked, Attempt, AttemptOutcome, Headers};
use hookgate::store::{Ending, Insertion, MAX_KEPT_ANSWER, Opened, Recorded, Settled};

use super::fixture::{Fixture, LONG, event, key};
use crate::support::database::{Engine, both_engines};

both_engines!(
    an_event_is_leased_to_whoever_asks_and_no_worker_claims_it,
    an_answer_is_recorded_with_the_events_end_and_found_by_copies,
    a_long_answer_is_kept_in_part_and_given_to_nobody,
    what_certainly_was_not_taken_is_opened_again,
    what_may_have_arrived_is_never_opened_again,
    what_a_person_has_closed_is_never_opened_again,
    a_lost_exchange_needs_review_and_nobody_opens_it,
    a_late_recording_changes_nothing,
    what_another_mode_left_is_taken_over,
    an_open_exchange_keeps_no_worker_busy,
    an_answer_goes_with_the_payload_but_not_before_a_person_has_looked,
);

const TAKEN: AttemptOutcome = AttemptOutcome::Succeeded;
const FLAGGED: &str =
    "SELECT count(*) FROM webhook_inbox WHERE outcome = 'flagged' AND review_at IS NOT NULL";

fn asked(outcome: AttemptOutcome, answer: Option<(u16, &[u8])>, may_have_arrived: bool) -> Asked {
    let mut headers = Headers::new();
    headers.push("content-type", "text/xml");
    headers.push("x-odd", vec![0xff]);
    let error = (outcome != TAKEN).then(|| "timeout".to_owned());
    let status = answer.map(|(status, _)| status);
    let attempt = Attempt { outcome, status, error, duration: Duration::from_millis(7), retry_after: None };
    let answer = answer.map(|(status, body)| Answer { status, headers, body: Bytes::copy_from_slice(body) });
    Asked { attempt, answer, may_have_arrived }
}

impl Fixture {
    /// Inserts the event, or finds it, and takes it for an exchange.
    async fn open(&self, id: &str) -> Option<Opened> {
        let mut unit = self.store.inbox.begin(LONG).await.unwrap();
        unit.insert(&event(id)).await.unwrap();
        let opened = unit.open_exchange(&key(id), LONG).await.unwrap();
        unit.commit().await.unwrap();
        opened
    }

    async fn close(&self, id: &str, opened: &Opened, asked: &Asked) -> Settled {
        let review_reason = (!asked.is_taken()).then_some("the destination did not take it");
        let ending = Ending { destination: "crm", message_id: "msg_1", asked, review_reason };
        let mut unit = self.store.inbox.begin(LONG).await.unwrap();
        let (settled, _) = unit.close_exchange(&key(id), opened, &ending).await.unwrap();
        unit.commit().await.unwrap();
        settled
    }

    async fn recorded(&self, id: &str) -> Option<Recorded> {
        let mut unit = self.store.inbox.begin(LONG).await.unwrap();
        let recorded = unit.recorded(&key(id)).await.unwrap();
        unit.rollback().await;
        recorded
    }

    async fn abandoned(&self) -> Vec<String> {
        let mut unit = self.store.inbox.begin(LONG).await.unwrap();
        let lost = unit.abandon_exchanges(10).await.unwrap();
        unit.commit().await.unwrap();
        lost.into_iter().map(|key| key.event_id).collect()
    }
}

async fn an_event_is_leased_to_whoever_asks_and_no_worker_claims_it(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let opened = fixture.open("evt_1").await.expect("it is new");
    assert_eq!((opened.epoch, opened.attempt), (1, 1));
    assert!(fixture.open("evt_1").await.is_none(), "it is somebody's");
    assert!(fixture.claim(10).await.is_empty());
    fixture.expire("webhook_inbox").await;
    assert!(fixture.claim(10).await.is_empty(), "also when the lease has passed");
    assert!(fixture.open("evt_1").await.is_none(), "nobody knows whether it was sent");
}

async fn an_answer_is_recorded_with_the_events_end_and_found_by_copies(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let opened = fixture.open("evt_1").await.unwrap();
    let done = asked(TAKEN, Some((201, b"\x00<Response/>\xff")), true);
    assert_eq!(fixture.close("evt_1", &opened, &done).await, Settled::Written);
    let recorded = fixture.recorded("evt_1").await.unwrap();
    assert_eq!(recorded, Recorded { is_in_review: false, answer: done.answer });
    assert!(fixture.open("evt_1").await.is_none(), "it is done");
    let row = "SELECT count(*) FROM webhook_inbox WHERE outcome = 'processed' AND lease_until IS NULL \
               AND last_error IS NULL AND attempts = 1 AND review_at IS NULL";
    assert_eq!(fixture.raw.count(row).await, 1);
    let exchange = fixture.store.operations.event(&key("evt_1")).await.unwrap().unwrap().exchange.unwrap();
    assert_eq!((exchange.destination.as_str(), exchange.status, exchange.attempt), ("crm", Some(201), 1));
    assert_eq!(
        (exchange.outcome.as_str(), exchange.duration_ms, exchange.repeatable),
        ("succeeded", 7, false)
    );
    assert_eq!(exchange.content.unwrap().body, &b"\x00<Response/>\xff"[..]);
}

async fn a_long_answer_is_kept_in_part_and_given_to_nobody(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (id, length, is_given) in [("evt_1", MAX_KEPT_ANSWER, true), ("evt_2", MAX_KEPT_ANSWER + 1, false)] {
        let opened = fixture.open(id).await.unwrap();
        fixture.close(id, &opened, &asked(TAKEN, Some((200, &vec![b'a'; length])), true)).await;
        assert_eq!(fixture.recorded(id).await.unwrap().answer.is_some(), is_given, "{length}");
        let exchange = fixture.store.operations.event(&key(id)).await.unwrap().unwrap().exchange.unwrap();
        assert_eq!(exchange.body_bytes, i64::try_from(length).ok());
        assert_eq!(exchange.content.unwrap().body.len(), MAX_KEPT_ANSWER);
    }
}

async fn what_certainly_was_not_taken_is_opened_again(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let first = fixture.open("evt_1").await.unwrap();
    fixture.close("evt_1", &first, &asked(AttemptOutcome::Failed, None, false)).await;
    assert_eq!(fixture.raw.count(FLAGGED).await, 1, "a person sees it");
    let second = fixture.open("evt_1").await.expect("it was not reached");
    assert_eq!((second.epoch, second.attempt), (2, 2));
    assert_eq!(fixture.raw.count(FLAGGED).await, 0, "it is under way");
    fixture.close("evt_1", &second, &asked(AttemptOutcome::Rejected, Some((400, b"no")), true)).await;
    let third = fixture.open("evt_1").await.expect("it was answered with no");
    fixture.close("evt_1", &third, &asked(TAKEN, Some((200, b"yes")), true)).await;
    assert_eq!(&*fixture.recorded("evt_1").await.unwrap().answer.unwrap().body, b"yes");
    assert_eq!(fixture.raw.count("SELECT count(*) FROM proxy_answers WHERE attempt = 3").await, 1);
}

async fn what_may_have_arrived_is_never_opened_again(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let opened = fixture.open("evt_1").await.unwrap();
    fixture.close("evt_1", &opened, &asked(AttemptOutcome::Failed, None, true)).await;
    assert!(fixture.open("evt_1").await.is_none());
    assert_eq!(fixture.recorded("evt_1").await.unwrap(), Recorded { is_in_review: true, answer: None });
    assert_eq!(fixture.raw.count(FLAGGED).await, 1);
}

async fn what_a_person_has_closed_is_never_opened_again(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let opened = fixture.open("evt_1").await.unwrap();
    fixture.close("evt_1", &opened, &asked(AttemptOutcome::Failed, None, false)).await;
    fixture.raw.execute("UPDATE webhook_inbox SET review_at = NULL, review_reason = NULL").await;
    assert!(fixture.open("evt_1").await.is_none());
    assert_eq!(fixture.recorded("evt_1").await.unwrap(), Recorded { is_in_review: false, answer: None });
}

async fn a_lost_exchange_needs_review_and_nobody_opens_it(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    // A first exchange that may be repeated says nothing of the second, which was lost.
    let first = fixture.open("evt_1").await.unwrap();
    fixture.close("evt_1", &first, &asked(AttemptOutcome::Failed, None, false)).await;
    fixture.open("evt_1").await.unwrap();
    fixture.accept_ids(&["evt_2"]).await;
    assert!(fixture.abandoned().await.is_empty(), "the lease has not passed");
    fixture.expire("webhook_inbox").await;
    assert_eq!(fixture.abandoned().await, ["evt_1"]);
    assert!(fixture.open("evt_1").await.is_none());
    assert!(fixture.recorded("evt_1").await.unwrap().is_in_review);
    let row = "SELECT count(*) FROM webhook_inbox WHERE event_id = 'evt_1' AND outcome = 'flagged' \
               AND last_error = 'proxy.lost' AND crash_attempts = 1 AND lease_until IS NULL";
    assert_eq!(fixture.raw.count(row).await, 1);
    assert!(fixture.abandoned().await.is_empty(), "once");
}

async fn a_late_recording_changes_nothing(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let opened = fixture.open("evt_1").await.unwrap();
    fixture.expire("webhook_inbox").await;
    fixture.abandoned().await;
    let late = asked(TAKEN, Some((200, b"late")), true);
    assert_eq!(fixture.close("evt_1", &opened, &late).await, Settled::LeaseLost);
    assert_eq!(fixture.recorded("evt_1").await.unwrap(), Recorded { is_in_review: true, answer: None });
    assert_eq!(fixture.raw.count("SELECT count(*) FROM proxy_answers").await, 0);
}

async fn what_another_mode_left_is_taken_over(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    assert!(matches!(fixture.accept(&event("evt_1")).await, Insertion::Inserted { .. }));
    let leased = fixture.claim_one().await;
    assert!(fixture.open("evt_1").await.is_none(), "a worker has it");
    fixture.store.events.give_back(leased).await.unwrap();
    assert!(fixture.open("evt_1").await.is_some());
    assert!(fixture.claim(10).await.is_empty());
}

async fn an_open_exchange_keeps_no_worker_busy(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.open("evt_1").await.unwrap();
    fixture.expire("webhook_inbox").await;
    let due = fixture.store.events.next_due(&[super::fixture::lane("billing", 1)]).await.unwrap();
    assert!(due.is_none_or(|due| due > Duration::from_hours(24 * 365)), "{due:?}");
}

async fn an_answer_goes_with_the_payload_but_not_before_a_person_has_looked(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (id, outcome) in [("evt_1", TAKEN), ("evt_2", AttemptOutcome::Rejected)] {
        let opened = fixture.open(id).await.unwrap();
        fixture.close(id, &opened, &asked(outcome, Some((200, b"answer")), true)).await;
    }
    fixture.raw.execute("UPDATE webhook_inbox SET received_at = '2020-01-01T00:00:00.000Z'").await;
    let age = Duration::from_hours(24);
    let retention = super::fixture::retention(age, age * 100_000);
    assert_eq!(fixture.store.ledger.prune(&retention, 10).await.unwrap().emptied, 1);
    let left = "SELECT CAST(event_id AS text), outcome FROM proxy_answers";
    assert_eq!(fixture.raw.pairs(left).await, [("evt_2".to_owned(), "rejected".to_owned())]);
    assert_eq!(fixture.recorded("evt_1").await.unwrap(), Recorded { is_in_review: false, answer: None });
    fixture.raw.execute("UPDATE webhook_inbox SET review_at = NULL, review_reason = NULL").await;
    let retention = super::fixture::retention(age, age);
    assert_eq!(fixture.store.ledger.prune(&retention, 10).await.unwrap().deleted, 2);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM proxy_answers").await, 0);
}
