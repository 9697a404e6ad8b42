//! Outbox messages: one event, or one message of a handler, for one destination.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{EventKey, Headers};
use crate::clock::Timestamp;

/// The destination of calls that confirm subscriptions. No configured destination can have this name.
pub const CONFIRMATIONS: &str = "(confirmations)";

/// A stored header of a forwarded event whose body is not the provider's but a route's transform of it. No request
/// can bring a header of this name, which no HTTP parser takes.
pub const TRANSFORMED: &str = "(transformed)";

/// What a message carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A handler's message: JSON text.
    Payload(String),
    /// A forwarded event: the provider's bytes.
    Body(Bytes),
}

/// A message that a handler writes to the outbox, in the event's own transaction.
///
/// Where it goes is the route's business (`emit` in the config), not the handler's.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// What kind of thing the message is about, for example `Invoice`.
    pub aggregate_type: String,
    /// Which one, for example the invoice's id.
    pub aggregate_id: String,
    /// What happened to it, for example `InvoicePaymentBooked`.
    pub event_type: String,
    /// JSON text.
    pub payload: String,
}

/// A stored message, as the dispatcher sees it. It carries all that a delivery needs, so that it can be sent even
/// after the inbox row's payload has been pruned.
#[derive(Clone, Debug)]
pub struct Message {
    /// `outbox.id`.
    pub id: i64,
    /// The event that caused it.
    pub key: EventKey,
    /// `Invoice` and the like, or `webhook_event` for a forwarded event.
    pub aggregate_type: String,
    /// The aggregate's id, or the event id of a forwarded event.
    pub aggregate_id: String,
    /// `InvoicePaymentBooked` and the like, or the provider's event type.
    pub event_type: String,
    /// The content.
    pub content: Content,
    /// `content-type` of a forwarded body.
    pub content_type: Option<String>,
    /// The headers of a forwarded event's request, as stored.
    pub headers: Option<Headers>,
    /// When the event was received (the database's clock).
    pub received_at: Timestamp,
    /// The destination's name.
    pub destination: Arc<str>,
    /// `webhook-id`: the same over all attempts.
    pub message_id: String,
    /// When the message was written, or was last redriven by a person (the database's clock): its age counts from here.
    pub born_at: Timestamp,
    /// Messages with the same one belong in the order of their ids: the event's own, unless a handler said otherwise.
    pub ordering_key: Option<String>,
    /// Whether it is sent to see if its destination is well again, while nothing else is.
    pub probe: bool,
    /// W3C `traceparent` of the event's request.
    pub trace_context: Option<String>,
}

/// How one try to deliver a message ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The destination took it.
    Succeeded,
    /// It did not, and another try may help.
    Failed,
    /// It did not, and no further try will help.
    Rejected,
}

impl AttemptOutcome {
    /// The word in tables, metrics and logs.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }
}

/// One try to deliver a message, as it is recorded.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// A code such as `status.503`, `timeout`, `connect`, `blocked_address`; `None` on success.
    pub error: Option<String>,
    /// From the first byte sent to the end of the answer.
    pub duration: Duration,
    /// What the destination asked for with `Retry-After`.
    pub retry_after: Option<Duration>,
}
