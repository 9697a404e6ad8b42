//! Rows as operators see them. Names and words are those of the tables.

use bytes::Bytes;
use serde::Serialize;

use super::{Filter, QueueName};
use crate::clock::Timestamp;
use crate::model::Headers;

/// One event, without its content.
#[derive(Clone, Debug, Serialize)]
pub struct EventRecord {
    /// Provider id.
    pub provider: String,
    /// Endpoint.
    pub endpoint: String,
    /// The provider's id of it.
    pub event_id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// See [`super::State`].
    pub state: String,
    /// When it was stored.
    pub received_at: Timestamp,
    /// When it happened, in the provider's words.
    pub occurred_at: Option<Timestamp>,
    /// When its work was done.
    pub processed_at: Option<Timestamp>,
    /// When the next attempt is due, if it waits for one.
    pub available_at: Option<Timestamp>,
    /// Until when a worker has it in hand.
    pub lease_until: Option<Timestamp>,
    /// Claims.
    pub attempts: i64,
    /// Those that ended with the process or its lease.
    pub crash_attempts: i64,
    /// The code of the last failure.
    pub last_error: Option<String>,
    /// Since when a person must look.
    pub review_at: Option<Timestamp>,
    /// Why.
    pub review_reason: Option<String>,
    /// Its number in the order of arrival.
    pub seq: i64,
}

/// One event with its content.
#[derive(Clone, Debug)]
pub struct EventDetail {
    /// The row.
    pub record: EventRecord,
    /// The tenant or account at the provider.
    pub account: Option<String>,
    /// Events with the same key may be handled in order.
    pub ordering_key: Option<String>,
    /// The inbound request.
    pub request_id: String,
    /// Its place in its batch.
    pub item_index: i64,
    /// Its bytes and headers.
    pub content: ContentRecord,
    /// The messages that it caused.
    pub deliveries: Vec<DeliveryRecord>,
    /// How the last exchange with the destination of its proxy endpoint ended, if its end was recorded.
    pub exchange: Option<ExchangeRecord>,
}

/// The recorded end of an exchange.
#[derive(Clone, Debug, Serialize)]
pub struct ExchangeRecord {
    /// Who was asked.
    pub destination: String,
    /// `webhook-id`
    pub message_id: String,
    /// Which exchange of the event it was, from 1.
    pub attempt: i64,
    /// `succeeded`, `failed` or `rejected`.
    pub outcome: String,
    /// Whether a copy of the event is sent.
    pub repeatable: bool,
    /// The status of the answer.
    pub status: Option<i64>,
    /// The code of what went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: i64,
    /// When it was recorded.
    pub ended_at: Timestamp,
    /// How long the answer's body was; only the first 64 KiB are kept.
    pub body_bytes: Option<i64>,
    /// What was answered.
    #[serde(skip)]
    pub content: Option<ContentRecord>,
}

/// Bytes and headers as they are stored.
#[derive(Clone, Debug)]
pub struct ContentRecord {
    /// `content-type`
    pub content_type: Option<String>,
    /// Headers, credentials removed.
    pub headers: Headers,
    /// The bytes.
    pub body: Bytes,
    /// SHA-256 of the bytes as they came, in hexadecimal digits; of a handler's message there is none.
    pub body_sha256: Option<String>,
}

/// One message to a destination, without its content.
#[derive(Clone, Debug, Serialize)]
pub struct DeliveryRecord {
    /// `outbox.id`
    pub id: i64,
    /// Where it goes.
    pub destination: String,
    /// Provider id of its event.
    pub provider: String,
    /// Endpoint of its event.
    pub endpoint: String,
    /// Its event.
    pub event_id: String,
    /// The event's type, or what a handler called its message.
    #[serde(rename = "type")]
    pub event_type: String,
    /// `webhook-id`
    pub message_id: String,
    /// The handler that wrote it, or `forward`.
    pub route: Option<String>,
    /// See [`super::State`].
    pub state: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When its destination took it.
    pub published_at: Option<Timestamp>,
    /// When the next attempt is due, if it waits for one.
    pub available_at: Option<Timestamp>,
    /// Claims.
    pub attempts: i64,
    /// Those that ended with the process or its lease.
    pub crash_attempts: i64,
    /// The code of the last failure.
    pub last_error: Option<String>,
    /// Since when a person must look.
    pub review_at: Option<Timestamp>,
    /// Why.
    pub review_reason: Option<String>,
}

/// One message with its content and its attempts.
#[derive(Clone, Debug)]
pub struct DeliveryDetail {
    /// The row.
    pub record: DeliveryRecord,
    /// What it carries.
    pub content: ContentRecord,
    /// The tries, oldest first, the last hundred.
    pub attempts: Vec<AttemptRecord>,
}

/// One try to deliver a message.
#[derive(Clone, Debug, Serialize)]
pub struct AttemptRecord {
    /// Its number.
    pub attempt: i64,
    /// When.
    pub attempted_at: Timestamp,
    /// `succeeded`, `failed` or `rejected`.
    pub outcome: String,
    /// The HTTP status.
    pub status: Option<i64>,
    /// A code.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: i64,
    /// Whether somebody else had taken the message over by then.
    pub lease_lost: bool,
}

/// One row that waits for a person, of either queue.
#[derive(Clone, Debug, Serialize)]
pub struct DeadRecord {
    /// Which queue.
    pub queue: QueueName,
    /// `outbox.id` of a message.
    pub message: Option<i64>,
    /// Where a message goes.
    pub destination: Option<String>,
    /// Provider id.
    pub provider: String,
    /// Endpoint.
    pub endpoint: String,
    /// The event.
    pub event_id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// `dead` or `flagged`.
    pub state: String,
    /// When the event was received, or the message written.
    pub received_at: Timestamp,
    /// Since when it waits.
    pub review_at: Timestamp,
    /// Why.
    pub review_reason: String,
    /// Claims.
    pub attempts: i64,
    /// The code of the last failure.
    pub last_error: Option<String>,
}

/// One request that became no event, without its content.
#[derive(Clone, Debug, Serialize)]
pub struct QuarantineRecord {
    /// `quarantine.id`
    pub id: i64,
    /// Provider id.
    pub provider: String,
    /// Endpoint.
    pub endpoint: String,
    /// The rejection reason, or `conflict`.
    pub reason: String,
    /// The likely cause, where one was found.
    pub hint: Option<String>,
    /// What was seen and what was expected.
    pub detail: String,
    /// The event's id, where there is one.
    pub event_id: Option<String>,
    /// Whether it was proved genuine when it came.
    pub verified: bool,
    /// The method.
    pub method: Option<String>,
    /// Path and query, credentials removed.
    pub url: Option<String>,
    /// The client's address.
    pub peer: Option<String>,
    /// How often it came.
    pub copies: i64,
    /// When it came first.
    pub received_at: Timestamp,
    /// When it came last.
    pub last_received_at: Timestamp,
    /// When it was last tried to release it.
    pub checked_at: Option<Timestamp>,
    /// Why it stayed then.
    pub checked_reason: Option<String>,
    /// When it was released.
    pub released_at: Option<Timestamp>,
    /// Who released it.
    pub released_by: Option<String>,
    /// The size of its body.
    pub body_bytes: i64,
}

/// One request that became no event, with its content.
#[derive(Clone, Debug)]
pub struct QuarantineDetail {
    /// The row.
    pub record: QuarantineRecord,
    /// The inbound request.
    pub request_id: String,
    /// Whether a listed proxy sent it.
    pub by_proxy: bool,
    /// JSON: salted digests of the credentials that were removed. Nothing to show.
    pub credentials: Option<String>,
    /// Its bytes and headers.
    pub content: ContentRecord,
}

/// How many events of one endpoint can be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replayable {
    /// The endpoint.
    pub endpoint: String,
    /// Processed events that the filter means.
    pub events: i64,
    /// Those whose payload retention has removed.
    pub payload_gone: i64,
}

/// An order to replay.
#[derive(Clone, Debug)]
pub struct NewReplay {
    /// Events of this endpoint.
    pub endpoint: String,
    /// Which of them.
    pub filter: Filter,
    /// One route's name; `None`: all of them.
    pub route: Option<String>,
    /// Whether deliveries get a `webhook-id` of this replay's own.
    pub new_ids: bool,
    /// Events a second.
    pub rate: Option<f64>,
    /// Who ordered it.
    pub who: String,
    /// How many events there were when they were counted.
    pub total: i64,
}

/// How far a replay is.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayRecord {
    /// Its number.
    pub id: i64,
    /// The endpoint.
    pub endpoint: String,
    /// Which events.
    pub filter: Filter,
    /// One route's name.
    pub route: Option<String>,
    /// Whether deliveries get a `webhook-id` of this replay's own.
    pub new_ids: bool,
    /// Events a second.
    pub rate: Option<f64>,
    /// Who ordered it.
    pub ordered_by: String,
    /// When.
    pub ordered_at: Timestamp,
    /// How many events there were.
    pub total: i64,
    /// Worked on.
    pub done: i64,
    /// Could not be worked on.
    pub failed: i64,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// `done`, `cancelled` or `failed`.
    pub outcome: Option<String>,
    /// Why it could not go on.
    pub error: Option<String>,
    /// Events that could not be worked on, the last hundred: id and code.
    pub failures: Vec<(String, String)>,
}

/// What an operator can hold back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pausable {
    /// Its events wait; in `sync` mode they are answered 503.
    Endpoint,
    /// The events wait that its routes would take.
    Handler,
    /// Its messages wait.
    Destination,
}

impl Pausable {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Endpoint, Self::Handler, Self::Destination];

    /// The word in the table, in commands and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Handler => "handler",
            Self::Destination => "destination",
        }
    }
}

/// Something that is held back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pause {
    /// What it is.
    pub kind: Pausable,
    /// Its name.
    pub name: String,
    /// Since when.
    pub paused_at: Timestamp,
    /// By whose order.
    pub who: String,
    /// Why.
    pub reason: Option<String>,
}
