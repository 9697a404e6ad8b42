//! What comes of asking a destination while a provider waits for the answer.

use bytes::Bytes;

use super::{Attempt, AttemptOutcome, Headers};

/// An answer of a destination, as it goes on to the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Its headers, without those of the connection and of the destination's host.
    pub headers: Headers,
    /// Its body, whole.
    pub body: Bytes,
}

/// How asking a destination ended.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The try, as deliveries record it.
    pub attempt: Attempt,
    /// What the destination answered, if it did.
    pub answer: Option<Answer>,
    /// Whether anything may have reached it: there was a connection, or that is unknown.
    pub may_have_arrived: bool,
}

impl Asked {
    /// Whether the destination has taken the event.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.attempt.outcome == AttemptOutcome::Succeeded
    }

    /// Whether it certainly has not, so that a copy of the event may be sent: it was not reached, or it answered so.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        !self.is_taken() && (self.answer.is_some() || !self.may_have_arrived)
    }
}
