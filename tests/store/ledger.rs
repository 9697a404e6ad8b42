//! Questions of operators and of the metrics page.

use std::time::Duration;

use hookgate::clock::{Clock as _, SystemClock};
use hookgate::model::{Failure, Next};
use hookgate::store::{self, Backlog, StoreError};

use super::fixture::{Fixture, config, event, key, settle_as_done};
use crate::support::database::{Database, Engine, both_engines};

both_engines!(
    the_backlog_is_counted_by_endpoint_and_destination,
    the_age_of_a_backlog_is_that_of_its_oldest_row,
    duplicates_are_counted_by_endpoint_and_hour,
    types_of_the_last_hour_are_counted,
    an_event_that_is_not_there_is_not_found,
    a_store_is_ready_when_its_schema_is_current,
    a_store_tells_its_clock_and_whether_it_keeps_what_it_commits,
);

fn counts(backlog: &[Backlog]) -> Vec<(&str, &str, i64, i64)> {
    backlog.iter().map(|b| (b.provider.as_str(), b.name.as_str(), b.backlog, b.needs_review)).collect()
}

async fn the_backlog_is_counted_by_endpoint_and_destination(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let (inbox, outbox) = fixture.store.ledger.backlog().await.unwrap();
    assert!(inbox.is_empty() && outbox.is_empty());
    fixture.accept_ids(&["evt_1", "evt_2", "evt_3", "evt_4"]).await;
    for name in ["a", "z"] {
        let mut other = event("evt_1");
        other.key.endpoint = name.into();
        fixture.accept(&other).await;
    }
    let mut claimed = fixture.claim(3).await;
    settle_as_done(&fixture, &claimed.remove(0)).await;
    let failure = Failure { code: "why".into(), retryable: false };
    let next = Next::Review { reason: "why".into() };
    fixture.store.events.fail(claimed.remove(0), &failure, &next).await.unwrap();
    for (id, destination) in
        [("evt_10", Some("crm")), ("evt_11", Some("crm")), ("evt_12", Some("erp")), ("evt_13", None)]
    {
        fixture.message(id, destination).await;
    }
    let (inbox, outbox) = fixture.store.ledger.backlog().await.unwrap();
    let expected = [("stripe", "a", 1, 0), ("stripe", "billing", 2, 1), ("stripe", "z", 1, 0)];
    assert_eq!(counts(&inbox), expected);
    assert_eq!(counts(&outbox), [("", "crm", 2, 0), ("", "erp", 1, 0)]);
}

async fn the_age_of_a_backlog_is_that_of_its_oldest_row(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1", "evt_2"]).await;
    fixture.message("evt_3", Some("crm")).await;
    let past =
        fixture.dialect("now() - interval '100 s'", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-100 seconds')");
    fixture
        .raw
        .execute(&format!("UPDATE webhook_inbox SET received_at = {past} WHERE event_id = 'evt_2'"))
        .await;
    fixture.raw.execute(&format!("UPDATE outbox SET created_at = {past}")).await;
    let (inbox, outbox) = fixture.store.ledger.backlog().await.unwrap();
    for oldest in [inbox[0].oldest, outbox[0].oldest] {
        assert!(oldest >= Duration::from_secs(99) && oldest < Duration::from_secs(400), "{oldest:?}");
    }
}

async fn duplicates_are_counted_by_endpoint_and_hour(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let ledger = &fixture.store.ledger;
    assert!(ledger.last_verified().await.unwrap().is_empty());
    ledger.count_events("billing", 10, 2).await.unwrap();
    ledger.count_events("billing", 5, 1).await.unwrap();
    ledger.count_events("other", 1, 0).await.unwrap();
    let hour = fixture
        .dialect("now() - interval '30 hours'", "strftime('%Y-%m-%dT%H:00:00.000Z', 'now', '-30 hours')");
    let old = format!(
        "INSERT INTO webhook_counts (endpoint, hour, events, duplicates) VALUES ('billing', {hour}, 100, 50)"
    );
    fixture.raw.execute(&old).await;
    let expected = [("billing".to_owned(), 15, 3), ("other".to_owned(), 1, 0)];
    assert_eq!(ledger.event_counts(24).await.unwrap(), expected);
    assert_eq!(ledger.event_counts(48).await.unwrap()[0], ("billing".to_owned(), 115, 53));
    let verified = ledger.last_verified().await.unwrap();
    assert_eq!(verified.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["billing", "other"]);
}

async fn types_of_the_last_hour_are_counted(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1", "evt_2", "evt_3"]).await;
    let mut other = event("evt_4");
    other.event_type = "invoice.created".into();
    fixture.accept(&other).await;
    let past =
        fixture.dialect("now() - interval '2 hours'", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-2 hours')");
    fixture
        .raw
        .execute(&format!("UPDATE webhook_inbox SET received_at = {past} WHERE event_id = 'evt_3'"))
        .await;
    let expected = [
        ("billing".to_owned(), "invoice.paid".to_owned(), 2),
        ("billing".to_owned(), "invoice.created".to_owned(), 1),
    ];
    assert_eq!(fixture.store.ledger.event_types().await.unwrap(), expected);
}

async fn an_event_that_is_not_there_is_not_found(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    assert!(fixture.store.ledger.find(&key("evt_1")).await.unwrap().is_none());
}

async fn a_store_is_ready_when_its_schema_is_current(engine: Engine) {
    let raw = Database::new(engine).await;
    let config = config(&raw);
    raw.execute("CREATE TABLE something_else (id bigint)").await;
    let store = store::connect(&config).await.unwrap();
    let refused = store.ledger.ready().await.expect_err("nothing is migrated");
    assert!(matches!(refused, StoreError::Schema(_)), "{refused:?}");
    assert!(refused.to_string().contains("run `hookgate migrate`"), "{refused}");
    store::migrate(&config).await.unwrap();
    store.ledger.ready().await.unwrap();
    raw.execute("DELETE FROM hookgate_migrations WHERE version > 4").await;
    assert!(store.ledger.ready().await.is_err());
    store.close().await;
    assert!(store.ledger.ready().await.is_err());
}

async fn a_store_tells_its_clock_and_whether_it_keeps_what_it_commits(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let before = SystemClock.now();
    let condition = fixture.store.ledger.condition().await.unwrap();
    // SQLite's clock has milliseconds.
    let grain = chrono::TimeDelta::milliseconds(1);
    assert!((before - grain..=SystemClock.now()).contains(&condition.now), "{before} {condition:?}");
    let durable = match engine {
        Engine::Sqlite => true,
        // The tests' own cluster does not flush.
        Engine::Postgres => {
            fixture
                .raw
                .count("SELECT count(*) FROM pg_settings WHERE name = 'fsync' AND setting = 'on'")
                .await
                == 1
        }
    };
    assert_eq!(condition.durable, durable);
}
