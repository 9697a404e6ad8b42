//! The open transaction, as handlers see it: they read and write through it, but cannot end it.

use chrono::{Datelike, SecondsFormat};
use sqlx::AssertSqlSafe;

use super::postgres::PgTx;
use super::sqlite::SqliteTx;
use super::{Param, Row, Sql, StoreError};
use crate::clock::Timestamp;
use crate::model::{Event, NewMessage};

/// The open transaction of one unit of work. Who holds the [`Unit`](super::Unit) ends it.
pub struct Tx(pub(super) Engine);

pub(super) enum Engine {
    Postgres(PgTx),
    Sqlite(SqliteTx),
}

/// The same call on whichever engine it is.
macro_rules! on {
    ($tx:expr, $inner:ident => $call:expr) => {
        match $tx {
            Engine::Postgres($inner) => $call,
            Engine::Sqlite($inner) => $call,
        }
    };
}
pub(super) use on;

impl Tx {
    /// Runs one statement of the gateway's own or of a built-in handler; the number of rows it changed.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn execute(&mut self, sql: Sql, params: &[Param]) -> Result<u64, StoreError> {
        match &mut self.0 {
            Engine::Postgres(tx) => tx.execute(sql.postgres, params).await,
            Engine::Sqlite(tx) => tx.execute(sql.sqlite, params).await,
        }
    }

    /// Runs one statement and reads its first row.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn fetch_optional(&mut self, sql: Sql, params: &[Param]) -> Result<Option<Row>, StoreError> {
        match &mut self.0 {
            Engine::Postgres(tx) => tx.fetch_optional(sql.postgres, params).await,
            Engine::Sqlite(tx) => tx.fetch_optional(sql.sqlite, params).await,
        }
    }

    /// Runs one statement of the gateway's own and reads all rows.
    pub(super) async fn fetch_all(&mut self, sql: Sql, params: &[Param]) -> Result<Vec<Row>, StoreError> {
        match &mut self.0 {
            Engine::Postgres(tx) => tx.fetch_all(sql.postgres, params).await,
            Engine::Sqlite(tx) => tx.fetch_all(sql.sqlite, params).await,
        }
    }

    /// Runs one statement of the operator's own (an SQL handler module) in the engine's dialect.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn execute_text(&mut self, sql: &str, params: &[Param]) -> Result<u64, StoreError> {
        // The operator's own statement, from a file named in the config; what comes from outside is in `params`.
        match &mut self.0 {
            Engine::Postgres(tx) => tx.execute_text(sql, params).await,
            Engine::Sqlite(tx) => tx.execute(AssertSqlSafe(sql.to_owned()), params).await,
        }
    }

    /// Checks one statement of the operator's own against the schema without running it. Of `params` only the types
    /// count. The transaction must be rolled back afterwards.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn prepare_text(&mut self, sql: &str, params: &[Param]) -> Result<(), StoreError> {
        match &mut self.0 {
            Engine::Postgres(tx) => tx.prepare(sql, params).await,
            Engine::Sqlite(tx) => tx.prepare(sql).await,
        }
    }

    /// Writes a message to the outbox. It leaves when this transaction commits.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn emit(&mut self, event: &Event, message: &NewMessage) -> Result<(), StoreError> {
        on!(&mut self.0, tx => tx.emit(event, message).await)
    }

    /// The connection, where the store is PostgreSQL: for a handler's own sqlx queries. Behind a transaction pooler
    /// (see [`Store::is_pooled`](super::Store::is_pooled)) each of them needs `.persistent(false)`: the driver's names
    /// for statements are those of other clients too, and most queries would fail.
    pub fn postgres(&mut self) -> Option<&mut sqlx::PgConnection> {
        match &mut self.0 {
            Engine::Postgres(tx) => Some(tx.connection()),
            Engine::Sqlite(_) => None,
        }
    }

    /// The connection, where the store is SQLite: for a handler's own sqlx queries. An error that such a query meets
    /// must be returned: SQLite, unlike PostgreSQL, would let the transaction go on without what failed.
    pub fn sqlite(&mut self) -> Option<&mut sqlx::SqliteConnection> {
        match &mut self.0 {
            Engine::Postgres(_) => None,
            Engine::Sqlite(tx) => Some(tx.connection()),
        }
    }
}

/// A provider's time as both engines can hold and sort it; nonsense (the year 57000) is no time.
pub(super) fn storable(time: Option<Timestamp>) -> Option<Timestamp> {
    time.filter(|time| (1..=9999).contains(&time.year()))
}

/// RFC 3339 with microseconds.
pub(super) fn rfc3339(time: Timestamp) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}
