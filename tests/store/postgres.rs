//! What is PostgreSQL's own: connections that are lost, and COMMIT.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hookgate::store::{Insertion, StoreError};

use super::fixture::{DONE, Fixture, LONG, event, sql, stored};
use crate::support::database::Engine;
use crate::support::wait;

#[tokio::test]
async fn a_lost_connection_at_commit_is_unknown() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let event = event("evt_1");
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&event).await.unwrap();
    unit.finish(&event.key, &DONE).await.unwrap();
    kill_others(&fixture).await;
    let unknown = unit.commit().await;
    assert!(matches!(unknown, Err(StoreError::CommitUnknown(_))), "{unknown:?}");
    // The pool recovers by itself.
    wait::until("the store works again", async || {
        let mut unit = fixture.store.inbox.begin(LONG).await.ok()?;
        let insertion = unit.insert(&event).await.ok()?;
        unit.rollback().await;
        matches!(insertion, Insertion::Inserted { .. }).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_constraint_that_is_checked_at_commit_is_no_unknown_outcome() {
    let fixture = Fixture::new(Engine::Postgres).await;
    fixture.raw.execute("CREATE TABLE parents (id bigint PRIMARY KEY)").await;
    fixture
        .raw
        .execute("CREATE TABLE children (id bigint REFERENCES parents DEFERRABLE INITIALLY DEFERRED)")
        .await;
    let event = event("evt_1");
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&event).await.unwrap();
    unit.enter(&stored(&event), "route", LONG).await.unwrap();
    unit.execute(sql("INSERT INTO children VALUES (1)"), &[]).await.unwrap();
    unit.leave().await.unwrap();
    unit.finish(&event.key, &DONE).await.unwrap();
    let refused = unit.commit().await;
    assert!(
        matches!(&refused, Err(StoreError::Sql { code: Some(code), .. }) if code == "23503"),
        "{refused:?}"
    );
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 0);
}

#[tokio::test]
async fn a_begin_cut_at_any_point_leaves_no_transaction_open() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let mut is_through = false;
    for polls in 0..200 {
        // So many steps, each with the time for an answer from the server, then it is dropped.
        let mut begin = fixture.store.inbox.begin(Duration::from_mins(10));
        for _ in 0..polls {
            is_through = poll_fn(|context| Poll::Ready(begin.as_mut().poll(context).is_ready())).await;
            if is_through {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(begin);
        fixture.process(&event(&format!("evt_{polls}"))).await;
        if is_through {
            break;
        }
    }
    assert!(is_through, "begin came through in the end");
    wait::until("no transaction is open", async || (fixture.raw.busy().await == 0).then_some(())).await;
}

#[tokio::test]
async fn batches_in_opposite_orders_do_not_deadlock() {
    let fixture = Arc::new(Fixture::new(Engine::Postgres).await);
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&event("evt_m")).await.unwrap();
    // Both get as far as the row in the middle. Had they taken different rows before, neither could ever go on.
    let batches = [["evt_a", "evt_m", "evt_z"], ["evt_z", "evt_m", "evt_a"]].map(|ids| {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move { fixture.store.inbox.accept(&ids.map(event)).await })
    });
    wait::until("both wait", async || (fixture.raw.blocked().await == 2).then_some(())).await;
    unit.rollback().await;
    for batch in batches {
        assert_eq!(batch.await.unwrap().unwrap().len(), 3);
    }
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 3);
}

#[tokio::test]
async fn a_unit_cut_in_the_middle_of_a_statement_is_rolled_back() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let mut unit = fixture.store.inbox.begin(Duration::from_secs(2)).await.unwrap();
    unit.insert(&event("evt_1")).await.unwrap();
    let sleep = unit.execute(sql("SELECT pg_sleep(1000)"), &[]);
    #[expect(clippy::disallowed_methods, reason = "what must be survived")]
    let cut = tokio::time::timeout(Duration::from_millis(50), sleep).await;
    assert!(cut.is_err());
    drop(unit);
    // The server notices when the statement's own limit is reached.
    wait::until("no transaction is open", async || (fixture.raw.busy().await == 0).then_some(())).await;
    assert!(matches!(fixture.accept(&event("evt_1")).await, Insertion::Inserted { .. }));
}

#[tokio::test]
async fn settings_of_a_unit_end_with_it() {
    let fixture = Fixture::new(Engine::Postgres).await;
    fixture.message("evt_1", None).await;
    for _ in 0..fixture.config.max_connections {
        let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
        let row = unit
            .fetch_optional(sql("SELECT coalesce(current_setting('hookgate.event_id', true), '')"), &[])
            .await
            .unwrap()
            .unwrap();
        assert_eq!(format!("{row:?}"), r#"[Text(Some(""))]"#);
        unit.rollback().await;
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let url = hookgate::config::DatabaseUrl::Postgres("postgres://nobody@127.0.0.1:1/none".into());
    let config = hookgate::config::Database { url, max_connections: 2, migrate: true };
    assert!(matches!(hookgate::store::migrate(&config).await, Err(StoreError::Unavailable(_))));
}

/// Ends all sessions of the database but that of the question itself.
async fn kill_others(fixture: &Fixture) {
    let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'hookgate'";
    assert!(fixture.raw.count(kill).await >= 1);
}

#[tokio::test]
async fn a_claim_walks_the_live_rows_only() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let rows = "INSERT INTO webhook_inbox (provider, endpoint, event_id, event_type, body, body_sha256, headers, \
                                           request_id, processed_at, outcome) \
                SELECT 'stripe', 'billing', 'evt_' || n, '', '', decode(repeat('00', 32), 'hex'), '[]', \
                       gen_random_uuid(), CASE WHEN n > 1000 THEN now() END, CASE WHEN n > 1000 THEN 'processed' END \
                FROM generate_series(1, 20000) n";
    fixture.raw.execute(rows).await;
    for is_analyzed in [false, true] {
        if is_analyzed {
            fixture.raw.execute("ANALYZE webhook_inbox").await;
        }
        for statement in [include_str!("../../src/store/postgres/claim_events.sql"), NEXT_DUE] {
            let plan = fixture.raw.plan(&with_lanes(statement)).await;
            assert!(plan.contains("webhook_inbox_unprocessed"), "{plan}");
            assert!(plan.contains("webhook_inbox_ordered"), "{plan}");
            assert!(!plan.contains("Seq Scan on webhook_inbox"), "{plan}");
        }
    }
}

/// With two endpoints in the place of the parameters.
fn with_lanes(statement: &str) -> String {
    let names = "'{billing,github}'::text[]";
    let values = [
        ("$4::text[]", names),
        ("$1::text[]", names),
        ("$5::bigint[]", "'{10,10}'::bigint[]"),
        ("$6::boolean[]", "'{f,f}'::boolean[]"),
        ("$2::boolean[]", "'{f,f}'::boolean[]"),
        ("$7::text[]", "'{\"\",\"\"}'::text[]"),
        ("$8::jsonb", "'[]'::jsonb"),
        ("$3::jsonb", "'[]'::jsonb"),
    ];
    values
        .iter()
        .fold(statement.to_owned(), |statement, (parameter, value)| statement.replace(parameter, value))
}

const NEXT_DUE: &str = include_str!("../../src/store/postgres/next_event_due.sql");
