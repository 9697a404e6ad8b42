//! The ports of operators' commands, and of the worker that carries their replays out.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{
    Cursor, DeadRecord, DeliveryDetail, DeliveryRecord, EventDetail, EventRecord, Existing, Filter, Listed,
    NewReplay, Page, Pausable, QuarantineDetail, QuarantineRecord, QueueName, ReplayRecord, Replayable,
    Settled, StoreError,
};
use crate::clock::Timestamp;
use crate::model::{EventKey, Leased, NewEvent};

/// Who orders a release.
#[derive(Clone, Debug)]
pub struct ReleaseOrder {
    /// The name.
    pub who: String,
    /// The order's line in the audit log.
    pub audit: i64,
}

/// What became of a request that was to be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// It is released.
    Done {
        /// Events that are rows of the inbox now.
        new: usize,
        /// Events that were there before.
        known: usize,
    },
    /// An event of the same id is there with another body: nothing was changed.
    Conflict,
    /// Somebody else has released it, or it is gone.
    Gone,
}

/// Whether an event contradicts the row that is there under its key.
pub type IsConflict<'a> = dyn Fn(&NewEvent, &Existing) -> bool + Sync + 'a;

/// Operations: what operators ask and order. Lists are read part by part; none of them costs more the further it is
/// read, and no statement walks over more than a fixed number of rows or the rows of a partial index.
#[async_trait]
pub trait Operations: Send + Sync {
    /// The database's clock.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn now(&self) -> Result<Timestamp, StoreError>;

    /// Events, the newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn events(&self, filter: &Filter, page: &Page) -> Result<Listed<EventRecord>, StoreError>;

    /// Events in the order of their arrival, from this moment on.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn events_from(
        &self,
        filter: &Filter,
        from: Timestamp,
        page: &Page,
    ) -> Result<Listed<EventRecord>, StoreError>;

    /// One event with its content and its messages.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn event(&self, key: &EventKey) -> Result<Option<EventDetail>, StoreError>;

    /// Messages to destinations, the newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn deliveries(&self, filter: &Filter, page: &Page) -> Result<Listed<DeliveryRecord>, StoreError>;

    /// One message with its content and its attempts.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn delivery(&self, id: i64) -> Result<Option<DeliveryDetail>, StoreError>;

    /// Requests that became no event, the newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn quarantined(&self, filter: &Filter, page: &Page)
    -> Result<Listed<QuarantineRecord>, StoreError>;

    /// One of them with its content.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn quarantined_one(&self, id: i64) -> Result<Option<QuarantineDetail>, StoreError>;

    /// Requests in quarantine that a release is for, the oldest first: not released, and no conflict.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn unreleased(&self, filter: &Filter, page: &Page) -> Result<Listed<QuarantineRecord>, StoreError>;

    /// Lets a request go: its events become rows of the inbox, it is marked as released and counted in the order's
    /// line of the audit log, all in one transaction. Events that were there before are left as they are; one that
    /// conflicts, by `conflicts`, keeps everything as it was.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn release(
        &self,
        id: i64,
        events: &[NewEvent],
        order: &ReleaseOrder,
        conflicts: &IsConflict<'_>,
    ) -> Result<Released, StoreError>;

    /// Notes why a request could not be released.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn not_released(&self, id: i64, reason: &str) -> Result<(), StoreError>;

    /// What waits for a person in one queue or both, the latest first.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn dead(
        &self,
        queue: Option<QueueName>,
        filter: &Filter,
        page: &Page,
    ) -> Result<Listed<DeadRecord>, StoreError>;

    /// How much of it there is.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn count_dead(&self, queue: QueueName, filter: &Filter) -> Result<i64, StoreError>;

    /// Writes down who orders what, before it is done; the line's number is for the order.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn audit(&self, who: &str, action: &str, what: &str) -> Result<i64, StoreError>;

    /// Gives dead rows a new life: no attempts, due at once. One batch of those that were dead when the order was
    /// written down, counted in that line in the same transaction; zero when none is left.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn redrive(&self, queue: QueueName, filter: &Filter, audit: i64) -> Result<u64, StoreError>;

    /// Closes flagged rows, in the same way.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn resolve(&self, filter: &Filter, audit: i64) -> Result<u64, StoreError>;

    /// Holds back all work of an endpoint, a handler or a destination: every gateway's next claim leaves it alone.
    /// `false` if it is paused already.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn pause(
        &self,
        kind: Pausable,
        name: &str,
        who: &str,
        reason: Option<&str>,
    ) -> Result<bool, StoreError>;

    /// Lets it go on. `false` if it was not paused.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn resume(&self, kind: Pausable, name: &str, who: &str) -> Result<bool, StoreError>;

    /// How many processed events a filter means, by endpoint.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn replayable(&self, filter: &Filter) -> Result<Vec<Replayable>, StoreError>;

    /// Orders a replay, with its line in the audit log; its number. A running gateway carries it out.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn order_replay(&self, replay: &NewReplay) -> Result<i64, StoreError>;

    /// Ends a replay: the event in hand is rolled back if it has not committed. `false` if it has ended before, or
    /// there is none of this number.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn cancel_replay(&self, id: i64, who: &str) -> Result<bool, StoreError>;

    /// One replay, or the last twenty.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn replays(&self, id: Option<i64>) -> Result<Vec<ReplayRecord>, StoreError>;
}

/// A place in a replay's order: behind one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCursor(pub(super) Cursor);

/// A replay that is worked off.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Its number.
    pub id: i64,
    /// Events of this endpoint.
    pub endpoint: Arc<str>,
    /// Which of them.
    pub filter: Filter,
    /// One route's name; `None`: all of them.
    pub route: Option<String>,
    /// Whether deliveries get a `webhook-id` of this replay's own.
    pub new_ids: bool,
    /// Only events whose work was done by then.
    pub ordered_at: Timestamp,
    /// The last event that is behind it.
    pub cursor: Option<EventCursor>,
    /// Failed tries of the next one.
    pub tries: u32,
}

/// The next events of a replay.
#[derive(Clone, Debug)]
pub struct Upcoming {
    /// In order, each with the place behind it.
    pub events: Vec<(EventKey, EventCursor)>,
    /// Where it goes on behind all of them; `None`: there are no more.
    pub next: Option<EventCursor>,
}

/// What becomes of a replay other than a step behind an event that is done.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// It goes on behind this place.
    pub cursor: Option<EventCursor>,
    /// The event before that place could not be worked on: its key, and a code.
    pub failure: Option<(EventKey, String)>,
    /// The event in hand is tried again after this time.
    pub again: Option<Duration>,
    /// The next event waits this long.
    pub wait: Option<Duration>,
    /// The claim goes on for this time; `None`: it ends.
    pub hold: Option<Duration>,
    /// It has ended: `done` or `failed`.
    pub outcome: Option<&'static str>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Replays as a queue. The step behind an event that is done belongs to its unit of work: [`super::Unit::advance`].
#[async_trait]
pub trait Replays: Send + Sync {
    /// Claims replays of these endpoints that are due. `crash_attempts` counts claims of the event in hand that ended
    /// with their process.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn claim_replays(
        &self,
        limit: u32,
        endpoints: &[Arc<str>],
        lease: Duration,
    ) -> Result<Vec<Leased<Replay>>, StoreError>;

    /// How long until one is due; `None` if none waits.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn next_replay(&self, endpoints: &[Arc<str>]) -> Result<Option<Duration>, StoreError>;

    /// The next events of a replay, from its cursor on.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn upcoming(&self, replay: &Replay) -> Result<Upcoming, StoreError>;

    /// Records what becomes of it. [`Settled::LeaseLost`] if it was cancelled or claimed anew.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn pass(&self, leased: &Leased<Replay>, passed: &Passed) -> Result<Settled, StoreError>;
}
