//! Whether a transaction pooler (PgBouncer and others) stands between us and the server.
//!
//! Two connections that are open at the same time are two sessions of the server, with two process numbers. Where two
//! connections meet the same session, or one connection meets two, sessions change hands after each transaction.
//! Unlike a setting that is left on the one and looked for on the other, the question leaves nothing behind for those
//! with whom we share the pooler.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Error, PgConnection, Row as _};
use tracing::debug;

/// How often each of two connections is asked, twice in a row each time: a pooler that hands out its sessions in turns
/// shows itself to the pair, one that hands out the newest to the other connection, and a busy one to chance.
const ROUNDS: usize = 6;

/// How long a second connection may take to answer. In session mode with no session to spare it never will.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether sessions change hands. What cannot be told counts as yes, unless the server itself has no second connection
/// to spare.
pub(super) async fn detect(connection: &mut PgConnection, options: &PgConnectOptions) -> bool {
    #[expect(clippy::disallowed_methods, reason = "both connections are without a transaction")]
    let verdict = tokio::time::timeout(PATIENCE, ask(connection, options)).await;
    match verdict {
        Ok(Ok(shared)) => shared,
        Ok(Err(error)) if is_full(&error) => false,
        Ok(Err(error)) => {
            debug!(%error, "database.pooler_unknown");
            true
        }
        Err(_) => true,
    }
}

async fn ask(first: &mut PgConnection, options: &PgConnectOptions) -> Result<bool, Error> {
    let mut second = options.connect().await?;
    let shared = share(first, &mut second).await;
    second.close().await.ok(); // it has answered
    shared
}

async fn share(first: &mut PgConnection, second: &mut PgConnection) -> Result<bool, Error> {
    let (one, other) = (session(first).await?, session(second).await?);
    if one == other {
        return Ok(true);
    }
    for _ in 0..ROUNDS {
        for _ in 0..2 {
            if session(first).await? != one {
                return Ok(true);
            }
        }
        for _ in 0..2 {
            if session(second).await? != other {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The process of the server that answers.
async fn session(connection: &mut PgConnection) -> Result<i32, Error> {
    sqlx::raw_sql("SELECT pg_backend_pid()").fetch_one(connection).await?.try_get(0)
}

/// `too_many_connections`
fn is_full(error: &Error) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).as_deref() == Some("53300")
}
