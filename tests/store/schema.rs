//! The schema and the statements: the same on both engines.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hookgate::store;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqlSafeStr as _};

use super::fixture::{Fixture, config, event, with_body};
use crate::support::database::{Database, Engine, both_engines};

both_engines!(
    every_statement_fits_the_schema,
    gateways_that_start_together_all_migrate,
    migrating_again_changes_nothing,
    a_newer_schema_is_left_as_it_is,
    a_failed_migration_leaves_nothing,
    the_schema_refuses_what_the_types_refuse,
    the_json_view_shows_what_is_json,
);

#[tokio::test]
async fn both_engines_have_the_same_tables_and_columns() {
    let postgres = Fixture::new(Engine::Postgres).await;
    let sqlite = Fixture::new(Engine::Sqlite).await;
    let of_postgres = postgres
        .raw
        .pairs(
            "SELECT table_name::text, column_name::text FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name <> 'hookgate_migrations'",
        )
        .await;
    let of_sqlite = sqlite
        .raw
        .pairs(
            "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
             WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'hookgate_migrations'",
        )
        .await;
    let of_postgres: BTreeSet<_> = of_postgres.into_iter().collect();
    let of_sqlite: BTreeSet<_> = of_sqlite.into_iter().collect();
    assert!(of_postgres.len() > 50);
    assert_eq!(
        of_postgres.symmetric_difference(&of_sqlite).collect::<Vec<_>>(),
        Vec::<&(String, String)>::new()
    );
}

#[tokio::test]
async fn bodies_are_packed_with_lz4_where_the_server_can() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let can = "SELECT count(*) FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)";
    let packed = "SELECT count(*) FROM pg_attribute WHERE attname = 'body' AND attcompression = 'l' \
                  AND attrelid IN ('webhook_inbox'::regclass, 'outbox'::regclass, 'quarantine'::regclass)";
    assert_eq!(fixture.raw.count(packed).await, 3 * fixture.raw.count(can).await);
}

async fn every_statement_fits_the_schema(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store").join(fixture.dialect("postgres", "sqlite"));
    let files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("read the folder")
        .map(|entry| entry.expect("read the folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    assert!(files.len() > 20);
    for file in files {
        let text = fs::read_to_string(&file).expect("read the file");
        let prepared = match engine {
            Engine::Postgres => {
                let mut connection = PgConnection::connect(&fixture.raw.url).await.expect("connect");
                connection.prepare(AssertSqlSafe(text).into_sql_str()).await.map(|_| ())
            }
            Engine::Sqlite => {
                let mut connection = SqliteConnection::connect(&fixture.raw.url).await.expect("connect");
                let mut prepared = Ok(());
                for statement in text.split_inclusive(";\n").filter(|part| !part.trim().is_empty()) {
                    let statement = AssertSqlSafe(statement.to_owned()).into_sql_str();
                    prepared = prepared.and(connection.prepare(statement).await.map(|_| ()));
                }
                prepared
            }
        };
        assert!(prepared.is_ok(), "{}: {prepared:?}", file.display());
    }
}

async fn gateways_that_start_together_all_migrate(engine: Engine) {
    let raw = Database::new(engine).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let config = config(&raw);
        tasks.spawn(async move {
            store::migrate(&config).await?;
            store::connect(&config).await?.ledger.ready().await
        });
    }
    for result in tasks.join_all().await {
        result.unwrap();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/postgres");
    let migrations = i64::try_from(fs::read_dir(folder).expect("the folder").count()).expect("few");
    assert_eq!(raw.count("SELECT count(*) FROM hookgate_migrations").await, migrations);
}

async fn migrating_again_changes_nothing(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept(&event("evt_1")).await;
    store::migrate(&fixture.config).await.unwrap();
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 1);
}

async fn a_newer_schema_is_left_as_it_is(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let newer = "INSERT INTO hookgate_migrations (version, description, success, checksum, execution_time) \
                 SELECT 1000, 'of tomorrow', success, checksum, 0 FROM hookgate_migrations WHERE version = 1";
    fixture.raw.execute(newer).await;
    store::migrate(&fixture.config).await.unwrap();
    fixture.store.ledger.ready().await.unwrap();
    assert_eq!(fixture.raw.count("SELECT max(version) FROM hookgate_migrations").await, 1000);
}

async fn a_failed_migration_leaves_nothing(engine: Engine) {
    let raw = Database::new(engine).await;
    raw.execute("CREATE TABLE ledger_entries (id bigint)").await; // somebody else's, in the way of the last one
    let refused = store::migrate(&config(&raw)).await.expect_err("the table is in the way");
    assert!(refused.to_string().contains("ledger_entries"), "{refused}");
    raw.execute("DROP TABLE ledger_entries").await;
    raw.execute("CREATE TABLE webhook_inbox (id bigint)").await; // there is none yet
}

async fn the_schema_refuses_what_the_types_refuse(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept(&event("evt_1")).await;
    fixture.message("evt_2", Some("crm")).await;
    fixture.message("evt_3", None).await;
    for wrong in [
        "UPDATE webhook_inbox SET outcome = 'processed'",
        "UPDATE webhook_inbox SET processed_at = received_at, outcome = 'nonsense'",
        "UPDATE webhook_inbox SET processed_at = received_at WHERE event_id = 'evt_1'",
        "UPDATE webhook_inbox SET review_at = received_at",
        "UPDATE webhook_inbox SET review_reason = 'why'",
        "UPDATE webhook_inbox SET crash_attempts = attempts + 1",
        "UPDATE webhook_inbox SET event_id = ''",
        "UPDATE webhook_inbox SET lease_until = received_at WHERE processed_at IS NOT NULL",
        "UPDATE outbox SET body = NULL, payload = NULL",
        "UPDATE outbox SET body = 'x'",
        "UPDATE outbox SET message_id = NULL WHERE event_id = 'evt_2'",
        "UPDATE outbox SET destination = 'crm' WHERE event_id = 'evt_3'",
        "UPDATE outbox SET provider = NULL",
        "INSERT INTO outbox (aggregate_type, aggregate_id, event_type) VALUES ('a', 'b', 'c')",
        "INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload) VALUES ('a', 'b', 'c', 'no json')",
        "INSERT INTO invoices (id, customer_id, status) VALUES ('in_1', 'cus_1', 'nonsense')",
    ] {
        assert!(fixture.raw.refuses(wrong).await, "taken: {wrong}");
    }
}

async fn the_json_view_shows_what_is_json(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (id, body) in [
        ("json", br#"{"amount": 5}"#.as_slice()),
        ("not json", b"amount=5"),
        ("not utf-8", b"{\"a\": \"\xff\"}"),
        ("empty", b""),
        ("nul", b"{}\0"),
        ("deep", deep.as_bytes()),
    ] {
        fixture.accept(&with_body(id, body)).await;
    }
    let not_utf8 = fixture.dialect("", " AND event_id <> 'not utf-8'"); // SQLite's text is not checked
    let shown =
        format!("SELECT event_id, event_type FROM webhook_inbox_events WHERE payload IS NOT NULL{not_utf8}");
    assert_eq!(fixture.raw.pairs(&shown).await, [("json".into(), "invoice.paid".into())]);
    let amount = fixture.dialect("(payload->>'amount')::bigint", "payload->>'amount'");
    let read = format!("SELECT {amount} FROM webhook_inbox_events WHERE event_id = 'json'");
    assert_eq!(fixture.raw.count(&read).await, 5);
}
