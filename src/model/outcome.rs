//! How requests and events end.

use std::borrow::Cow;

use bytes::Bytes;

/// The outcome of an event or of a whole request, as the reply, the metrics and the log call it.
///
/// The order is the one by which a batch is judged: its outcome is the greatest one of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A handshake was answered; there is no event.
    Handshake,
    /// Known already; nothing was done.
    Duplicate,
    /// Nobody wanted it; recorded.
    Ignored,
    /// Durable; the work follows.
    Accepted,
    /// The work is done and committed.
    Processed,
    /// The same id came with another body; the first one is kept.
    Conflict,
    /// Not genuine, or genuine but unusable; see [`Reason`].
    Rejected,
    /// We failed; the provider should send again.
    Error,
}

impl Outcome {
    /// All outcomes, so that every metric child exists from the start.
    pub const ALL: [Self; 8] = [
        Self::Handshake,
        Self::Duplicate,
        Self::Ignored,
        Self::Accepted,
        Self::Processed,
        Self::Conflict,
        Self::Rejected,
        Self::Error,
    ];

    /// The word in replies, tables, metrics and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Duplicate => "duplicate",
            Self::Ignored => "ignored",
            Self::Accepted => "accepted",
            Self::Processed => "processed",
            Self::Conflict => "conflict",
            Self::Rejected => "rejected",
            Self::Error => "error",
        }
    }
}

/// Why a request was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A header or field that the signature needs is not there.
    MissingSignature,
    /// It is there, but it is not in the provider's form.
    MalformedSignature,
    /// No live secret makes this signature over these bytes.
    SignatureMismatch,
    /// Signed too long ago.
    StaleTimestamp,
    /// Signed too far in the future.
    FutureTimestamp,
    /// The request names a key that the provider does not publish.
    UnknownKey,
    /// We could not get the key: our fault, 503.
    KeyUnavailable,
    /// Genuine, but of another environment than this endpoint expects (test events on a live endpoint).
    WrongEnvironment,
    /// A condition of the provider's definition does not hold.
    Precondition,
    /// Genuine, but the body cannot be read.
    MalformedBody,
    /// Genuine, but there is no event id, so nothing can be deduplicated.
    NoEventId,
    /// The body is larger than the endpoint allows.
    TooLarge,
    /// The endpoint does not take this method.
    Method,
    /// Too many rejected requests from this peer.
    RateLimited,
    /// A handshake that does not carry the expected token.
    HandshakeMismatch,
}

impl Reason {
    /// All reasons, so that every metric child exists from the start.
    pub const ALL: [Self; 15] = [
        Self::MissingSignature,
        Self::MalformedSignature,
        Self::SignatureMismatch,
        Self::StaleTimestamp,
        Self::FutureTimestamp,
        Self::UnknownKey,
        Self::KeyUnavailable,
        Self::WrongEnvironment,
        Self::Precondition,
        Self::MalformedBody,
        Self::NoEventId,
        Self::TooLarge,
        Self::Method,
        Self::RateLimited,
        Self::HandshakeMismatch,
    ];

    /// The word in metrics, logs and `hookgate verify`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingSignature => "missing_signature",
            Self::MalformedSignature => "malformed_signature",
            Self::SignatureMismatch => "signature_mismatch",
            Self::StaleTimestamp => "stale_timestamp",
            Self::FutureTimestamp => "future_timestamp",
            Self::UnknownKey => "unknown_key",
            Self::KeyUnavailable => "key_unavailable",
            Self::WrongEnvironment => "wrong_environment",
            Self::Precondition => "precondition",
            Self::MalformedBody => "malformed_body",
            Self::NoEventId => "no_event_id",
            Self::TooLarge => "too_large",
            Self::Method => "method",
            Self::RateLimited => "rate_limited",
            Self::HandshakeMismatch => "handshake_mismatch",
        }
    }

    /// Whether a request that was proved genuine would vanish if it were not kept: it has no key in the inbox.
    #[must_use]
    pub fn must_be_kept(self) -> bool {
        matches!(self, Self::MalformedBody | Self::NoEventId)
    }
}

/// A request that goes no further, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The reason, a closed set.
    pub reason: Reason,
    /// For the operator, one sentence with what was seen and what was expected. Never a secret or a signature.
    pub detail: Cow<'static, str>,
}

impl Rejection {
    /// A rejection with its explanation.
    pub fn new(reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

/// What the provider gets to see: an answer without a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Further headers, names in lower case; `content-type` is among them if there is a body.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}
