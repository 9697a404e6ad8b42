//! Replays as a queue.

use std::sync::Arc;
use std::time::Duration;

use hookgate::model::Leased;
use hookgate::store::{Filter, Passed, Replay, Replays, Settled, State, StoreError, Upcoming};

use super::fixture::{Fixture, LONG, event, with_body};
use super::operations::order;
use crate::support::database::{Engine, both_engines};

both_engines!(
    a_replay_goes_through_what_was_done_when_it_was_ordered,
    a_replay_leaves_out_what_came_too_late_unless_it_asks_for_it,
    a_step_commits_with_the_unit_of_work_or_not_at_all,
    a_replay_that_was_cancelled_or_claimed_anew_is_fenced,
    one_replay_is_claimed_by_one_worker_and_only_where_its_endpoint_is_served,
    a_rate_makes_the_next_event_wait,
    an_event_that_fails_is_written_down_and_passed_over,
    an_event_without_its_payload_is_not_whole,
);

const MINUTE: Duration = Duration::from_mins(1);

fn replays(fixture: &Fixture) -> &dyn Replays {
    fixture.store.replays.as_ref()
}

fn served() -> [Arc<str>; 1] {
    ["billing".into()]
}

async fn claim(fixture: &Fixture) -> Vec<Leased<Replay>> {
    replays(fixture).claim_replays(10, &served(), MINUTE).await.expect("claim")
}

async fn ordered(fixture: &Fixture, filter: Filter) -> i64 {
    fixture.store.operations.order_replay(&order(filter)).await.expect("order")
}

fn ids(upcoming: &Upcoming) -> Vec<&str> {
    upcoming.events.iter().map(|(key, _)| key.event_id.as_str()).collect()
}

async fn a_replay_goes_through_what_was_done_when_it_was_ordered(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for id in ["evt_2", "evt_1"] {
        fixture.process(&event(id)).await;
    }
    let mut elsewhere = event("evt_3");
    elsewhere.key.endpoint = "shop".into();
    fixture.process(&elsewhere).await;
    fixture.accept_ids(&["pending"]).await;
    let id = ordered(&fixture, Filter::default()).await;
    fixture.process(&event("evt_4")).await;
    let future = fixture.dialect("now() + interval '1 s'", "'2999-01-01T00:00:00.000Z'");
    fixture
        .raw
        .execute(&format!("UPDATE webhook_inbox SET processed_at = {future} WHERE event_id = 'evt_4'"))
        .await;
    let leased = claim(&fixture).await.remove(0);
    assert_eq!((leased.item.id, leased.item.tries, leased.crash_attempts), (id, 0, 0));
    let upcoming = replays(&fixture).upcoming(&leased.item).await.unwrap();
    assert_eq!(ids(&upcoming), ["evt_2", "evt_1"], "in the order of arrival");
    assert_eq!(upcoming.next, None);
    // It is written down who ordered it.
    let audit = "SELECT action, who FROM audit_log";
    assert_eq!(fixture.raw.pairs(audit).await, [("events.replay".into(), "cli:ada".into())]);
}

async fn a_replay_leaves_out_what_came_too_late_unless_it_asks_for_it(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for id in ["evt_1", "evt_2"] {
        fixture.process(&event(id)).await;
    }
    fixture.raw.execute("UPDATE webhook_inbox SET outcome = 'superseded' WHERE event_id = 'evt_2'").await;
    for (state, expected) in [(None, "evt_1"), (Some(State::Superseded), "evt_2")] {
        let filter = Filter { state, ..Filter::default() };
        let counted = fixture.store.operations.replayable(&filter).await.unwrap();
        assert_eq!(counted.iter().map(|row| row.events).sum::<i64>(), 1);
        ordered(&fixture, filter).await;
        let leased = claim(&fixture).await.remove(0);
        let upcoming = replays(&fixture).upcoming(&leased.item).await.unwrap();
        assert_eq!(ids(&upcoming), [expected]);
    }
}

/// The unit of work of the next event, up to its last statement.
async fn advance(fixture: &Fixture, leased: &Leased<Replay>, commit: bool) -> Result<Duration, StoreError> {
    let upcoming = replays(fixture).upcoming(&leased.item).await.expect("upcoming");
    let (key, cursor) = upcoming.events.first().expect("one");
    let mut unit = fixture.store.inbox.begin(LONG).await.expect("begin");
    unit.whole(key).await.expect("read").expect("whole");
    let advanced = unit.advance(leased, *cursor, MINUTE).await;
    if commit && advanced.is_ok() {
        unit.commit().await.expect("commit");
    } else {
        unit.rollback().await;
    }
    advanced
}

async fn a_step_commits_with_the_unit_of_work_or_not_at_all(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for id in ["evt_1", "evt_2"] {
        fixture.process(&event(id)).await;
    }
    ordered(&fixture, Filter::default()).await;
    let done = "SELECT done FROM replays";
    let leased = claim(&fixture).await.remove(0);
    advance(&fixture, &leased, false).await.unwrap();
    assert_eq!(fixture.raw.count(done).await, 0);
    advance(&fixture, &leased, true).await.unwrap();
    assert_eq!(fixture.raw.count(done).await, 1);
    // The process dies: the next claim goes on behind what was done, and knows of the crash.
    fixture.expire("replays").await;
    let leased = claim(&fixture).await.remove(0);
    assert_eq!(leased.crash_attempts, 1);
    let upcoming = replays(&fixture).upcoming(&leased.item).await.unwrap();
    assert_eq!(ids(&upcoming), ["evt_2"]);
    advance(&fixture, &leased, true).await.unwrap();
    assert_eq!(fixture.raw.count("SELECT count(*) FROM replays WHERE crash_attempts = 0").await, 1);
    let passed = Passed { outcome: Some("done"), ..Passed::default() };
    assert_eq!(replays(&fixture).pass(&leased, &passed).await.unwrap(), Settled::Written);
    assert!(claim(&fixture).await.is_empty());
    let shown = fixture.store.operations.replays(None).await.unwrap().remove(0);
    assert_eq!((shown.done, shown.failed, shown.outcome.as_deref()), (2, 0, Some("done")));
}

async fn a_replay_that_was_cancelled_or_claimed_anew_is_fenced(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.process(&event("evt_1")).await;
    let id = ordered(&fixture, Filter::default()).await;
    let old = claim(&fixture).await.remove(0);
    fixture.expire("replays").await;
    let new = claim(&fixture).await.remove(0);
    assert!(matches!(advance(&fixture, &old, true).await, Err(StoreError::Fenced)));
    assert_eq!(replays(&fixture).pass(&old, &Passed::default()).await.unwrap(), Settled::LeaseLost);
    assert!(fixture.store.operations.cancel_replay(id, "cli:ada").await.unwrap());
    assert!(!fixture.store.operations.cancel_replay(id, "cli:ada").await.unwrap(), "it has ended");
    assert!(!fixture.store.operations.cancel_replay(id + 1, "cli:ada").await.unwrap());
    assert!(matches!(advance(&fixture, &new, true).await, Err(StoreError::Fenced)));
    assert_eq!(replays(&fixture).pass(&new, &Passed::default()).await.unwrap(), Settled::LeaseLost);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM audit_log").await, 2);
}

async fn one_replay_is_claimed_by_one_worker_and_only_where_its_endpoint_is_served(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let other: [Arc<str>; 1] = ["shop".into()];
    assert_eq!(replays(&fixture).next_replay(&served()).await.unwrap(), None);
    ordered(&fixture, Filter::default()).await;
    assert!(replays(&fixture).claim_replays(10, &other, MINUTE).await.unwrap().is_empty());
    assert_eq!(replays(&fixture).next_replay(&other).await.unwrap(), None);
    assert_eq!(replays(&fixture).next_replay(&served()).await.unwrap(), Some(Duration::ZERO));
    let leased = claim(&fixture).await;
    assert_eq!((leased.len(), claim(&fixture).await.len()), (1, 0));
    let due = replays(&fixture).next_replay(&served()).await.unwrap().expect("its lease ends");
    assert!(due > MINUTE / 2 && due <= MINUTE, "{due:?}");
    // Given back, it is due at once.
    replays(&fixture).pass(&leased[0], &Passed::default()).await.unwrap();
    assert_eq!(claim(&fixture).await.len(), 1);
}

async fn a_rate_makes_the_next_event_wait(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.process(&event("evt_1")).await;
    let mut slow = order(Filter::default());
    slow.rate = Some(0.01);
    fixture.store.operations.order_replay(&slow).await.unwrap();
    let leased = claim(&fixture).await.remove(0);
    let wait = advance(&fixture, &leased, true).await.unwrap();
    assert!(wait > Duration::from_secs(50) && wait <= Duration::from_secs(100), "{wait:?}");
    replays(&fixture).pass(&leased, &Passed::default()).await.unwrap();
    assert!(claim(&fixture).await.is_empty(), "it is not due");
}

async fn an_event_that_fails_is_written_down_and_passed_over(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for id in ["evt_1", "evt_2"] {
        fixture.process(&event(id)).await;
    }
    let id = ordered(&fixture, Filter::default()).await;
    let leased = claim(&fixture).await.remove(0);
    let again = Passed { again: Some(Duration::ZERO), ..Passed::default() };
    replays(&fixture).pass(&leased, &again).await.unwrap();
    let leased = claim(&fixture).await.remove(0);
    assert_eq!((leased.item.tries, leased.crash_attempts), (1, 0), "a failure is no crash");
    let upcoming = replays(&fixture).upcoming(&leased.item).await.unwrap();
    let (key, cursor) = upcoming.events[0].clone();
    let failure = Some((key, "payload_gone".to_owned()));
    replays(&fixture)
        .pass(&leased, &Passed { cursor: Some(cursor), failure, ..Passed::default() })
        .await
        .unwrap();
    let leased = claim(&fixture).await.remove(0);
    assert_eq!(leased.item.tries, 0);
    assert_eq!(ids(&replays(&fixture).upcoming(&leased.item).await.unwrap()), ["evt_2"]);
    let shown = fixture.store.operations.replays(Some(id)).await.unwrap().remove(0);
    assert_eq!((shown.done, shown.failed), (0, 1));
    assert_eq!(shown.failures, [("evt_1".to_owned(), "payload_gone".to_owned())]);
}

async fn an_event_without_its_payload_is_not_whole(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let empty = with_body("empty", b"");
    for event in [&event("gone"), &event("whole"), &empty] {
        fixture.process(event).await;
    }
    let nothing = fixture.dialect("''", "x''");
    fixture
        .raw
        .execute(&format!(
            "UPDATE webhook_inbox SET body = {nothing}, headers = '[]' WHERE event_id = 'gone'"
        ))
        .await;
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    for (id, is_whole) in [("gone", false), ("whole", true), ("empty", true), ("missing", false)] {
        assert_eq!(unit.whole(&event(id).key).await.unwrap().is_some(), is_whole, "{id}");
    }
    unit.rollback().await;
}
