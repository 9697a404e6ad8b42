//! Order: of each key only the first event that is not done can be claimed.

use std::time::Duration;

use hookgate::model::{DueEvent, Failure, Leased, NewEvent, Next};
use hookgate::store::{Filter, Lane, Pausable, QueueName, State};

use super::fairness::lane_of;
use super::fixture::{Fixture, LONG, event, event_at, ids, lane, settle_as_done, stored};
use crate::support::database::{Engine, both_engines};
use crate::support::wait;

both_engines!(
    only_the_first_event_of_each_key_is_claimed,
    a_key_goes_on_when_its_first_event_is_done,
    an_event_that_waits_for_its_retry_blocks_its_key,
    a_dead_event_blocks_its_key_until_it_is_redriven,
    a_dead_event_can_be_passed_over_and_comes_later,
    every_key_has_its_turn,
    the_next_due_event_is_the_first_of_a_key,
    a_busy_handler_blocks_the_keys_whose_first_event_it_would_take,
    events_of_an_endpoint_with_little_room_are_ordered_too,
    an_older_version_is_not_current,
);

fn ordered(id: &str, key: &str) -> NewEvent {
    NewEvent { ordered: true, ordering_key: Some(key.into()), ..event(id) }
}

async fn accept(fixture: &Fixture, events: &[(&str, &str)]) {
    let events: Vec<NewEvent> = events.iter().map(|(id, key)| ordered(id, key)).collect();
    fixture.store.inbox.accept(&events).await.unwrap();
}

async fn fail(fixture: &Fixture, leased: Leased<DueEvent>, next: &Next) {
    let failure = Failure { code: "handler.x".into(), retryable: true };
    fixture.store.events.fail(leased, &failure, next).await.unwrap();
}

fn review() -> Next {
    Next::Review { reason: "broken".into() }
}

async fn only_the_first_event_of_each_key_is_claimed(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(&fixture, &[("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b")]).await;
    fixture.accept_ids(&["free_1", "free_2"]).await;
    assert_eq!(ids(&fixture.claim(10).await), ["a1", "b1", "free_1", "free_2"]);
    assert!(fixture.claim(10).await.is_empty());
}

async fn a_key_goes_on_when_its_first_event_is_done(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(&fixture, &[("a1", "a"), ("a2", "a"), ("a3", "a")]).await;
    for id in ["a1", "a2", "a3"] {
        let claimed = fixture.claim(10).await;
        assert_eq!(ids(&claimed), [id]);
        settle_as_done(&fixture, &claimed[0]).await;
    }
}

async fn an_event_that_waits_for_its_retry_blocks_its_key(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(&fixture, &[("a1", "a"), ("a2", "a"), ("b1", "b")]).await;
    let first = fixture.claim_one().await;
    fail(&fixture, first, &Next::Retry { after: Duration::from_hours(1) }).await;
    assert_eq!(ids(&fixture.claim(10).await), ["b1"]);
    let now = fixture.dialect("now()", "'2026-01-01T00:00:00.000Z'");
    fixture
        .raw
        .execute(&format!("UPDATE webhook_inbox SET available_at = {now} WHERE event_id = 'a1'"))
        .await;
    assert_eq!(ids(&fixture.claim(10).await), ["a1"]);
}

async fn a_dead_event_blocks_its_key_until_it_is_redriven(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(&fixture, &[("a1", "a"), ("a2", "a")]).await;
    let first = fixture.claim_one().await;
    fail(&fixture, first, &review()).await;
    assert!(fixture.claim(10).await.is_empty());
    assert_eq!(fixture.store.events.next_due(&[lane("billing", 10)]).await.unwrap(), None);
    redrive(&fixture).await;
    for id in ["a1", "a2"] {
        let claimed = fixture.claim(10).await;
        assert_eq!(ids(&claimed), [id]);
        settle_as_done(&fixture, &claimed[0]).await;
    }
}

async fn redrive(fixture: &Fixture) {
    let operations = &fixture.store.operations;
    let audit = operations.audit("cli:ann", "dead.redrive", "{}").await.unwrap();
    let filter = Filter { state: Some(State::Dead), ..Filter::default() };
    assert_eq!(operations.redrive(QueueName::Inbox, &filter, audit).await.unwrap(), 1);
}

async fn a_dead_event_can_be_passed_over_and_comes_later(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(&fixture, &[("a1", "a"), ("a2", "a"), ("a3", "a")]).await;
    let lanes = [Lane { skips_dead: true, ..lane("billing", 10) }];
    let first = fixture.claim_one().await;
    fail(&fixture, first, &review()).await;
    assert_eq!(fixture.store.events.next_due(&lanes).await.unwrap(), Some(Duration::ZERO));
    let claimed = fixture.store.events.claim(10, &lanes).await.unwrap();
    assert_eq!(ids(&claimed), ["a2"]);
    settle_as_done(&fixture, &claimed[0]).await;
    redrive(&fixture).await;
    assert_eq!(ids(&fixture.store.events.claim(10, &lanes).await.unwrap()), ["a1"]);
}

async fn every_key_has_its_turn(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let keys: Vec<String> = (0..30).map(|n| format!("k{n:02}")).collect();
    let events: Vec<NewEvent> = (0..3)
        .flat_map(|round| keys.iter().map(move |key| ordered(&format!("{key}-{round}"), key)))
        .collect();
    fixture.store.inbox.accept(&events).await.unwrap();
    let mut done = Vec::new();
    while done.len() < events.len() {
        let claimed = fixture.claim(7).await;
        assert!(!claimed.is_empty(), "{done:?}");
        for leased in &claimed {
            settle_as_done(&fixture, leased).await;
        }
        done.extend(claimed.iter().map(|leased| leased.item.event_id.clone()));
    }
    for key in &keys {
        let of_key: Vec<&String> = done.iter().filter(|id| id.starts_with(key.as_str())).collect();
        assert_eq!(of_key, [0, 1, 2].map(|round| format!("{key}-{round}")).iter().collect::<Vec<_>>());
        // None was served to its end before others had a turn.
        let second = done.iter().position(|id| *id == format!("{key}-1")).expect("done");
        assert!(second >= 20, "{done:?}");
    }
}

async fn the_next_due_event_is_the_first_of_a_key(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(&fixture, &[("a1", "a"), ("a2", "a")]).await;
    let lanes = [lane("billing", 10)];
    assert_eq!(fixture.store.events.next_due(&lanes).await.unwrap(), Some(Duration::ZERO));
    let first = fixture.claim_one().await;
    fail(&fixture, first, &Next::Retry { after: Duration::from_secs(500) }).await;
    let next = fixture.store.events.next_due(&lanes).await.unwrap().expect("a retry waits");
    assert!(next > Duration::from_mins(5), "{next:?}");
}

async fn a_busy_handler_blocks_the_keys_whose_first_event_it_would_take(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (of, id, key) in [("invoice.paid", "a1", "a"), ("note", "a2", "a"), ("note", "b1", "b")] {
        let event = NewEvent { ordered: true, ordering_key: Some(key.into()), ..event_at("billing", of, id) };
        fixture.accept(&event).await;
    }
    fixture.store.operations.pause(Pausable::Handler, "book", "cli:ann", None).await.unwrap();
    let lanes = [lane_of("billing", "book", &["invoice.*"], None)];
    assert_eq!(ids(&fixture.store.events.claim(10, &lanes).await.unwrap()), ["b1"]);
}

async fn events_of_an_endpoint_with_little_room_are_ordered_too(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(&fixture, &[("a1", "a"), ("b1", "b"), ("c1", "c")]).await;
    assert_eq!(fixture.store.events.claim(10, &[lane("billing", 2)]).await.unwrap().len(), 2);
    assert_eq!(fixture.store.events.claim(10, &[lane("billing", 2)]).await.unwrap().len(), 1);
}

async fn an_older_version_is_not_current(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let is_current = async |version: Option<i64>, commits: bool| {
        let event = stored(&NewEvent { version, ..event("evt_1") });
        let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
        let is_current = unit.is_current(&event).await.unwrap();
        if commits {
            unit.commit().await.unwrap();
        } else {
            unit.rollback().await;
        }
        is_current
    };
    assert!(is_current(Some(5), true).await);
    assert!(is_current(Some(9), false).await, "what is rolled back was not applied");
    assert!(is_current(Some(5), true).await, "an equal one runs");
    assert!(!is_current(Some(4), true).await);
    assert!(is_current(None, true).await);
    assert!(is_current(Some(6), true).await);
}

/// A row with a smaller number that is stored later, by another gateway, can be claimed beside one of its key.
#[tokio::test]
async fn events_of_one_key_are_never_at_work_together() {
    let fixture = Fixture::new(Engine::Postgres).await;
    accept(&fixture, &[("late", "a"), ("early", "a")]).await;
    let first = fixture.claim_one().await;
    fixture.raw.execute("UPDATE webhook_inbox SET lease_until = NULL WHERE event_id = 'late'").await;
    fixture.raw.execute("UPDATE webhook_inbox SET seq = 0 WHERE event_id = 'early'").await;
    let second = fixture.claim_one().await;
    assert_eq!((&*first.item.event_id, &*second.item.event_id), ("late", "early"));
    let mut one = fixture.store.inbox.begin(LONG).await.unwrap();
    one.lock(&first).await.unwrap();
    let inbox = std::sync::Arc::clone(&fixture.store.inbox);
    let other = tokio::spawn(async move {
        let mut two = inbox.begin(LONG).await.unwrap();
        two.lock(&second).await.unwrap();
        two.rollback().await;
    });
    wait::until("the second to wait", async || (fixture.raw.blocked().await == 1).then_some(())).await;
    one.rollback().await;
    other.await.unwrap();
}
