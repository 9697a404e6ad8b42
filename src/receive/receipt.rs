//! What came of one request: everything that the reply, the metrics and the canonical log line need.

use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::model::{Answer, Attempt, NewEvent, Outcome, Rejection, Reply};
use crate::process::HandlerRun;

/// What came of one request.
#[derive(Debug)]
pub struct Receipt {
    /// The id of the request, also `webhook_inbox.request_id`.
    pub request_id: Uuid,
    /// The request's outcome: the worst of its events.
    pub outcome: Outcome,
    /// Whether it was proved genuine.
    pub verified: bool,
    /// The position of the secret that proved it, from 1.
    pub secret: Option<usize>,
    /// Its events in the order of the request.
    pub events: Vec<EventReceipt>,
    /// Why it was rejected.
    pub rejection: Option<Rejection>,
    /// For the operator: the likely cause of a rejection.
    pub hint: Option<String>,
    /// What kept us from doing the work.
    pub fault: Option<Fault>,
    /// The answer to a handshake, or the success reply where it has values of the request in it.
    pub reply: Option<Reply>,
    /// What the destination of a proxy endpoint answered, now or to the first copy: it is the reply.
    pub answer: Option<Answer>,
}

impl Receipt {
    /// A receipt that says nothing yet; also for requests that never reach the receiver.
    pub(crate) fn new(request_id: Uuid) -> Self {
        Self {
            request_id,
            outcome: Outcome::Handshake,
            verified: false,
            secret: None,
            events: Vec::new(),
            rejection: None,
            hint: None,
            fault: None,
            reply: None,
            answer: None,
        }
    }

    /// Adds an event; the request's outcome is the worst of its events.
    pub(super) fn add(&mut self, event: EventReceipt) {
        self.outcome = self.outcome.max(event.outcome);
        self.events.push(event);
    }

    pub(super) fn faulty(self, fault: Fault) -> Self {
        Self { outcome: Outcome::Error, fault: Some(fault), ..self }
    }
}

/// What came of one event of a request.
#[derive(Debug)]
pub struct EventReceipt {
    /// The provider's id.
    pub event_id: String,
    /// The provider's word for what happened.
    pub event_type: String,
    /// What became of it.
    pub outcome: Outcome,
    /// For a duplicate or a conflict: when the first copy was stored.
    pub first_received_at: Option<Timestamp>,
    /// The handlers that ran within this request (`sync` only).
    pub runs: Vec<HandlerRun>,
    /// From the first storing of the event to the end of its work (`sync` only).
    pub lag: Option<Duration>,
    /// The destination that was asked within this request, and how that ended (`proxy` only).
    pub asked: Option<(Arc<str>, Attempt)>,
}

impl EventReceipt {
    pub(super) fn new(event: &NewEvent, outcome: Outcome) -> Self {
        Self {
            event_id: event.key.event_id.clone(),
            event_type: event.event_type.clone(),
            outcome,
            first_received_at: None,
            runs: Vec::new(),
            lag: None,
            asked: None,
        }
    }

    pub(super) fn known(event: &NewEvent, outcome: Outcome, first_received_at: Timestamp) -> Self {
        Self { first_received_at: Some(first_received_at), ..Self::new(event, outcome) }
    }
}

/// Why a genuine request could not be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A handler failed, and all was rolled back: 500.
    Handler {
        /// For the log: see [`crate::model::Failure::code`].
        code: String,
    },
    /// The database, or a copy of the same event that is still at work, took too long: 503.
    Busy {
        /// For the log.
        code: String,
    },
    /// The destination of a proxy endpoint has not taken the event, or nobody knows whether it has.
    Destination {
        /// For the log.
        code: String,
        /// Whether a copy of the event is sent (503) or not (502).
        is_repeatable: bool,
    },
}

impl Fault {
    /// The HTTP status that tells the provider to send again.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Handler { .. } => 500,
            Self::Busy { .. } | Self::Destination { is_repeatable: true, .. } => 503,
            Self::Destination { is_repeatable: false, .. } => 502,
        }
    }

    /// For the log: a code without values.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Handler { code } | Self::Busy { code } | Self::Destination { code, .. } => code,
        }
    }
}
