//! An event: one occurrence at a provider, as it arrives and as it is stored.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;

use super::Headers;
use crate::clock::Timestamp;

/// What makes an event the same event: the primary key of the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventKey {
    /// The provider definition's id, for example `stripe`.
    pub provider: Arc<str>,
    /// The endpoint's name in the config. Aliased paths share it.
    pub endpoint: Arc<str>,
    /// The provider's id of the event, stable over redeliveries.
    pub event_id: String,
}

impl EventKey {
    /// The key to hand to another system for one operation on behalf of this event: the same over attempts,
    /// replays and replicas. `operation` names what is done, for example `update-customer-metadata`.
    #[must_use]
    pub fn idempotency_key(&self, operation: &str) -> String {
        format!("webhook:{self}:{operation}")
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.provider, self.endpoint, self.event_id)
    }
}

/// A row of the inbox as a worker claims it.
#[derive(Clone, Debug)]
pub struct DueEvent {
    /// The primary key.
    pub key: EventKey,
    /// The provider's word for what happened: it says which handlers will take it.
    pub event_type: String,
}

impl Deref for DueEvent {
    type Target = EventKey;

    fn deref(&self) -> &EventKey {
        &self.key
    }
}

/// A verified and mapped event that is about to be written to the inbox.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// The primary key.
    pub key: EventKey,
    /// The provider's word for what happened, for example `invoice.paid`; may be empty.
    pub event_type: String,
    /// When it happened, in the provider's words.
    pub occurred_at: Option<Timestamp>,
    /// The tenant or account at the provider that the event is about.
    pub account: Option<String>,
    /// Events with the same key may be handled in order.
    pub ordering_key: Option<String>,
    /// Whether it waits for those of its key that came before it.
    pub ordered: bool,
    /// A newer state of what the key names has a greater one; only where the config says where it stands.
    pub version: Option<i64>,
    /// `content-type` of the request.
    pub content_type: Option<String>,
    /// The request's headers, credentials removed.
    pub headers: Arc<Headers>,
    /// The event's own bytes: the request's body, or the item's slice of a batch.
    pub body: Bytes,
    /// SHA-256 of `body`.
    pub body_sha256: [u8; 32],
    /// The inbound request that brought it.
    pub request_id: Uuid,
    /// The position in its batch, from 1; 0 for a single event.
    pub item_index: i32,
    /// The request as it came, where this is an item of a batch: kept once, beside its events.
    pub request: Option<Arc<BatchRequest>>,
    /// W3C `traceparent` to continue when the event is worked on.
    pub trace_context: Option<String>,
}

/// A request that holds several events, as it came.
#[derive(Debug)]
pub struct BatchRequest {
    /// [`NewEvent::request_id`] of its events.
    pub id: Uuid,
    /// The endpoint's name.
    pub endpoint: Arc<str>,
    /// Its headers, credentials removed.
    pub headers: Arc<Headers>,
    /// Its body.
    pub body: Bytes,
}

/// A stored event, as handlers and destinations see it.
#[derive(Clone, Debug)]
pub struct Event {
    /// The primary key.
    pub key: EventKey,
    /// The provider's word for what happened.
    pub event_type: String,
    /// When it happened, in the provider's words.
    pub occurred_at: Option<Timestamp>,
    /// When the gateway stored it (the database's clock).
    pub received_at: Timestamp,
    /// The tenant or account at the provider.
    pub account: Option<String>,
    /// Events with the same key may be handled in order.
    pub ordering_key: Option<String>,
    /// See [`NewEvent::version`].
    pub version: Option<i64>,
    /// `content-type` of the request.
    pub content_type: Option<String>,
    /// The request's headers, credentials removed.
    pub headers: Arc<Headers>,
    /// The event's own bytes, exactly as they came.
    pub body: Bytes,
    /// The event as JSON, where its bytes are none: known while its handlers run.
    pub document: Option<Bytes>,
    /// W3C `traceparent` of the request.
    pub trace_context: Option<String>,
}

impl Event {
    /// The event as JSON, if it is any.
    #[must_use]
    pub fn json(&self) -> &Bytes {
        self.document.as_ref().unwrap_or(&self.body)
    }

    /// See [`EventKey::idempotency_key`].
    #[must_use]
    pub fn idempotency_key(&self, operation: &str) -> String {
        self.key.idempotency_key(operation)
    }
}
