//! The open transaction of one unit of work.
//!
//! Handlers get `&mut Tx` and may read and write through it; only `process` may finish and commit it. A `Tx` that is
//! dropped without [`Tx::commit`] or [`Tx::rollback`] closes its connection, which rolls everything back.

use std::time::Duration;

use super::{Finish, Insertion, Param, Row, Sql, StoreError};
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
pub struct Tx {}

impl Tx {
    /// Runs one statement of the gateway's own or of a built-in handler; the number of rows it changed.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn execute(&mut self, sql: Sql, params: &[Param]) -> Result<u64, StoreError> {
        let _ = (sql, params);
        todo!()
    }

    /// Runs one statement and reads its first row.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn fetch_optional(&mut self, sql: Sql, params: &[Param]) -> Result<Option<Row>, StoreError> {
        let _ = (sql, params);
        todo!()
    }

    /// Runs one statement of the operator's own (an SQL handler module) in the engine's dialect.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn execute_text(&mut self, sql: &str, params: &[Param]) -> Result<u64, StoreError> {
        let _ = (sql, params);
        todo!()
    }

    /// Checks one statement of the operator's own against the schema without running it. Of `params` only the types
    /// count. The transaction must be rolled back afterwards.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn prepare_text(&mut self, sql: &str, params: &[Param]) -> Result<(), StoreError> {
        let _ = (sql, params);
        todo!()
    }

    /// Writes a message to the outbox. It leaves when this transaction commits.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn emit(&mut self, event: &Event, message: &NewMessage) -> Result<(), StoreError> {
        let _ = (event, message);
        todo!()
    }

    /// The connection, where the store is PostgreSQL: for a handler's own sqlx queries.
    pub fn postgres(&mut self) -> Option<&mut sqlx::PgConnection> {
        todo!()
    }

    /// The connection, where the store is SQLite: for a handler's own sqlx queries.
    pub fn sqlite(&mut self) -> Option<&mut sqlx::SqliteConnection> {
        todo!()
    }

    /// Inserts the event, or finds the row that is there: locked (`FOR UPDATE`) if it is unprocessed. Waits for a
    /// concurrent copy up to the time left.
    pub(crate) async fn insert(&mut self, event: &NewEvent) -> Result<Insertion, StoreError> {
        let _ = event;
        todo!()
    }

    /// Locks a claimed row and checks again that it is still unprocessed and still of this claim's epoch.
    pub(crate) async fn lock(&mut self, leased: &Leased<EventKey>) -> Result<Locked, StoreError> {
        let _ = leased;
        todo!()
    }

    /// Reads a row that [`Tx::insert`] found, as its first copy was stored.
    pub(crate) async fn stored(&mut self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        let _ = key;
        todo!()
    }

    /// Before a handler: opens a savepoint, and bounds the handler's statements by `limit`. Rows that it inserts into
    /// `outbox` will carry `event`'s key and `route`.
    pub(crate) async fn enter(
        &mut self,
        event: &Event,
        route: &str,
        limit: Duration,
    ) -> Result<(), StoreError> {
        let _ = (event, route, limit);
        todo!()
    }

    /// After a handler: releases the savepoint. An error means that the handler ended the transaction itself or
    /// ignored an SQL error: nothing of it may be kept.
    pub(crate) async fn leave(&mut self) -> Result<(), StoreError> {
        todo!()
    }

    /// The messages written in this transaction that have no address yet.
    pub(crate) async fn emitted(&mut self, key: &EventKey) -> Result<Vec<Emitted>, StoreError> {
        let _ = key;
        todo!()
    }

    /// Addresses one emitted message: gives the row its destination and message id; with several destinations, adds
    /// copies.
    pub(crate) async fn address(&mut self, id: i64, to: &[(&str, &str)]) -> Result<(), StoreError> {
        let _ = (id, to);
        todo!()
    }

    /// Writes one outbox row that forwards the event as it came: `(destination, message id)`.
    pub(crate) async fn forward(
        &mut self,
        event: &Event,
        route: &str,
        destination: &str,
        message_id: &str,
    ) -> Result<(), StoreError> {
        let _ = (event, route, destination, message_id);
        todo!()
    }

    /// The last statement of a unit of work: sets `processed_at` on exactly one row, which must be unprocessed.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if it is not exactly one.
    pub(crate) async fn finish(&mut self, key: &EventKey, finish: &Finish) -> Result<(), StoreError> {
        let _ = (key, finish);
        todo!()
    }

    /// Commits.
    ///
    /// # Errors
    /// [`StoreError::CommitUnknown`] if the answer did not arrive.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        todo!()
    }

    /// Rolls back and gives the connection back to the pool.
    pub(crate) async fn rollback(self) {}
}
