//! The inbox as a queue.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hookgate::model::{Failure, Next};
use hookgate::store::Settled;

use super::fixture::{DONE, Fixture, LONG, event, ids, key, lane, settle_as_done};
use crate::support::database::{Engine, both_engines};

both_engines!(
    rows_are_claimed_once_in_the_order_of_arrival,
    concurrent_claims_never_share_a_row,
    an_expired_lease_is_taken_over_and_counted_as_a_crash,
    a_row_that_crashed_before_is_claimed_alone,
    an_exhausted_row_goes_to_review,
    five_crashes_go_to_review,
    crashes_use_up_no_attempt,
    a_row_in_review_is_never_claimed,
    a_claim_given_back_is_due_at_once_and_costs_nothing,
    a_failed_row_waits_for_its_time,
    a_failed_row_can_go_to_review,
    a_stale_claim_writes_nothing,
    a_processed_row_cannot_fail,
    a_lease_can_be_extended,
    a_row_at_work_is_not_claimed,
    events_of_endpoints_that_are_not_served_stay_where_they_are,
    the_next_due_row_is_foretold,
);

fn failure() -> Failure {
    Failure { code: "handler.sql.23505".into(), retryable: true }
}

async fn rows_are_claimed_once_in_the_order_of_arrival(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_c", "evt_a", "evt_b"]).await;
    let claimed = fixture.claim(2).await;
    assert_eq!(ids(&claimed), ["evt_c", "evt_a"]);
    assert_eq!((claimed[0].epoch, claimed[0].attempts, claimed[0].crash_attempts), (1, 1, 0));
    assert_eq!(ids(&fixture.claim(10).await), ["evt_b"]);
    assert!(fixture.claim(10).await.is_empty());
    assert!(fixture.store.events.claim(10, &[]).await.unwrap().is_empty());
}

/// In a rolling change of the configuration the old gateway must not take the new endpoint's events for ignored.
async fn events_of_endpoints_that_are_not_served_stay_where_they_are(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let others = [lane("github", 10), lane("slack", 10)];
    assert!(fixture.store.events.claim(10, &others).await.unwrap().is_empty());
    assert_eq!(fixture.store.events.next_due(&others).await.unwrap(), None);
    let served = [lane("github", 10), lane("billing", 10)];
    assert_eq!(fixture.store.events.next_due(&served).await.unwrap(), Some(Duration::ZERO));
    assert_eq!(ids(&fixture.store.events.claim(10, &served).await.unwrap()), ["evt_1"]);
}

async fn concurrent_claims_never_share_a_row(engine: Engine) {
    let fixture = Arc::new(Fixture::new(engine).await);
    let all: Vec<String> = (0..60).map(|n| format!("evt_{n}")).collect();
    fixture.accept_ids(&all.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let fixture = Arc::clone(&fixture);
        tasks.spawn(async move {
            let mut mine = Vec::new();
            loop {
                let claimed = fixture.claim(7).await;
                if claimed.is_empty() {
                    return mine;
                }
                mine.extend(claimed.into_iter().map(|leased| leased.item.key.event_id));
            }
        });
    }
    let claimed: Vec<String> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 60);
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), 60);
}

async fn an_expired_lease_is_taken_over_and_counted_as_a_crash(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    fixture.claim_one().await;
    fixture.expire("webhook_inbox").await;
    let again = fixture.claim_one().await;
    assert_eq!((again.epoch, again.attempts, again.crash_attempts), (2, 2, 1));
    assert_eq!(again.failures(), 1);
}

async fn a_row_that_crashed_before_is_claimed_alone(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1", "evt_2"]).await;
    fixture.claim(2).await;
    fixture.expire("webhook_inbox").await;
    fixture.accept_ids(&["evt_3", "evt_4"]).await;
    assert_eq!(ids(&fixture.claim(10).await), ["evt_1"]);
    assert_eq!(ids(&fixture.claim(10).await), ["evt_2"]);
    assert_eq!(ids(&fixture.claim(10).await), ["evt_3", "evt_4"]);
    // Behind healthy rows it does not hold them up either.
    fixture.accept_ids(&["evt_5"]).await;
    let last = fixture.claim_one().await;
    fixture.expire("webhook_inbox").await;
    fixture.store.events.fail(last, &failure(), &Next::Retry { after: Duration::ZERO }).await.unwrap();
    fixture.accept_ids(&["evt_6"]).await;
    let later =
        fixture.dialect("now() - interval '1 ms'", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 seconds')");
    let reorder =
        format!("UPDATE webhook_inbox SET available_at = {later} WHERE event_id IN ('evt_5', 'evt_6')");
    fixture.raw.execute(&reorder).await;
    fixture
        .raw
        .execute("UPDATE webhook_inbox SET crash_attempts = 1, attempts = 2 WHERE event_id = 'evt_6'")
        .await;
    fixture.raw.execute("UPDATE webhook_inbox SET processed_at = received_at, outcome = 'processed', lease_until = NULL WHERE event_id < 'evt_5'").await;
    assert_eq!(ids(&fixture.claim(10).await), ["evt_5"]);
    assert_eq!(ids(&fixture.claim(10).await), ["evt_6"]);
}

async fn an_exhausted_row_goes_to_review(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1", "evt_2"]).await;
    for _ in 0..3 {
        let leased = fixture.claim_one().await;
        assert_eq!(leased.item.event_id, "evt_1");
        fixture.store.events.fail(leased, &failure(), &Next::Retry { after: Duration::ZERO }).await.unwrap();
        fixture.raw.execute("UPDATE webhook_inbox SET available_at = received_at").await;
    }
    assert_eq!(ids(&fixture.claim(10).await), ["evt_2"]);
    let review = "SELECT event_id, review_reason FROM webhook_inbox WHERE review_at IS NOT NULL AND lease_until IS NULL";
    assert_eq!(fixture.raw.pairs(review).await, [("evt_1".into(), "no attempts left".into())]);
}

async fn five_crashes_go_to_review(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    for crashes in 0..5 {
        assert_eq!(fixture.claim_one().await.crash_attempts, crashes);
        fixture.expire("webhook_inbox").await;
    }
    assert!(fixture.claim(10).await.is_empty());
    let review = "SELECT count(*) FROM webhook_inbox WHERE review_at IS NOT NULL AND crash_attempts = 5";
    assert_eq!(fixture.raw.count(review).await, 1);
}

async fn crashes_use_up_no_attempt(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    for _ in 0..4 {
        fixture.claim_one().await;
        fixture.expire("webhook_inbox").await;
    }
    // Four crashes, three attempts allowed: none is used up.
    let leased = fixture.claim_one().await;
    assert_eq!((leased.attempts, leased.failures()), (5, 1));
}

async fn a_row_in_review_is_never_claimed(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let leased = fixture.claim_one().await;
    let next = Next::Review { reason: "permanent".into() };
    assert_eq!(fixture.store.events.fail(leased, &failure(), &next).await.unwrap(), Settled::Written);
    assert!(fixture.claim(10).await.is_empty());
    assert_eq!(fixture.store.events.next_due(&[lane("billing", 1)]).await.unwrap(), None);
}

async fn a_claim_given_back_is_due_at_once_and_costs_nothing(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let leased = fixture.claim_one().await;
    assert_eq!(fixture.store.events.give_back(leased).await.unwrap(), Settled::Written);
    let again = fixture.claim_one().await;
    assert_eq!((again.epoch, again.attempts, again.crash_attempts), (2, 1, 0));
}

async fn a_failed_row_waits_for_its_time(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let leased = fixture.claim_one().await;
    let next = Next::Retry { after: Duration::from_millis(90_500) };
    assert_eq!(fixture.store.events.fail(leased, &failure(), &next).await.unwrap(), Settled::Written);
    assert!(fixture.claim(10).await.is_empty());
    let due = fixture.store.events.next_due(&[lane("billing", 1)]).await.unwrap().unwrap();
    assert!((60.0..=90.5).contains(&due.as_secs_f64()), "{due:?}");
    let noted =
        "SELECT event_id, last_error FROM webhook_inbox WHERE lease_until IS NULL AND review_at IS NULL";
    assert_eq!(fixture.raw.pairs(noted).await, [("evt_1".into(), "handler.sql.23505".into())]);
    fixture.raw.execute("UPDATE webhook_inbox SET available_at = received_at").await;
    let again = fixture.claim_one().await;
    assert_eq!((again.attempts, again.crash_attempts), (2, 0));
    settle_as_done(&fixture, &again).await;
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox WHERE last_error IS NULL").await, 1);
}

async fn a_failed_row_can_go_to_review(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let leased = fixture.claim_one().await;
    let next = Next::Review { reason: "no attempts left".into() };
    fixture.store.events.fail(leased, &failure(), &next).await.unwrap();
    let noted = "SELECT last_error, review_reason FROM webhook_inbox WHERE review_at IS NOT NULL AND processed_at IS NULL";
    assert_eq!(fixture.raw.pairs(noted).await, [("handler.sql.23505".into(), "no attempts left".into())]);
}

async fn a_stale_claim_writes_nothing(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let events = &fixture.store.events;
    fixture.accept_ids(&["evt_1"]).await;
    let mut stale = Vec::new();
    for _ in 0..4 {
        stale.push(fixture.claim_one().await);
        fixture.expire("webhook_inbox").await;
    }
    let fresh = fixture.claim_one().await;
    let next = Next::Review { reason: "why".into() };
    assert_eq!(events.extend(&stale[0], LONG).await.unwrap(), Settled::LeaseLost);
    assert_eq!(events.give_back(stale.remove(0)).await.unwrap(), Settled::LeaseLost);
    assert_eq!(events.fail(stale.remove(0), &failure(), &next).await.unwrap(), Settled::LeaseLost);
    let untouched = "SELECT count(*) FROM webhook_inbox WHERE lease_epoch = 5 AND attempts = 5 AND last_error IS NULL \
                     AND review_at IS NULL AND lease_until IS NOT NULL";
    assert_eq!(fixture.raw.count(untouched).await, 1);
    settle_as_done(&fixture, &fresh).await;
}

async fn a_processed_row_cannot_fail(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let leased = fixture.claim_one().await;
    settle_as_done(&fixture, &leased).await;
    let next = Next::Retry { after: Duration::ZERO };
    assert_eq!(fixture.store.events.fail(leased, &failure(), &next).await.unwrap(), Settled::LeaseLost);
    assert_eq!(
        fixture
            .raw
            .count("SELECT count(*) FROM webhook_inbox WHERE outcome = 'processed' AND last_error IS NULL")
            .await,
        1
    );
}

async fn a_lease_can_be_extended(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let leased = fixture.claim_one().await;
    fixture.expire("webhook_inbox").await;
    assert_eq!(fixture.store.events.extend(&leased, LONG).await.unwrap(), Settled::Written);
    assert!(fixture.claim(10).await.is_empty());
}

async fn a_row_at_work_is_not_claimed(engine: Engine) {
    // On SQLite a claim would wait for the writer.
    if engine == Engine::Sqlite {
        return;
    }
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1", "evt_2"]).await;
    let leased = fixture.claim_one().await;
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.lock(&leased).await.unwrap();
    fixture.accept_ids(&["evt_3"]).await;
    let mut copy = fixture.store.inbox.begin(LONG).await.unwrap();
    copy.insert(&event("evt_3")).await.unwrap();
    assert_eq!(ids(&fixture.claim(10).await), ["evt_2"]);
    copy.rollback().await;
    unit.finish(&key("evt_1"), &DONE).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(ids(&fixture.claim(10).await), ["evt_3"]);
}

async fn the_next_due_row_is_foretold(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let lanes = [lane("billing", 1)];
    let due = async || fixture.store.events.next_due(&lanes).await.unwrap();
    assert_eq!(due().await, None);
    fixture.accept_ids(&["evt_1"]).await;
    assert_eq!(due().await, Some(Duration::ZERO));
    let leased = fixture.claim_one().await;
    let lease = due().await.unwrap().as_secs_f64();
    assert!((30.0..=60.0).contains(&lease), "the lease ends in {lease} s");
    fixture.expire("webhook_inbox").await;
    assert_eq!(due().await, Some(Duration::ZERO));
    settle_as_done(&fixture, &leased).await;
    assert_eq!(due().await, None);
}
