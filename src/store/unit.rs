//! A unit of work: one transaction from BEGIN to COMMIT, and the gateway's own statements in it.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use super::postgres::PgTx;
use super::sqlite::SqliteTx;
use super::tx::{Engine, on};
use super::{Finish, Insertion, Param, Sql, StoreError, Tx};
use crate::model::{DueEvent, Event, EventKey, Leased, NewEvent};

const APPLY_VERSION: Sql = Sql {
    postgres: include_str!("postgres/apply_version.sql"),
    sqlite: include_str!("sqlite/apply_version.sql"),
};

/// What [`Unit::lock`] found.
#[derive(Debug)]
pub enum Locked {
    /// The row is ours until the transaction ends.
    Event(Box<Event>),
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

/// One unit of work. It lends its [`Tx`] to handlers, which cannot end it; only who holds the unit can.
///
/// A unit that is dropped without [`Unit::commit`] or [`Unit::rollback`] closes its connection, which rolls everything
/// back, even if it is dropped in the middle of a statement.
pub struct Unit(Tx);

impl Unit {
    /// Inserts the event, or finds the row that is there: locked (`FOR UPDATE`) if it is unprocessed. Waits for a
    /// concurrent copy up to the time left.
    ///
    /// # Errors
    /// [`StoreError::Timeout`] if the copy did not end in time.
    pub async fn insert(&mut self, event: &NewEvent) -> Result<Insertion, StoreError> {
        on!(&mut self.0.0, tx => tx.insert(event).await)
    }

    /// Reads a row that [`Unit::insert`] found, as its first copy was stored.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn stored(&mut self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        on!(&mut self.0.0, tx => tx.stored(key).await)
    }

    /// Locks a claimed row and checks again that it is still unprocessed and still of this claim's epoch.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn lock(&mut self, leased: &Leased<DueEvent>) -> Result<Locked, StoreError> {
        on!(&mut self.0.0, tx => tx.lock(leased).await)
    }

    /// Before a handler: opens a savepoint, and bounds the handler's statements by `limit`. Rows that it inserts into
    /// `outbox` will carry `event`'s key and `route`.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn enter(&mut self, event: &Event, route: &str, limit: Duration) -> Result<(), StoreError> {
        on!(&mut self.0.0, tx => tx.enter(event, route, limit).await)
    }

    /// After a handler: releases the savepoint.
    ///
    /// # Errors
    /// [`StoreError::Fenced`]: the handler ended the transaction itself or ignored an SQL error. Nothing may be kept:
    /// drop the unit or roll it back.
    pub async fn leave(&mut self) -> Result<(), StoreError> {
        on!(&mut self.0.0, tx => tx.leave().await)
    }

    /// The messages written in this transaction that have no address yet, in the order of writing.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn emitted(&mut self, key: &EventKey) -> Result<Vec<Emitted>, StoreError> {
        on!(&mut self.0.0, tx => tx.emitted(key).await)
    }

    /// Addresses one emitted message, `(destination, message id)`: gives the row its destination and message id; with
    /// several destinations, adds copies.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the message has an address already.
    pub async fn address(&mut self, id: i64, to: &[(&str, &str)]) -> Result<(), StoreError> {
        on!(&mut self.0.0, tx => tx.address(id, to).await)
    }

    /// Writes one outbox row that forwards the event as it came.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn forward(
        &mut self,
        event: &Event,
        route: &str,
        destination: &str,
        message_id: &str,
    ) -> Result<(), StoreError> {
        on!(&mut self.0.0, tx => tx.forward(event, route, destination, message_id).await)
    }

    /// Whether the event is no older than the last one of its ordering key that was applied; then it is the last one as
    /// soon as this transaction commits. An event without key or version always is.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn is_current(&mut self, event: &Event) -> Result<bool, StoreError> {
        let (Some(key), Some(version)) = (&event.ordering_key, event.version) else { return Ok(true) };
        let text = |text: &str| Param::Text(Some(text.to_owned()));
        let params = [text(&event.key.endpoint), text(key), Param::Bigint(Some(version))];
        Ok(self.execute(APPLY_VERSION, &params).await? == 1)
    }

    /// The last statement of a unit of work: sets `processed_at` on exactly one row, which must be unprocessed.
    /// Answers the time since the event was received, by the database's clock.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if it is not exactly one.
    pub async fn finish(&mut self, key: &EventKey, finish: &Finish) -> Result<Duration, StoreError> {
        on!(&mut self.0.0, tx => tx.finish(key, finish).await)
    }

    /// Commits.
    ///
    /// # Errors
    /// [`StoreError::CommitUnknown`] if the answer did not arrive.
    pub async fn commit(self) -> Result<(), StoreError> {
        on!(self.0.0, tx => tx.commit().await)
    }

    /// Rolls back and gives the connection back to the pool.
    pub async fn rollback(self) {
        on!(self.0.0, tx => tx.rollback().await);
    }
}

impl Deref for Unit {
    type Target = Tx;

    fn deref(&self) -> &Tx {
        &self.0
    }
}

impl DerefMut for Unit {
    fn deref_mut(&mut self) -> &mut Tx {
        &mut self.0
    }
}

impl From<PgTx> for Unit {
    fn from(tx: PgTx) -> Self {
        Self(Tx(Engine::Postgres(tx)))
    }
}

impl From<SqliteTx> for Unit {
    fn from(tx: SqliteTx) -> Self {
        Self(Tx(Engine::Sqlite(tx)))
    }
}
