//! SQLite: one machine, one file, nothing to set up.
//!
//! One connection writes, so that nobody meets a lock inside this process; the others read. Every write is a
//! [`SqliteTx`] that begins IMMEDIATE and is durable at COMMIT (WAL, `synchronous = FULL`). The time limit of a unit of
//! work bounds the wait for the writer, and interrupts a statement that runs past it.

mod circuits;
mod claims;
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

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool};

use super::{StoreError, lock};
pub(super) use tx::SqliteTx;

/// How long a write of its own may take, the wait for the writer included.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The write-ahead log is cut back to this many bytes after a checkpoint.
const JOURNAL_SIZE_LIMIT: &str = "67108864";

/// How often opening is tried while another process opens the same new file.
const OPEN_TRIES: u32 = 10;

/// One SQLite file: all of its ports.
#[derive(Clone, Debug)]
pub(super) struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
    /// The newest migration that this binary knows.
    version: i64,
}

impl Sqlite {
    pub(super) async fn connect(path: &Path, readers: u32, version: i64) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Schema(format!(
                "there is no file {}; run `hookgate migrate`",
                path.display()
            )));
        }
        let writer = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let readers = SqlitePoolOptions::new().max_connections(readers).max_lifetime(None);
        Ok(Self {
            writer: writer.connect_with(options(path)).await.map_err(error)?,
            readers: readers.connect_lazy_with(options(path).pragma("query_only", "ON")),
            version,
        })
    }

    pub(super) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    async fn write(&self) -> Result<SqliteTx, StoreError> {
        SqliteTx::begin(self, WRITE_TIMEOUT).await
    }
}

/// All migrations in one transaction; concurrent ones queue up behind its lock.
pub(super) async fn migrate(path: &Path, migrator: &Migrator) -> Result<(), StoreError> {
    if !path.exists() {
        // SQLite gives `-wal` and `-shm` the mode of the file itself.
        let created = lock::private().truncate(false).open(path);
        created.map_err(|failed| StoreError::Unavailable(format!("{}: {failed}", path.display())))?;
    }
    let mut connection = open(path).await?;
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await.map_err(error)?;
    migrator
        .run_direct(None, &mut *tx, false)
        .await
        .map_err(|failed| StoreError::Schema(failed.to_string()))?;
    tx.commit().await.map_err(|failed| StoreError::CommitUnknown(failed.to_string()))?;
    connection.close().await.ok(); // what matters is committed
    Ok(())
}

/// Two processes that turn a new file to WAL at once can meet a lock that no busy handler waits for.
async fn open(path: &Path) -> Result<SqliteConnection, StoreError> {
    let mut tries = 0;
    loop {
        match options(path).connect().await.map_err(error) {
            Err(StoreError::Timeout) if tries < OPEN_TRIES => {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(50) * tries).await;
            }
            result => return result,
        }
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(WRITE_TIMEOUT)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("journal_size_limit", JOURNAL_SIZE_LIMIT)
        .disable_statement_logging()
}

/// Sorts the driver's errors into ours. Codes are SQLite's extended result codes; their low byte is the kind.
fn error(error: sqlx::Error) -> StoreError {
    let code = match &error {
        sqlx::Error::Database(refusal) => refusal.code().map(std::borrow::Cow::into_owned),
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => {
            return StoreError::Unavailable(error.to_string());
        }
        _ => None,
    };
    match code.as_deref().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff) {
        // BUSY, LOCKED (another process writes), INTERRUPT (past the limit)
        Some(5 | 6 | 9) => StoreError::Timeout,
        // IOERR, CORRUPT, FULL, CANTOPEN
        Some(10 | 11 | 13 | 14) => StoreError::Unavailable(error.to_string()),
        _ => StoreError::Sql { code, source: error },
    }
}

/// The same for COMMIT: only a constraint that was checked late proves that nothing was written.
fn commit_error(failed: sqlx::Error) -> StoreError {
    match error(failed) {
        refused @ StoreError::Sql { .. } => refused,
        other => StoreError::CommitUnknown(other.to_string()),
    }
}
