//! Requests that go no further than the front: what the client is told, and how it is counted.

use http::StatusCode;
use uuid::Uuid;

use crate::model::{Outcome, Reason, Rejection};
use crate::receive::{Fault, Receipt};

/// Why a request to an endpoint was not handed to the receiver (or did not come back).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No `Host`, or several.
    Host,
    /// A method that the provider does not use.
    Method,
    /// As many requests as are allowed are being worked on, or the memory for requests is used up.
    Overloaded,
    /// The body is larger than this many bytes.
    TooLarge { limit: usize },
    /// The body did not come in time, or too slowly.
    BodyTimeout,
    /// The body ended before its end, or its framing is wrong.
    BodyBroken,
    /// A fault of ours.
    Crashed,
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::BodyBroken => StatusCode::BAD_REQUEST,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::Crashed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Host => "The request must name its host exactly once",
            Self::Method => "This path does not take this method",
            Self::Overloaded => "Too many requests at once, please send it again",
            Self::TooLarge { .. } => "The body is too large",
            Self::BodyTimeout => "The body did not arrive in time",
            Self::BodyBroken => "The body is incomplete or badly framed",
            Self::Crashed => "Internal error, please send it again",
        }
    }

    pub(super) fn detail(self) -> Option<String> {
        match self {
            Self::TooLarge { limit } => Some(format!("At most {limit} bytes are accepted.")),
            _ => None,
        }
    }

    /// The receipt by which it is counted and logged.
    pub(super) fn receipt(self) -> Receipt {
        let rejection = match self {
            Self::Method => Some(Rejection::new(Reason::Method, self.title())),
            Self::TooLarge { .. } => Some(Rejection::new(Reason::TooLarge, self.title())),
            _ => None,
        };
        let fault = match self {
            Self::Overloaded => Some(Fault::Busy { code: "overloaded".into() }),
            Self::Crashed => Some(Fault::Handler { code: "panic".into() }),
            _ => None,
        };
        let outcome = if fault.is_some() { Outcome::Error } else { Outcome::Rejected };
        Receipt { outcome, rejection, fault, ..Receipt::new(Uuid::now_v7()) }
    }
}
