//! The narrow waist: every statement that touches the database stands below this module.
//!
//! Two engines, one behaviour: [`sqlite`] for one machine, [`postgres`] for many. Each implements the ports below
//! over its own `.sql` files of the same names; `tests/store` runs one conformance suite on both.
//!
//! Who acts: `receive` accepts events, `process` works inside a [`Tx`], `worker` claims from the queues and settles.
//! What holds: all lease and due times are the database's clock; every write that ends a claim carries the lease
//! epoch; a COMMIT that fails is *unknown*, never success and never repeated here.
//! What is absent: HTTP, metrics, signatures.

mod error;
mod tx;

pub use error::StoreError;
pub use tx::{Emitted, Locked, Param, Row, Sql, Tx};

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::model::{Attempt, Event, EventKey, Failure, Leased, Message, NewEvent, Next};

/// What became of one event that was handed to the inbox.
#[derive(Clone, Debug)]
pub enum Insertion {
    /// The row is new.
    Inserted {
        /// The stored row's time (the database's clock).
        received_at: Timestamp,
    },
    /// A row with this key was there before (or stood earlier in the same batch).
    Existing(Existing),
}

/// The row that was there before.
#[derive(Clone, Debug)]
pub struct Existing {
    /// When the first copy was stored.
    pub received_at: Timestamp,
    /// SHA-256 of the first copy's body.
    pub body_sha256: [u8; 32],
    /// The first copy's body, read only when the hashes differ; empty if it was pruned.
    pub body: Option<Bytes>,
    /// Where the row stands.
    pub state: RowState,
}

/// Where an inbox row stands, as far as a second copy cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// `processed_at` is set.
    Processed,
    /// Unprocessed, and nobody holds a live lease.
    Unprocessed,
    /// Unprocessed, and a worker's lease is live.
    Leased,
    /// Unprocessed and waiting for a person.
    NeedsReview,
}

/// How a unit of work ends, for the checked final update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// `processed`, `ignored`, `flagged` or `superseded`.
    pub outcome: &'static str,
    /// Set when a person must look although the work is committed.
    pub review_reason: Option<String>,
}

/// Whether a settlement found its claim still standing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// One row was written.
    Written,
    /// The lease had passed to somebody else (or the row was done): nothing was written.
    LeaseLost,
}

/// A genuine request that cannot become an event (or conflicts with one), kept so that it does not vanish.
#[derive(Clone, Debug)]
pub struct Quarantined {
    /// The provider's id.
    pub provider: Arc<str>,
    /// The endpoint's name.
    pub endpoint: Arc<str>,
    /// The rejection reason, or `conflict`.
    pub reason: &'static str,
    /// One sentence for the operator.
    pub hint: String,
    /// The event id, where there is one.
    pub event_id: Option<String>,
    /// The request line and headers, credentials removed.
    pub headers: Arc<crate::model::Headers>,
    /// The bytes.
    pub body: Bytes,
    /// SHA-256 of the bytes.
    pub body_sha256: [u8; 32],
    /// Always true here; unverified requests are another matter.
    pub verified: bool,
    /// The inbound request.
    pub request_id: Uuid,
}

/// What waits at one endpoint (inbox) or destination (outbox).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Backlog {
    /// Provider id; empty for the outbox.
    pub provider: String,
    /// Endpoint or destination name.
    pub name: String,
    /// Unprocessed and not exhausted. Counted up to [`BACKLOG_CAP`].
    pub backlog: i64,
    /// Age of the oldest of them.
    pub oldest: Duration,
    /// Waiting for a person: exhausted, permanently failed, or flagged.
    pub needs_review: i64,
}

/// Counts of waiting rows stop here, so that asking stays cheap; a count of this value means "this many or more".
pub const BACKLOG_CAP: i64 = 100_001;

/// Inbox: where verified events become durable.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Writes events in one transaction, in this order. When it returns `Ok`, all of them are durable.
    /// The answer has one entry for each event, in order.
    ///
    /// # Errors
    /// [`StoreError`]: nothing may be assumed to be stored.
    async fn accept(&self, events: &[NewEvent]) -> Result<Vec<Insertion>, StoreError>;

    /// Opens the transaction of one unit of work that must end within `limit`.
    ///
    /// # Errors
    /// [`StoreError`], also when no connection came free within `limit`.
    async fn begin(&self, limit: Duration) -> Result<Tx, StoreError>;

    /// Keeps a genuine request that cannot be an event, once per (endpoint, body hash, reason).
    ///
    /// # Errors
    /// [`StoreError`]: the caller must then answer that the provider should send again.
    async fn quarantine(&self, request: &Quarantined) -> Result<(), StoreError>;
}

/// A queue of leased rows: the inbox (`T` = [`EventKey`]) or the outbox (`T` = [`Message`]).
#[async_trait]
pub trait Queue<T: Send>: Send + Sync {
    /// Claims up to `limit` due rows for `lease`, and commits that before it returns: epoch and attempts are raised.
    /// An expired lease is due, and taking it over raises `crash_attempts`; a row that has crashed before is claimed
    /// alone. Rows without attempts left get `review_at` instead.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn claim(&self, limit: u32, lease: Duration) -> Result<Vec<Leased<T>>, StoreError>;

    /// Renews a lease from now. [`Settled::LeaseLost`] if the epoch has moved on.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn extend(&self, leased: &Leased<T>, lease: Duration) -> Result<Settled, StoreError>;

    /// Gives a claim back unused (drain, never started): due at once, attempt not counted.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn give_back(&self, leased: Leased<T>) -> Result<Settled, StoreError>;

    /// Records that the work failed and what becomes of the row.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn fail(&self, leased: Leased<T>, failure: &Failure, next: &Next) -> Result<Settled, StoreError>;

    /// How long until the next row is due: zero if one is due now, `None` if nothing waits.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn next_due(&self) -> Result<Option<Duration>, StoreError>;
}

/// What the outbox has beyond a queue: deliveries are effects outside, so each try is written down with its fence.
#[async_trait]
pub trait Outbox: Queue<Message> {
    /// Marks a message as published and records the attempt, in one transaction.
    /// [`Settled::LeaseLost`] if the epoch has moved on; the attempt is recorded all the same.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn publish(&self, leased: Leased<Message>, attempt: &Attempt) -> Result<Settled, StoreError>;

    /// Records a failed attempt and what becomes of the message, in one transaction.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn fail_attempt(
        &self,
        leased: Leased<Message>,
        attempt: &Attempt,
        next: &Next,
    ) -> Result<Settled, StoreError>;
}

/// Ledger: questions of operators and of the metrics page.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Waiting rows of the inbox by endpoint, and of the outbox by destination.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn backlog(&self) -> Result<(Vec<Backlog>, Vec<Backlog>), StoreError>;

    /// Adds to the hourly counts of verified events and duplicates of one endpoint.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn count_events(&self, endpoint: &str, events: u64, duplicates: u64) -> Result<(), StoreError>;

    /// Verified events and duplicates by endpoint over the last `hours` full hours and the running one.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn event_counts(&self, hours: u32) -> Result<Vec<(String, u64, u64)>, StoreError>;

    /// Received events by endpoint and type in the last hour, most frequent first, at most 100 lines.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn event_types(&self) -> Result<Vec<(String, String, i64)>, StoreError>;

    /// One stored event.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn find(&self, key: &EventKey) -> Result<Option<Event>, StoreError>;

    /// Whether the store answers and its schema is current.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn ready(&self) -> Result<(), StoreError>;
}
