//! A real PgBouncer between the store and PostgreSQL. `HOOKGATE_TEST_POOLER=transaction` (or `session`) puts one in
//! front of all other tests of the store.

use std::sync::Arc;

use futures_util::future::join_all;
use hookgate::config::{self, DatabaseUrl};
use hookgate::store::{self, Insertion, Param, Store, StoreError};

use super::fixture::{DONE, LONG, event, sql, stored};
use crate::support::database::{Database, Engine};
use crate::support::pooler::{PgBouncer, free_port};
use crate::support::wait;

/// How often chance is given the opportunity to deceive.
const TRIES: usize = 20;

#[tokio::test]
async fn a_pooler_in_transaction_mode_is_seen_each_time() {
    let database = Database::new(Engine::Postgres).await;
    let hands_out = [
        // The newest session, or all of them in turns.
        "default_pool_size = 1",
        "default_pool_size = 3",
        "default_pool_size = 2\nmin_pool_size = 2\nserver_round_robin = 1",
        "default_pool_size = 5\nmin_pool_size = 5\nserver_round_robin = 1",
    ];
    for how in hands_out {
        let pooler = PgBouncer::with(&database.url, &format!("pool_mode = transaction\n{how}"));
        assert_eq!(seen(&pooler.url(&database.url)).await, TRIES, "{how}");
    }
}

#[tokio::test]
async fn a_pooler_whose_sessions_are_all_at_work_is_seen_each_time() {
    let database = Database::new(Engine::Postgres).await;
    let pooler = PgBouncer::start(&database.url, "transaction");
    let url = pooler.url(&database.url);
    let busy = open(&url).await;
    let busy = Arc::new(busy);
    let others: Vec<_> = (0..8)
        .map(|_| {
            let busy = Arc::clone(&busy);
            tokio::spawn(async move {
                loop {
                    busy.ledger.condition().await.expect("an answer");
                }
            })
        })
        .collect();
    assert_eq!(seen(&url).await, TRIES);
    others.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn sessions_of_ones_own_are_taken_for_that_each_time() {
    let database = Database::new(Engine::Postgres).await;
    assert_eq!(seen(&database.url).await, 0);
    let pooler = PgBouncer::start(&database.url, "session");
    assert_eq!(seen(&pooler.url(&database.url)).await, 0);
}

/// In how many of [`TRIES`] a pooler was seen.
async fn seen(url: &str) -> usize {
    let mut seen = 0;
    for _ in 0..TRIES {
        let store = open(url).await;
        seen += usize::from(store.is_pooled());
        store.close().await;
    }
    seen
}

#[tokio::test]
async fn a_pooler_that_comes_later_is_seen_on_the_first_connection_through_it() {
    let database = Database::new(Engine::Postgres).await;
    let port = free_port();
    let settings = |mode| format!("pool_mode = {mode}\ndefault_pool_size = 20");
    let before = PgBouncer::at(&database.url, port, &settings("session"));
    let url = before.url(&database.url);
    store::migrate(&config(&url)).await.unwrap();
    let store = open(&url).await;
    accept_all(&store, 0..20).await;
    assert!(!store.is_pooled());
    drop(before);
    let _after = PgBouncer::at(&database.url, port, &settings("transaction"));
    wait::until("the store works again", async || store.ledger.condition().await.ok()).await;
    assert!(store.is_pooled());
    accept_all(&store, 20..120).await;
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox").await, 120);
}

#[tokio::test]
async fn operations_of_many_clients_never_meet_each_others_statements() {
    let database = Database::new(Engine::Postgres).await;
    let pooler = PgBouncer::start(&database.url, "transaction");
    let url = pooler.url(&database.url);
    store::migrate(&config(&url)).await.unwrap();
    let (one, other) = (open(&url).await, open(&url).await);
    // Single statements and units of work, with different statements on as many connections as will.
    let labelled = (0..600).map(|n| {
        let store = if n % 2 == 0 { &one } else { &other };
        async move {
            let event = event(&format!("evt_{n}"));
            store.inbox.accept(std::slice::from_ref(&event)).await.expect("accept");
            let found = store.ledger.find(&event.key).await.expect("find").expect("it is there");
            assert_eq!((found.key, found.body), (event.key, event.body));
            echo(store, n).await;
        }
    });
    join_all(labelled).await;
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox").await, 600);
}

/// A unit of work with one of ten statements, each of which gives its own label and what it was given.
async fn echo(store: &Store, n: i64) {
    let mut unit = store.inbox.begin(LONG).await.expect("begin");
    let label = n % 10;
    let text: &'static str = ECHOES[usize::try_from(label).unwrap()];
    let row = unit.fetch_optional(sql(text), &[Param::Bigint(Some(n))]).await.expect("echo").expect("a row");
    assert_eq!(format!("{row:?}"), format!("[Bigint(Some({label})), Bigint(Some({n}))]"));
    unit.rollback().await;
}

const ECHOES: [&str; 10] = [
    "SELECT 0::bigint, $1::bigint",
    "SELECT 1::bigint, $1::bigint",
    "SELECT 2::bigint, $1::bigint",
    "SELECT 3::bigint, $1::bigint",
    "SELECT 4::bigint, $1::bigint",
    "SELECT 5::bigint, $1::bigint",
    "SELECT 6::bigint, $1::bigint",
    "SELECT 7::bigint, $1::bigint",
    "SELECT 8::bigint, $1::bigint",
    "SELECT 9::bigint, $1::bigint",
];

#[tokio::test]
async fn statements_of_a_module_are_prepared_and_run_behind_a_pooler_whatever_their_types() {
    let database = Database::new(Engine::Postgres).await;
    database.execute("CREATE TYPE mood AS ENUM ('glad', 'sad')").await;
    database.execute("CREATE TABLE moods (who text, mood mood)").await;
    let pooler = PgBouncer::start(&database.url, "transaction");
    let url = pooler.url(&database.url);
    store::migrate(&config(&url)).await.unwrap();
    let store = open(&url).await;
    let insert = "INSERT INTO moods VALUES ($1, 'glad') RETURNING mood";
    let who = [Param::Text(Some("x".into()))];
    for n in 0..10 {
        let event = event(&format!("evt_{n}"));
        let mut unit = store.inbox.begin(LONG).await.unwrap();
        assert!(matches!(unit.insert(&event).await.unwrap(), Insertion::Inserted { .. }));
        unit.enter(&stored(&event), "route", LONG).await.unwrap();
        unit.prepare_text(insert, &who).await.unwrap();
        unit.prepare_text("LOCK TABLE moods", &[]).await.unwrap();
        assert_eq!(unit.execute_text(insert, &who).await.unwrap(), 1);
        unit.leave().await.unwrap();
        unit.finish(&event.key, &DONE).await.unwrap();
        unit.commit().await.unwrap();
    }
    assert_eq!(database.count("SELECT count(*) FROM moods").await, 10);
    let mut unit = store.inbox.begin(LONG).await.unwrap();
    let wrong = unit.prepare_text("INSERT INTO nowhere VALUES ($1)", &who).await.unwrap_err();
    assert!(matches!(&wrong, StoreError::Sql { code: Some(code), .. } if code == "42P01"), "{wrong:?}");
    unit.rollback().await;
}

async fn accept_all(store: &Store, numbers: std::ops::Range<usize>) {
    let each = numbers.map(|n| async move {
        store.inbox.accept(&[event(&format!("evt_{n}"))]).await.expect("accept");
    });
    join_all(each).await;
}

async fn open(url: &str) -> Store {
    store::connect(&config(url)).await.expect("connect")
}

fn config(url: &str) -> config::Database {
    config::Database { url: DatabaseUrl::Postgres(url.to_owned()), max_connections: 4, migrate: true }
}
