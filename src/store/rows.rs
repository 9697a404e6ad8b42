//! What goes into the ports and comes out of them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::model::{Next, Secret};

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

/// How the database itself stands.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Its clock, by which leases and stored times go.
    pub now: Timestamp,
    /// Whether what it has committed survives a crash of its machine, as far as its settings say.
    pub durable: bool,
}

/// A call that a provider waits for, to be made by the dispatcher.
#[derive(Clone, Debug)]
pub struct Confirm {
    /// The provider's id.
    pub provider: Arc<str>,
    /// The endpoint that was asked.
    pub endpoint: Arc<str>,
    /// What it is, the same for copies of the request.
    pub message_id: String,
    /// JSON text: `url` and `method`.
    pub payload: String,
}

/// What became of a secret that came in band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lesson {
    /// It is the endpoint's secret from now on.
    Learned,
    /// It was that before.
    Known,
    /// The endpoint has another one.
    Taken,
    /// Nobody waits for one.
    NotArmed,
}

impl Lesson {
    /// Why a secret was not learned, by the one that the endpoint has.
    pub(super) fn of(known: Option<Vec<u8>>, offered: &Secret) -> Self {
        match known.map(Secret::new) {
            None => Self::NotArmed,
            Some(known) if known == *offered => Self::Known,
            Some(_) => Self::Taken,
        }
    }
}

/// How often a signing secret matched since the last time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretUse {
    /// Its endpoint.
    pub endpoint: Arc<str>,
    /// [`Secret::fingerprint`]
    pub fingerprint: String,
    /// Zero for a secret that is only to be watched.
    pub matches: u64,
}

/// When a signing secret last matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatches {
    /// Its endpoint.
    pub endpoint: String,
    /// [`Secret::fingerprint`]
    pub fingerprint: String,
    /// Since when a gateway has watched it.
    pub since: Timestamp,
    /// When a signature of it last fitted.
    pub matched_at: Option<Timestamp>,
    /// How often one did.
    pub matches: u64,
}

/// An endpoint that waits for a secret or has learned one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learner {
    /// Its name.
    pub endpoint: String,
    /// When it learned its secret.
    pub learned_at: Option<Timestamp>,
    /// Until when it waits for one.
    pub armed_until: Option<Timestamp>,
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

impl RowState {
    /// Reads the word that the statements use.
    pub(super) fn from_word(word: &str) -> Self {
        match word {
            "processed" => Self::Processed,
            "leased" => Self::Leased,
            "needs_review" => Self::NeedsReview,
            _ => Self::Unprocessed,
        }
    }
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
    /// Those of them that are unprocessed: exhausted or permanently failed.
    pub dead: i64,
}

/// Connections of this process to the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// At work.
    pub busy: u32,
    /// Open and free.
    pub idle: u32,
}

impl Connections {
    /// Of a pool of `size` connections, so many are `idle` (the two numbers may be of different moments).
    pub(super) fn of(size: u32, idle: usize) -> Self {
        let idle = u32::try_from(idle).unwrap_or(u32::MAX);
        Self { busy: size.saturating_sub(idle), idle }
    }
}

/// Counts of waiting rows stop here, so that asking stays cheap; a count of this value means "this many or more".
pub const BACKLOG_CAP: i64 = 100_001;

/// How many rows of each kind one batch of retention takes: so few that nobody waits long for the writer or for a row.
pub const PRUNE_BATCH: u32 = 200;

/// What retention did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Rows of the inbox that are gone, with their keys: a copy that comes now is a new event.
    pub deleted: u64,
    /// Rows of the inbox whose body and headers are gone.
    pub emptied: u64,
    /// Messages that were published, or had no destination.
    pub outbox: u64,
    /// Those of them that had no destination and that nobody had marked as published.
    pub unsent: u64,
    /// Records of attempts to deliver.
    pub attempts: u64,
    /// Requests in quarantine.
    pub quarantine: u64,
    /// Lines of the audit log.
    pub audit: u64,
    /// Replays that had ended, and records of what they could not work on.
    pub replays: u64,
}

impl Pruned {
    /// The tables, and what was taken of each; `webhook_inbox_payload` counts rows that were emptied.
    #[must_use]
    pub fn tables(&self) -> [(&'static str, u64); 7] {
        [
            ("webhook_inbox", self.deleted),
            ("webhook_inbox_payload", self.emptied),
            ("outbox", self.outbox),
            ("delivery_attempts", self.attempts),
            ("quarantine", self.quarantine),
            ("audit_log", self.audit),
            ("replays", self.replays),
        ]
    }

    /// Whether a batch of this size was full, so that there may be more.
    #[must_use]
    pub fn fills(self, batch: u32) -> bool {
        self.tables().iter().any(|(_, rows)| *rows >= u64::from(batch))
    }
}

impl std::ops::AddAssign for Pruned {
    fn add_assign(&mut self, more: Self) {
        self.deleted += more.deleted;
        self.emptied += more.emptied;
        self.outbox += more.outbox;
        self.unsent += more.unsent;
        self.attempts += more.attempts;
        self.quarantine += more.quarantine;
        self.audit += more.audit;
        self.replays += more.replays;
    }
}

/// One share of a queue, and what a worker can take of it now: the events of one endpoint, or the messages for one
/// destination.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The endpoint's or the destination's name.
    pub name: Arc<str>,
    /// Rows that may be claimed from it now.
    pub limit: u32,
    /// How long a claim lasts.
    pub lease: Duration,
    /// Failures after which a row is claimed no more, but needs review.
    pub max_attempts: u32,
    /// Inbox: a dead event does not hold back those of its ordering key that came after it.
    pub skips_dead: bool,
    /// Inbox: handlers that work on events of this lane.
    pub takers: Vec<Taker>,
    /// Outbox: whether the destination's circuit counts.
    pub breaker: bool,
    /// Outbox: messages with the same ordering key one at a time, in the order of their numbers.
    pub order: Option<InOrder>,
}

/// How an ordered lane is claimed from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InOrder {
    /// Whether a dead message is passed over; otherwise it holds back those behind it.
    pub skip_dead: bool,
    /// The key after which to begin: the one that was served last, so that each key gets its turn.
    pub after: Option<String>,
}

/// A destination that has failed since it last answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitRecord {
    /// The destination's name.
    pub destination: String,
    /// Failures in a row.
    pub failures: i64,
    /// How often its circuit opened since it last answered.
    pub openings: i64,
    /// `closed`, `half_open` or `open`.
    pub state: String,
    /// The code of the last failure.
    pub last_error: Option<String>,
    /// When that was.
    pub failed_at: Timestamp,
    /// When the circuit lets a probe through, or did.
    pub open_until: Option<Timestamp>,
}

/// A handler that works on events of one endpoint. While it is paused or has no room, they wait.
#[derive(Clone, Debug)]
pub struct Taker {
    /// Its name.
    pub handler: Arc<str>,
    /// The globs over the event type by which its routes take events; see [`crate::routing::TypeGlob`].
    pub types: Arc<[String]>,
    /// How many events more it can work on now, over all lanes; `None`: as many as there are hands.
    pub room: Option<u32>,
}

/// The takers of these lanes, for a statement: JSON, their globs as the dialect's patterns.
pub(super) fn takers(lanes: &[Lane], pattern: fn(&str) -> String) -> String {
    let of_lane = |lane: &Lane| {
        let endpoint = Arc::clone(&lane.name);
        lane.takers.clone().into_iter().map(move |taker| {
            let types: Vec<String> = taker.types.iter().map(|glob| pattern(glob)).collect();
            json!({ "endpoint": &*endpoint, "handler": &*taker.handler, "types": types, "room": taker.room })
        })
    };
    lanes.iter().flat_map(of_lane).collect::<Value>().to_string()
}

/// Until the next attempt, for a statement.
pub(super) fn delay_seconds(next: &Next) -> Option<f64> {
    match next {
        Next::Retry { after } => Some(after.as_secs_f64()),
        Next::Review { .. } => None,
    }
}

/// Why a person must look, for a statement.
pub(super) fn review_reason(next: &Next) -> Option<&str> {
    match next {
        Next::Retry { .. } => None,
        Next::Review { reason } => Some(reason),
    }
}

/// What a statement says of the next row: no moment that has passed.
pub(super) fn wait(seconds: Option<f64>) -> Option<Duration> {
    seconds.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default())
}
