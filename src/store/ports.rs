//! The ports: what the rest of the gateway asks of a database.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{
    Backlog, CircuitRecord, Condition, Confirm, Connections, Insertion, Kept, Lane, Learner, Lesson, Pause,
    Pruned, Quarantined, SecretMatches, SecretUse, Settled, StoreError, Unit,
};
use crate::clock::Timestamp;
use crate::config::{self, Retention};
use crate::model::{Attempt, Circuit, Event, EventKey, Failure, Leased, Message, NewEvent, Next, Secret};

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
    async fn begin(&self, limit: Duration) -> Result<Unit, StoreError>;

    /// Keeps a genuine request that cannot be an event, once per (endpoint, body hash, reason, event id); further
    /// copies are counted.
    ///
    /// # Errors
    /// [`StoreError`]: the caller must then answer that the provider should send again.
    async fn quarantine(&self, request: &Quarantined) -> Result<(), StoreError>;

    /// Keeps rejected requests, all of one endpoint, as far as there is room, once per (body hash, reason, network of
    /// the peer); further copies are counted. The bounds hold over all processes.
    ///
    /// # Errors
    /// [`StoreError`]: none of them is kept.
    async fn quarantine_rejected(
        &self,
        requests: &[Quarantined],
        bounds: &config::Quarantine,
    ) -> Result<Vec<Kept>, StoreError>;

    /// Writes the call that a provider waits for into the outbox, unless it waits there already.
    ///
    /// # Errors
    /// [`StoreError`]: the caller must then answer that the provider should send again.
    async fn confirm(&self, confirmation: &Confirm) -> Result<(), StoreError>;
}

/// Secrets that providers hand over in band, and the endpoints that wait for one.
#[async_trait]
pub trait Learned: Send + Sync {
    /// Lets an endpoint learn a secret for so long from now on; `None` if it has learned one already.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn arm(&self, endpoint: &str, wait: Duration) -> Result<Option<Timestamp>, StoreError>;

    /// Keeps a secret, if the endpoint is armed and has none. It is armed no longer then.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn learn(&self, endpoint: &str, secret: &Secret) -> Result<Lesson, StoreError>;

    /// The secret that an endpoint has learned.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn learned(&self, endpoint: &str) -> Result<Option<Secret>, StoreError>;

    /// Endpoints that are armed or have learned a secret, by name.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn learners(&self) -> Result<Vec<Learner>, StoreError>;

    /// Forgets what an endpoint has learned, and disarms it. Whether there was a secret.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn forget(&self, endpoint: &str) -> Result<bool, StoreError>;
}

/// A queue of leased rows: the inbox (`T` = [`crate::model::DueEvent`]) or the outbox (`T` = [`Message`]).
#[async_trait]
pub trait Queue<T: Send>: Send + Sync {
    /// Claims due rows, at most `limit` over all `lanes` and each lane's own limit, and commits that before it
    /// returns: epoch and attempts are raised. An expired lease is due, and taking it over raises `crash_attempts`; a
    /// row that has crashed before is claimed alone (messages: alone in its lane). Lanes have their turns one after the
    /// other, so that none stands in another's way; one that is paused is left out, and so are events that a paused or
    /// busy handler would take. Of events that are ordered, only the first unprocessed one of each key is claimed.
    /// Rows without attempts left get `review_at` instead.
    /// Rows of no lane are not looked at (endpoints that this process does not serve, destinations that it does not
    /// know, messages without destination). The inbox's lanes share the lease and the attempts of the first.
    ///
    /// Outbox: of a lane whose circuit is open nothing is claimed, and once its time is over one row, the probe, over
    /// all gateways. Of an ordered lane only the first unpublished row of each key is claimed.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn claim(&self, limit: u32, lanes: &[Lane]) -> Result<Vec<Leased<T>>, StoreError>;

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

    /// How long until the next row of these lanes is due: zero if one is due now, `None` if nothing waits.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn next_due(&self, lanes: &[Lane]) -> Result<Option<Duration>, StoreError>;
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

    /// What a failed attempt says about its destination, for the circuit that all gateways share; `probe`: whether
    /// it was the one message that an open circuit let through. It is a statement
    /// of its own, for failures only: [`Outbox::publish`] closes a circuit by itself.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn note_failure(
        &self,
        destination: &str,
        attempt: &Attempt,
        circuit: &Circuit,
        probe: bool,
    ) -> Result<(), StoreError>;
}

/// Ledger: questions of operators and of the metrics page, and retention.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Waiting rows of the inbox by endpoint, and of the outbox by destination.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn backlog(&self) -> Result<(Vec<Backlog>, Vec<Backlog>), StoreError>;

    /// Destinations that have failed since they last answered, by name.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn circuits(&self) -> Result<Vec<CircuitRecord>, StoreError>;

    /// Adds to the hourly counts of verified events and duplicates of one endpoint.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn count_events(&self, endpoint: &str, events: u64, duplicates: u64) -> Result<(), StoreError>;

    /// Adds to what is known of signing secrets: since when they are watched, and when they last matched.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn count_matches(&self, used: &[SecretUse]) -> Result<(), StoreError>;

    /// What is known of signing secrets.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn secret_matches(&self) -> Result<Vec<SecretMatches>, StoreError>;

    /// How many requests of each of these endpoints are in quarantine, counted up to [`super::BACKLOG_CAP`].
    ///
    /// # Errors
    /// [`StoreError`]
    async fn quarantine_rows(&self, endpoints: &[Arc<str>]) -> Result<Vec<(Arc<str>, i64)>, StoreError>;

    /// When verified events of each endpoint were last counted by [`Ledger::count_events`].
    ///
    /// # Errors
    /// [`StoreError`]
    async fn last_verified(&self) -> Result<Vec<(String, Timestamp)>, StoreError>;

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

    /// What operators hold back.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn pauses(&self) -> Result<Vec<Pause>, StoreError>;

    /// Retention, one batch of it: deletes up to `batch` rows of the inbox that are older than `keys`, empties body
    /// and headers of up to `batch` others that are older than `payload`, and deletes up to `batch` rows of each other
    /// table. Only processed events and published messages that wait for nobody are touched (of messages without
    /// destination all), and no row that somebody else has locked. Any number of processes may prune.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn prune(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError>;

    /// Whether the store answers and its schema is current.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn ready(&self) -> Result<(), StoreError>;

    /// The database's clock, and whether its settings keep what it commits.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn condition(&self) -> Result<Condition, StoreError>;

    /// The connections that this process holds at the moment.
    fn connections(&self) -> Connections;
}
