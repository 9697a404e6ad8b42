//! PostgreSQL: any number of gateways share one database.
//!
//! Single statements commit by themselves; a unit of work is a [`PgTx`]. Everything is READ COMMITTED. A connection
//! whose transaction did not end in an orderly way is closed, never pooled, so that a cut future cannot leave a
//! transaction open behind somebody else's back.

mod accept;
mod circuits;
mod claims;
mod events;
mod handler;
mod inbox;
mod learned;
mod ledger;
mod messages;
mod outbox;
mod pooler;
mod prune;
mod rows;
mod schema;
mod select;
mod session;
mod tx;
mod values;

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgPoolOptions, PgSeverity};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool, Row as _};
use tracing::warn;

use super::StoreError;
use super::turns::Turns;
pub(super) use schema::migrate;
use session::Session;
pub(super) use tx::PgTx;

/// How long a statement of its own waits for a connection; units of work have a limit of their own.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// The pool's own limit, which no wait reaches.
const POOL_WAIT: Duration = Duration::from_hours(1);

/// One PostgreSQL database: all of its ports.
#[derive(Clone, Debug)]
pub(super) struct Postgres {
    pool: PgPool,
    /// The newest migration that this binary knows.
    version: i64,
    turns: Turns,
    /// Whether a transaction pooler stands in between. Once it was seen, it is taken to stay.
    pooled: Arc<AtomicBool>,
}

impl Postgres {
    pub(super) async fn connect(url: &str, max_connections: u32, version: i64) -> Result<Self, StoreError> {
        let options = options(url)?;
        let mut connection = answers(&options).await?;
        let pooled = Arc::new(AtomicBool::new(pooler::detect(&mut connection, &options).await));
        connection.close().await.ok(); // it has answered
        // Nothing of ours is named behind a pooler. What a handler names by itself is then at least not remembered: a
        // name that is taken is an error, not somebody else's statement.
        let is_pooled = pooled.load(Ordering::Relaxed);
        let options = if is_pooled { options.statement_cache_capacity(0) } else { options };
        let watched = (options.clone(), Arc::clone(&pooled));
        let pool = PgPoolOptions::new()
            .max_connections(max_connections)
            .acquire_timeout(POOL_WAIT)
            .after_connect(move |connection, _| {
                let (options, pooled) = watched.clone();
                Box::pin(async move {
                    watch(connection, &options, &pooled).await;
                    Ok(())
                })
            })
            // Instead of the driver's ping, at the same cost: a session that a fail-over has left read-only is closed.
            .test_before_acquire(false)
            .before_acquire(|connection, _| Box::pin(writable(connection)))
            .connect_lazy_with(options);
        Ok(Self { pool, version, pooled, turns: Turns::default() })
    }

    /// Whether a transaction pooler stands between us and the server.
    pub(super) fn is_pooled(&self) -> bool {
        self.pooled.load(Ordering::Relaxed)
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }

    /// A connection for one statement that commits by itself.
    async fn connection(&self) -> Result<Box<Session>, StoreError> {
        self.connection_within(CONNECTION_WAIT).await
    }

    async fn connection_within(&self, limit: Duration) -> Result<Box<Session>, StoreError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "nothing has begun on the connection that is waited for"
        )]
        let connection = tokio::time::timeout(limit, self.pool.acquire()).await;
        let connection = connection.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map_err(error)?;
        Ok(Session::new(connection, !self.is_pooled()))
    }
}

/// Asks with each new connection whether a pooler has come in between: what is behind a name may change.
async fn watch(connection: &mut PgConnection, options: &PgConnectOptions, pooled: &AtomicBool) {
    if !pooled.load(Ordering::Relaxed) && pooler::detect(connection, options).await {
        pooled.store(true, Ordering::Relaxed);
        warn!("database.pooler_found");
    }
}

/// Whether a pooled connection still answers and may write. A simple query leaves no name on the server.
async fn writable(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let row = sqlx::raw_sql("SELECT current_setting('transaction_read_only') = 'off'").fetch_one(connection);
    Ok(row.await.and_then(|row| row.try_get(0)).unwrap_or(false))
}

/// A connection, or why the server takes none: the pool would try again until its wait is over, and then know only
/// that.
async fn answers(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    #[expect(clippy::disallowed_methods, reason = "nothing has begun on the connection that is waited for")]
    let connection = tokio::time::timeout(CONNECTION_WAIT, options.connect()).await;
    let silent = |_| StoreError::Unavailable(format!("no answer within {} s", CONNECTION_WAIT.as_secs()));
    connection.map_err(silent)?.map_err(error)
}

fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url).map_err(|_| {
        StoreError::Unavailable(
            "database.url is no PostgreSQL URL; expected postgres://user@host/name".into(),
        )
    })?;
    let named = options.get_application_name().is_some();
    let options = if named { options } else { options.application_name("hookgate") };
    // A parameter that PgBouncer refuses at start; numbers are exact without it since PostgreSQL 12.
    Ok(options.extra_float_digits(None).disable_statement_logging())
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
