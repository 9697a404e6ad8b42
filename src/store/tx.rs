//! The open transaction of one unit of work.
//!
//! Handlers get `&mut Tx` and may read and write through it; only `process` may finish and commit it. A `Tx` that is
//! dropped without [`Tx::commit`] or [`Tx::rollback`] closes its connection, which rolls everything back.

use std::time::Duration;

use chrono::{Datelike, SecondsFormat};
use sqlx::AssertSqlSafe;

use super::postgres::PgTx;
use super::sqlite::SqliteTx;
use super::{Finish, Insertion, Param, Row, Sql, StoreError};
use crate::clock::Timestamp;
use crate::model::{Event, EventKey, Leased, NewEvent, NewMessage};

/// What [`Tx::lock`] found.
#[derive(Debug)]
pub enum Locked {
    /// The row is ours until the transaction ends.
    Event(Event),
    /// It is done, needs review, or was claimed anew (the epoch moved on): nothing to do.
    Gone,
}

/// A message that a handler left in the outbox during this transaction and that has no address yet.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// `outbox.id`
    pub id: i64,
    /// The route whose handler wrote it.
    pub route: String,
    /// `outbox.aggregate_type`
    pub aggregate_type: String,
    /// `outbox.aggregate_id`
    pub aggregate_id: String,
    /// `outbox.event_type`
    pub event_type: String,
}

/// The open transaction of one unit of work.
pub struct Tx(Engine);

enum Engine {
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

    /// Runs one statement of the operator's own (an SQL handler module) in the engine's dialect.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn execute_text(&mut self, sql: &str, params: &[Param]) -> Result<u64, StoreError> {
        // The operator's own statement, from a file named in the config; what comes from outside is in `params`.
        let sql = AssertSqlSafe(sql.to_owned());
        on!(&mut self.0, tx => tx.execute(sql, params).await)
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

    /// The connection, where the store is PostgreSQL: for a handler's own sqlx queries.
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

    /// Inserts the event, or finds the row that is there: locked (`FOR UPDATE`) if it is unprocessed. Waits for a
    /// concurrent copy up to the time left.
    pub(crate) async fn insert(&mut self, event: &NewEvent) -> Result<Insertion, StoreError> {
        on!(&mut self.0, tx => tx.insert(event).await)
    }

    /// Reads a row that [`Tx::insert`] found, as its first copy was stored.
    pub(crate) async fn stored(&mut self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        on!(&mut self.0, tx => tx.stored(key).await)
    }

    /// Locks a claimed row and checks again that it is still unprocessed and still of this claim's epoch.
    pub(crate) async fn lock(&mut self, leased: &Leased<EventKey>) -> Result<Locked, StoreError> {
        on!(&mut self.0, tx => tx.lock(leased).await)
    }

    /// Before a handler: opens a savepoint, and bounds the handler's statements by `limit`. Rows that it inserts into
    /// `outbox` will carry `event`'s key and `route`.
    pub(crate) async fn enter(&mut self, event: &Event, route: &str, limit: Duration) -> Result<(), StoreError> {
        on!(&mut self.0, tx => tx.enter(event, route, limit).await)
    }

    /// After a handler: releases the savepoint. An error means that the handler ended the transaction itself or
    /// ignored an SQL error: nothing of it may be kept.
    pub(crate) async fn leave(&mut self) -> Result<(), StoreError> {
        on!(&mut self.0, tx => tx.leave().await)
    }

    /// The messages written in this transaction that have no address yet, in the order of writing.
    pub(crate) async fn emitted(&mut self, key: &EventKey) -> Result<Vec<Emitted>, StoreError> {
        on!(&mut self.0, tx => tx.emitted(key).await)
    }

    /// Addresses one emitted message, `(destination, message id)`: gives the row its destination and message id; with
    /// several destinations, adds copies.
    pub(crate) async fn address(&mut self, id: i64, to: &[(&str, &str)]) -> Result<(), StoreError> {
        on!(&mut self.0, tx => tx.address(id, to).await)
    }

    /// Writes one outbox row that forwards the event as it came.
    pub(crate) async fn forward(
        &mut self,
        event: &Event,
        route: &str,
        destination: &str,
        message_id: &str,
    ) -> Result<(), StoreError> {
        on!(&mut self.0, tx => tx.forward(event, route, destination, message_id).await)
    }

    /// The last statement of a unit of work: sets `processed_at` on exactly one row, which must be unprocessed.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if it is not exactly one.
    pub(crate) async fn finish(&mut self, key: &EventKey, finish: &Finish) -> Result<(), StoreError> {
        on!(&mut self.0, tx => tx.finish(key, finish).await)
    }

    /// Commits.
    ///
    /// # Errors
    /// [`StoreError::CommitUnknown`] if the answer did not arrive.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        on!(self.0, tx => tx.commit().await)
    }

    /// Rolls back and gives the connection back to the pool.
    pub(crate) async fn rollback(self) {
        on!(self.0, tx => tx.rollback().await);
    }
}

impl From<PgTx> for Tx {
    fn from(tx: PgTx) -> Self {
        Self(Engine::Postgres(tx))
    }
}

impl From<SqliteTx> for Tx {
    fn from(tx: SqliteTx) -> Self {
        Self(Engine::Sqlite(tx))
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
