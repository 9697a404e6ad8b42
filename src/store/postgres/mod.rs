//! PostgreSQL: any number of gateways share one database.
//!
//! Single statements commit by themselves; a unit of work is a [`PgTx`]. Everything is READ COMMITTED. A connection
//! whose transaction did not end in an orderly way is closed, never pooled, so that a cut future cannot leave a
//! transaction open behind somebody else's back.

mod accept;
mod events;
mod handler;
mod inbox;
mod learned;
mod ledger;
mod messages;
mod outbox;
mod prune;
mod rows;
mod select;
mod tx;
mod values;

use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgPoolOptions, PgSeverity};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool, Row as _};

use super::StoreError;
use super::turns::Turns;
pub(super) use tx::PgTx;

/// How long a statement of its own waits for a connection; units of work have a limit of their own.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// The pool's own limit, which no wait reaches.
const POOL_WAIT: Duration = Duration::from_hours(1);

/// Any number that is ours: concurrent migrations of one database queue up behind it.
const MIGRATION_LOCK: i64 = 0x686f_6f6b_6761_7465;

/// One PostgreSQL database: all of its ports.
#[derive(Clone, Debug)]
pub(super) struct Postgres {
    pool: PgPool,
    /// The newest migration that this binary knows.
    version: i64,
    turns: Turns,
}

impl Postgres {
    pub(super) async fn connect(url: &str, max_connections: u32, version: i64) -> Result<Self, StoreError> {
        let options = options(url)?;
        answers(&options).await?;
        let pool = PgPoolOptions::new()
            .max_connections(max_connections)
            .acquire_timeout(POOL_WAIT)
            // Instead of the driver's ping, at the same cost: a session that a fail-over has left read-only is closed.
            .test_before_acquire(false)
            .before_acquire(|connection, _| Box::pin(writable(connection)))
            .connect_lazy_with(options);
        Ok(Self { pool, version, turns: Turns::default() })
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }

    /// A connection for one statement that commits by itself.
    async fn connection(&self) -> Result<PoolConnection<sqlx::Postgres>, StoreError> {
        self.connection_within(CONNECTION_WAIT).await
    }

    async fn connection_within(&self, limit: Duration) -> Result<PoolConnection<sqlx::Postgres>, StoreError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "nothing has begun on the connection that is waited for"
        )]
        let connection = tokio::time::timeout(limit, self.pool.acquire()).await;
        connection.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map_err(error)
    }
}

/// Whether a pooled connection still answers and may write.
async fn writable(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let row =
        sqlx::query("SELECT current_setting('transaction_read_only') = 'off'").fetch_one(connection).await;
    Ok(row.and_then(|row| row.try_get(0)).unwrap_or(false))
}

/// Whether the server takes a connection, and why not: the pool would try again until its wait is over, and then know
/// only that.
async fn answers(options: &PgConnectOptions) -> Result<(), StoreError> {
    #[expect(clippy::disallowed_methods, reason = "nothing has begun on the connection that is waited for")]
    let connection = tokio::time::timeout(CONNECTION_WAIT, options.connect()).await;
    let silent = |_| StoreError::Unavailable(format!("no answer within {} s", CONNECTION_WAIT.as_secs()));
    connection.map_err(silent)?.map_err(error)?.close().await.ok(); // it has answered
    Ok(())
}

/// All migrations in one transaction, so that it works behind a transaction pooler too; the lock ends with it.
pub(super) async fn migrate(url: &str, migrator: &Migrator) -> Result<(), StoreError> {
    let mut connection = options(url)?.connect().await.map_err(error)?;
    let mut tx = connection.begin().await.map_err(error)?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(MIGRATION_LOCK)
        .execute(&mut *tx)
        .await
        .map_err(error)?;
    migrator.run_direct(None, &mut *tx, false).await.map_err(|failed| schema(&failed))?;
    tx.commit().await.map_err(|failed| StoreError::CommitUnknown(failed.to_string()))?;
    connection.close().await.ok(); // what matters is committed
    Ok(())
}

fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url).map_err(|_| {
        StoreError::Unavailable(
            "database.url is no PostgreSQL URL; expected postgres://user@host/name".into(),
        )
    })?;
    let named = options.get_application_name().is_some();
    let options = if named { options } else { options.application_name("hookgate") };
    Ok(options.disable_statement_logging())
}

fn schema(failed: &MigrateError) -> StoreError {
    StoreError::Schema(failed.to_string())
}

/// Sorts the driver's errors into ours.
fn error(error: sqlx::Error) -> StoreError {
    let code = match &error {
        sqlx::Error::Database(refusal) => refusal.code().map(std::borrow::Cow::into_owned),
        sqlx::Error::PoolTimedOut => {
            return StoreError::Unavailable("no connection came free, or the server takes none".into());
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => return StoreError::Unavailable(error.to_string()),
        _ => None,
    };
    match code.as_deref() {
        // query_canceled (statement_timeout), lock_not_available (lock_timeout)
        Some("57014" | "55P03") => StoreError::Timeout,
        // in_failed_sql_transaction: somebody went on after an error
        Some("25P02") => StoreError::Fenced,
        // too_many_connections, idle_in_transaction_session_timeout, and servers that come or go
        Some(code)
            if code.starts_with("57P") || code.starts_with("08") || matches!(code, "53300" | "25P03") =>
        {
            StoreError::Unavailable(format!("the server said {code}"))
        }
        _ => StoreError::Sql { code, source: error },
    }
}

/// The same for a statement that commits by itself, or for COMMIT: only an error that the server reported, and after
/// which it goes on, proves that nothing was written.
fn commit_error(failed: sqlx::Error) -> StoreError {
    let refused = match &failed {
        sqlx::Error::Database(refusal) => refusal
            .try_downcast_ref::<PgDatabaseError>()
            .is_some_and(|refusal| !matches!(refusal.severity(), PgSeverity::Fatal | PgSeverity::Panic)),
        _ => false,
    };
    if refused { error(failed) } else { StoreError::CommitUnknown(error(failed).to_string()) }
}
