//! Retention.

use std::sync::Arc;
use std::time::Duration;

use hookgate::app::Pruner;
use hookgate::config::{self, Retention, Sources};
use hookgate::model::{Failure, Headers, Next};
use hookgate::observe::Metrics;
use hookgate::store::{Finish, Insertion, Pruned, RowState};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use tokio_util::sync::CancellationToken;

use super::fixture::{Fixture, LONG, event, existing, key, settle_as_done, sql, with_body};
use crate::support::database::{Engine, both_engines};
use crate::support::metrics;
use crate::support::wait;

both_engines!(
    what_is_older_than_its_age_goes_and_what_is_younger_stays,
    what_is_not_done_or_waits_for_a_person_stays_at_any_age,
    a_copy_of_an_emptied_event_meets_it_until_its_key_goes,
    a_batch_takes_the_oldest_and_says_whether_it_was_full,
    what_is_empty_is_not_emptied_again,
    any_number_of_gateways_may_prune_at_once,
    the_background_task_prunes_counts_and_stops,
    every_other_table_has_an_age_of_its_own,
    a_message_that_waits_or_needs_review_stays_at_any_age,
);

const HOUR: u64 = 3_600;
const RETENTION: Retention = Retention {
    payload: Duration::from_hours(24),
    keys: Duration::from_hours(72),
    outbox: Duration::from_hours(5),
    attempts: Duration::from_hours(4),
    quarantine: Duration::from_hours(3),
    audit: Duration::from_hours(2),
    replays: Duration::from_hours(1),
};

const ROWS: &str = "SELECT count(*) FROM webhook_inbox";
const WHOLE: &str = "SELECT count(*) FROM webhook_inbox WHERE length(body) > 0 AND headers <> '[]'";
const EMPTY: &str = "SELECT count(*) FROM webhook_inbox WHERE length(body) = 0 AND headers = '[]'";

async fn prune(fixture: &Fixture, batch: u32) -> Pruned {
    fixture.store.ledger.prune(&RETENTION, batch).await.expect("prune")
}

fn pruned(deleted: u64, emptied: u64) -> Pruned {
    Pruned { deleted, emptied, ..Pruned::default() }
}

/// Makes events as old as this.
async fn age(fixture: &Fixture, which: &str, seconds: u64) {
    let past = match fixture.engine {
        Engine::Postgres => format!("now() - interval '{seconds} s'"),
        Engine::Sqlite => format!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{seconds} seconds')"),
    };
    let sql = format!("UPDATE webhook_inbox SET received_at = {past} WHERE event_id LIKE '{which}'");
    fixture.raw.execute(&sql).await;
}

async fn what_is_older_than_its_age_goes_and_what_is_younger_stays(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (id, seconds) in [
        ("young", 24 * HOUR - 60),
        ("emptied", 24 * HOUR + 1),
        ("kept", 72 * HOUR - 60),
        ("deleted", 72 * HOUR + 1),
    ] {
        fixture.process(&event(id)).await;
        age(&fixture, id, seconds).await;
    }
    assert_eq!(prune(&fixture, 10).await, pruned(1, 2));
    assert!(fixture.store.ledger.find(&key("deleted")).await.unwrap().is_none());
    for id in ["emptied", "kept"] {
        let found = fixture.store.ledger.find(&key(id)).await.unwrap().expect("its key is kept");
        assert_eq!((found.body.as_ref(), &*found.headers), (&b""[..], &Headers::new()));
        assert_eq!(found.event_type, "invoice.paid");
    }
    let young = fixture.store.ledger.find(&key("young")).await.unwrap().expect("it is there");
    assert_eq!((&young.body, &young.headers), (&event("young").body, &event("young").headers));
    assert_eq!(prune(&fixture, 10).await, Pruned::default());
}

async fn what_is_not_done_or_waits_for_a_person_stays_at_any_age(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["review"]).await;
    let failure = Failure { code: "why".into(), retryable: false };
    let next = Next::Review { reason: "why".into() };
    fixture.store.events.fail(fixture.claim_one().await, &failure, &next).await.unwrap();
    fixture.accept_ids(&["leased"]).await;
    let leased = fixture.claim_one().await;
    fixture.accept_ids(&["waits"]).await;
    let flagged = event("flagged");
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&flagged).await.unwrap();
    let finish = Finish { outcome: "flagged", review_reason: Some("look".into()) };
    unit.finish(&flagged.key, &finish).await.unwrap();
    unit.commit().await.unwrap();
    age(&fixture, "%", 10 * 365 * 24 * HOUR).await;
    assert_eq!(prune(&fixture, 10).await, Pruned::default());
    assert_eq!(fixture.raw.count(WHOLE).await, 4);
    // Once done or resolved, it is an old event like any other.
    settle_as_done(&fixture, &leased).await;
    fixture
        .raw
        .execute("UPDATE webhook_inbox SET review_at = NULL, review_reason = NULL WHERE event_id = 'flagged'")
        .await;
    assert_eq!(prune(&fixture, 10).await, pruned(2, 0));
    assert_eq!(fixture.raw.count(WHOLE).await, 2);
}

async fn a_copy_of_an_emptied_event_meets_it_until_its_key_goes(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let first = event("evt_1");
    fixture.process(&first).await;
    age(&fixture, "evt_1", 48 * HOUR).await;
    assert_eq!(prune(&fixture, 10).await, pruned(0, 1));
    let copy = existing(fixture.accept(&first).await);
    assert_eq!((copy.state, copy.body, copy.body_sha256), (RowState::Processed, None, first.body_sha256));
    let other = existing(fixture.accept(&with_body("evt_1", b"{}")).await);
    assert_eq!(
        (other.state, other.body.as_deref()),
        (RowState::Processed, Some(&b""[..])),
        "nothing to compare"
    );
    age(&fixture, "evt_1", 73 * HOUR).await;
    assert_eq!(prune(&fixture, 10).await, pruned(1, 0));
    assert!(matches!(fixture.accept(&first).await, Insertion::Inserted { .. }));
}

async fn a_batch_takes_the_oldest_and_says_whether_it_was_full(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for n in 0..5 {
        for (id, hours) in [(format!("d_{n}"), 100 - n), (format!("e_{n}"), 50 - n)] {
            fixture.process(&event(&id)).await;
            age(&fixture, &id, hours * HOUR).await;
        }
    }
    let first = prune(&fixture, 2).await;
    // What goes soon and is not empty yet is emptied as well: it is the oldest.
    assert_eq!((first, first.fills(2)), (pruned(2, 2), true));
    assert!(fixture.store.ledger.find(&key("d_1")).await.unwrap().is_none());
    let oldest = fixture.store.ledger.find(&key("d_2")).await.unwrap().expect("it is there");
    assert!(oldest.body.is_empty());
    let mut total = first;
    let mut last = first;
    while last.fills(2) {
        last = prune(&fixture, 2).await;
        total += last;
    }
    assert_eq!(total.deleted, 5);
    assert_eq!((fixture.raw.count(ROWS).await, fixture.raw.count(EMPTY).await), (5, 5));
}

async fn what_is_empty_is_not_emptied_again(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let mut bare = event("bare");
    bare.headers = Arc::new(Headers::new());
    for event in [with_body("no_body", b""), bare, event("whole")] {
        fixture.process(&event).await;
    }
    age(&fixture, "%", 48 * HOUR).await;
    assert_eq!(prune(&fixture, 10).await, pruned(0, 3));
    assert_eq!(fixture.raw.count(EMPTY).await, 3);
    assert_eq!(prune(&fixture, 10).await, Pruned::default());
}

async fn any_number_of_gateways_may_prune_at_once(engine: Engine) {
    let fixture = Arc::new(Fixture::new(engine).await);
    for n in 0..20 {
        fixture.process(&event(&format!("d_{n}"))).await;
        fixture.process(&event(&format!("e_{n}"))).await;
    }
    age(&fixture, "d%", 100 * HOUR).await;
    age(&fixture, "e%", 50 * HOUR).await;
    let pruning = [(); 4].map(|()| {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move { prune(&fixture, 100).await })
    });
    let mut total = Pruned::default();
    for ended in pruning {
        total += ended.await.unwrap();
    }
    assert_eq!(total, pruned(20, 20));
}

async fn the_background_task_prunes_counts_and_stops(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.process(&event("old")).await;
    fixture.process(&event("older")).await;
    age(&fixture, "old", 25 * HOUR).await;
    age(&fixture, "older", 73 * HOUR).await;
    let config = config::load(&Sources::default()).expect("the defaults are valid").config;
    let page = Metrics::new(&config).unwrap();
    let stop = CancellationToken::new();
    let ledger = Arc::clone(&fixture.store.ledger);
    let pruner = Pruner::new(ledger, Arc::clone(&page), RETENTION, Duration::from_millis(1));
    let task = tokio::spawn(pruner.run(stop.clone()));
    wait::until("both are counted", async || {
        let page = metrics::Metrics::parse(&page.render().unwrap());
        let of = |table| page.sum("hookgate_pruned_total", &[("table", table)]);
        (of("webhook_inbox") + of("webhook_inbox_payload") > 1.0).then_some(())
    })
    .await;
    assert_eq!((fixture.raw.count(ROWS).await, fixture.raw.count(EMPTY).await), (1, 1));
    stop.cancel();
    task.await.expect("it ends by itself");
}

#[tokio::test]
async fn a_row_that_somebody_has_locked_is_passed_over() {
    let fixture = Fixture::new(Engine::Postgres).await;
    for id in ["d_1", "d_2", "e_1", "e_2"] {
        fixture.process(&event(id)).await;
    }
    age(&fixture, "d%", 100 * HOUR).await;
    age(&fixture, "e%", 50 * HOUR).await;
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    let lock = "UPDATE webhook_inbox SET last_error = NULL WHERE event_id LIKE '%1'";
    unit.execute(sql(lock), &[]).await.unwrap();
    assert_eq!(prune(&fixture, 10).await, pruned(1, 1));
    unit.rollback().await;
    assert_eq!(prune(&fixture, 10).await, pruned(1, 1));
}

#[tokio::test]
async fn a_batch_walks_an_index_and_sorts_nothing() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let rows = "INSERT INTO webhook_inbox (provider, endpoint, event_id, event_type, body, body_sha256, headers, \
                                           request_id, received_at, processed_at, outcome) \
                SELECT 'stripe', 'billing', 'evt_' || n, '', CASE WHEN n < 500 THEN 'x'::bytea ELSE '' END, \
                       decode(repeat('00', 32), 'hex'), '[]', gen_random_uuid(), now() - n * interval '1 s', now(), \
                       'processed' \
                FROM generate_series(1, 20000) n";
    fixture.raw.execute(rows).await;
    let statements = [
        (include_str!("../../src/store/postgres/delete_events.sql"), "webhook_inbox_received"),
        (include_str!("../../src/store/postgres/empty_events.sql"), "webhook_inbox_unemptied"),
    ];
    let mut connection = PgConnection::connect(&fixture.raw.url).await.unwrap();
    let settings = "SET enable_seqscan = off; SET enable_sort = off; SET enable_hashjoin = off; \
                    SET enable_mergejoin = off";
    sqlx::raw_sql(settings).execute(&mut connection).await.unwrap();
    for is_analyzed in [false, true] {
        if is_analyzed {
            fixture.raw.execute("ANALYZE webhook_inbox").await;
        }
        for (statement, index) in statements {
            let explain = format!("EXPLAIN {}", statement.replace("$1", "10").replace("$2", "200"));
            let plan: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(explain))
                .fetch_all(&mut connection)
                .await
                .expect("explain");
            let plan = plan.join("\n");
            assert!(plan.contains(&format!("Index Scan using {index}")), "{plan}");
            assert!(!plan.contains("Seq Scan") && !plan.contains("Sort"), "{plan}");
        }
    }
}

const REPLAY: &str =
    "INSERT INTO replays (id, endpoint, filter, new_ids, ordered_by, total, finished_at, outcome)";

/// So long ago, in SQL.
fn ago(fixture: &Fixture, seconds: u64) -> String {
    match fixture.engine {
        Engine::Postgres => format!("now() - interval '{seconds} s'"),
        Engine::Sqlite => format!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{seconds} seconds')"),
    }
}

async fn every_other_table_has_an_age_of_its_own(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let overriding = fixture.dialect(" OVERRIDING SYSTEM VALUE", "");
    for (age, hours) in [("old", 1), ("young", 0)] {
        let at = |limit: u64| ago(&fixture, limit * HOUR - 60 + hours * 120);
        fixture.message(&format!("{age}_sent"), Some("crm")).await;
        fixture.message(&format!("{age}_relayed"), None).await;
        let published = format!("UPDATE outbox SET published_at = {} WHERE event_id = '{age}_sent'", at(5));
        fixture.raw.execute(&published).await;
        let written = format!("UPDATE outbox SET created_at = {} WHERE event_id = '{age}_relayed'", at(5));
        fixture.raw.execute(&written).await;
        let attempt = "INSERT INTO delivery_attempts (outbox_id, destination, message_id, attempt, outcome, \
                       duration_ms, lease_lost, attempted_at)";
        let no = fixture.dialect("false", "0");
        fixture
            .raw
            .execute(&format!("{attempt} VALUES (1, 'crm', '{age}', 1, 'succeeded', 1, {no}, {})", at(4)))
            .await;
        let digest = fixture.dialect("sha256('x'::bytea)", "randomblob(32)");
        let yes = fixture.dialect("true", "1");
        let kept = "INSERT INTO quarantine (provider, endpoint, reason, headers, body, body_sha256, verified, event_id, \
                    request_id, received_at)";
        let id = uuid::Uuid::now_v7();
        let values =
            format!("'stripe', 'billing', 'conflict', '[]', '', {digest}, {yes}, '{age}', '{id}', {}", at(3));
        let body = fixture.dialect("''", "x''");
        fixture.raw.execute(&format!("{kept} VALUES ({})", values.replacen("''", body, 1))).await;
        let audit = "INSERT INTO audit_log (who, action, filter, at)";
        fixture.raw.execute(&format!("{audit} VALUES ('{age}', 'a', '{{}}', {})", at(2))).await;
        let id = 1 + hours;
        let ended = format!("{id}, 'billing', '{{}}', {no}, 'x', 0, {}, 'done'", at(1));
        fixture.raw.execute(&format!("{REPLAY}{overriding} VALUES ({ended})")).await;
        let failure = "INSERT INTO replay_failures (replay_id, provider, endpoint, event_id, code)";
        fixture
            .raw
            .execute(&format!("{failure} VALUES ({id}, 'stripe', 'billing', 'evt_1', 'payload_gone')"))
            .await;
    }
    let all =
        Pruned { outbox: 2, unsent: 1, attempts: 1, quarantine: 1, audit: 1, replays: 2, ..pruned(0, 0) };
    assert_eq!(prune(&fixture, 10).await, all);
    assert_eq!(prune(&fixture, 10).await, Pruned::default());
    for (table, rows) in [
        ("outbox", 2),
        ("delivery_attempts", 1),
        ("quarantine", 1),
        ("audit_log", 1),
        ("replays", 1),
        ("replay_failures", 1),
    ] {
        assert_eq!(fixture.raw.count(&format!("SELECT count(*) FROM {table}")).await, rows, "{table}");
    }
    let left = fixture.raw.pairs("SELECT event_id, event_type FROM outbox ORDER BY event_id").await;
    assert!(left.iter().all(|(id, _)| id.starts_with("young")), "{left:?}");
}

async fn a_message_that_waits_or_needs_review_stays_at_any_age(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("waits", Some("crm")).await;
    fixture.message("dead", Some("crm")).await;
    let past = ago(&fixture, 10 * 365 * 24 * HOUR);
    fixture.raw.execute(&format!("UPDATE outbox SET created_at = {past}")).await;
    let dead = format!("UPDATE outbox SET review_at = {past}, review_reason = 'why' WHERE event_id = 'dead'");
    fixture.raw.execute(&dead).await;
    assert_eq!(prune(&fixture, 10).await, Pruned::default());
    assert_eq!(fixture.raw.count("SELECT count(*) FROM outbox").await, 2);
}
