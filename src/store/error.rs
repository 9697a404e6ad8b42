//! What can go wrong below the waist.

use std::fmt;
use std::path::PathBuf;

/// A failure of the store. Its text is for logs; it holds no value of a query.
#[derive(Debug)]
pub enum StoreError {
    /// The database could not be reached, or no connection came free in time. Nothing was written.
    Unavailable(String),
    /// A lock or statement did not come through in the time allowed. Nothing was written.
    Timeout,
    /// COMMIT was sent and its answer did not arrive: it may have happened or not. Never success, never repeated.
    CommitUnknown(String),
    /// The final checked update did not touch exactly one row: a handler ended the transaction itself, ignored an
    /// SQL error, or another worker was there first. Nothing was written.
    Fenced,
    /// The schema is not what this binary needs: it was never migrated, or a migration failed.
    Schema(String),
    /// Another process serves from this SQLite file.
    InUse {
        /// The lock file that it holds.
        lock: PathBuf,
    },
    /// The database refused a statement.
    Sql {
        /// SQLSTATE, or SQLite's extended result code.
        code: Option<String>,
        /// For the log.
        source: sqlx::Error,
    },
}

impl StoreError {
    /// Whether a schema at `found` will do for a binary that knows `needed` migrations. A newer one will: another
    /// gateway is being rolled out, and migrations leave to the binary before them what it uses.
    pub(super) fn unless_current(found: i64, needed: i64) -> Result<(), Self> {
        if found >= needed {
            return Ok(());
        }
        Err(Self::Schema(format!(
            "it is at version {found}, this binary needs {needed}; run `hookgate migrate`"
        )))
    }

    /// A short code for `last_error`: `store.sql.23505`, `store.timeout`, ….
    #[must_use]
    pub fn code(&self) -> String {
        match self {
            Self::Unavailable(_) => "store.unavailable".into(),
            Self::Timeout => "store.timeout".into(),
            Self::CommitUnknown(_) => "store.commit_unknown".into(),
            Self::Fenced => "store.fenced".into(),
            Self::Schema(_) => "store.schema".into(),
            Self::InUse { .. } => "store.in_use".into(),
            Self::Sql { code: Some(code), .. } => format!("store.sql.{code}"),
            Self::Sql { code: None, .. } => "store.sql".into(),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) => write!(f, "the database is unavailable: {why}"),
            Self::Timeout => f.write_str("the database did not finish in the time allowed"),
            Self::CommitUnknown(why) => write!(f, "COMMIT was sent and its outcome is unknown: {why}"),
            Self::Fenced => f.write_str("the final update did not find the row as it was left"),
            Self::Schema(why) => write!(f, "the database's schema: {why}"),
            Self::InUse { lock } => write!(
                f,
                "another gateway serves from this SQLite file (it holds {}): stop it first, or use PostgreSQL, which \
                 any number of gateways can share",
                lock.display()
            ),
            Self::Sql { code: Some(code), .. } => write!(f, "the database refused a statement (code {code})"),
            Self::Sql { code: None, .. } => f.write_str("the database refused a statement"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sql { source, .. } => Some(source),
            _ => None,
        }
    }
}
