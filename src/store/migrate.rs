//! The schema: `migrations/` in the binary, applied in one transaction under a lock.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

use super::{StoreError, postgres, sqlite};
use crate::config::{Database, DatabaseUrl};

/// Beside the tables of an application that may keep its own migrations with sqlx in the same database.
const TABLE: &str = "hookgate_migrations";

macro_rules! migrations {
    ($engine:literal) => {
        &[
            (1, "inbox", include_str!(concat!("../../migrations/", $engine, "/0001_inbox.sql"))),
            (2, "outbox", include_str!(concat!("../../migrations/", $engine, "/0002_outbox.sql"))),
            (3, "stripe", include_str!(concat!("../../migrations/", $engine, "/0003_stripe.sql"))),
            (4, "retention", include_str!(concat!("../../migrations/", $engine, "/0004_retention.sql"))),
            (5, "keys", include_str!(concat!("../../migrations/", $engine, "/0005_keys.sql"))),
            (6, "requests", include_str!(concat!("../../migrations/", $engine, "/0006_requests.sql"))),
            (7, "operations", include_str!(concat!("../../migrations/", $engine, "/0007_operations.sql"))),
            (8, "order", include_str!(concat!("../../migrations/", $engine, "/0008_order.sql"))),
            (9, "flow", include_str!(concat!("../../migrations/", $engine, "/0009_flow.sql"))),
            (10, "quarantine", include_str!(concat!("../../migrations/", $engine, "/0010_quarantine.sql"))),
            (12, "proxy", include_str!(concat!("../../migrations/", $engine, "/0012_proxy.sql"))),
        ]
    };
}

const POSTGRES: &[(i64, &str, &str)] = migrations!("postgres");
const SQLITE: &[(i64, &str, &str)] = migrations!("sqlite");

/// The newest migration that this binary knows, the same on both engines.
pub(super) const VERSION: i64 = POSTGRES[POSTGRES.len() - 1].0;

/// Brings the schema up to date; safe to run from several processes at once, and beside running gateways. A SQLite
/// file is made if it is not there. A schema that is newer than this binary is left as it is.
///
/// # Errors
/// [`StoreError`]: nothing was changed.
pub async fn migrate(database: &Database) -> Result<(), StoreError> {
    match &database.url {
        DatabaseUrl::Postgres(url) => postgres::migrate(url, &migrator(POSTGRES)).await,
        DatabaseUrl::Sqlite(path) => sqlite::migrate(path, &migrator(SQLITE)).await,
    }
}

fn migrator(migrations: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migrations = migrations.iter().map(|&(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    let mut migrator = Migrator::with_migrations(migrations.collect());
    migrator.dangerous_set_table_name(TABLE);
    // Ours is the transaction's own, and so works behind a transaction pooler.
    migrator.set_locking(false).set_ignore_missing(true);
    migrator
}
