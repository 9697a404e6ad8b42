//! When a destination is taken for broken, and what one attempt says about that.

use std::time::Duration;

use super::{Attempt, AttemptOutcome};

/// After so many failures in a row nothing is sent to a destination for a while, then one message as a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// Failures in a row that open it.
    pub failures: u32,
    /// For how long it opens the first time; each failed probe doubles that, up to [`Circuit::longest`].
    pub open: Duration,
}

impl Circuit {
    /// The longest time between two probes: ten minutes, or `open` if that is longer.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.open.max(Duration::from_mins(10))
    }
}

/// What one attempt says about its destination, whatever it says about the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It answered, if only to refuse this one message.
    Well,
    /// It cannot be reached, does not answer, or says that it is in trouble.
    Sick,
    /// The attempt never left, so it says nothing.
    Unknown,
}

impl Attempt {
    /// Trouble of the destination's own: no answer at all, 5xx, 408 and 429. Every other answer shows that it works,
    /// also one that refuses the message or sends it elsewhere. What this gateway itself did not send says nothing.
    #[must_use]
    pub fn health(&self) -> Health {
        match (&self.outcome, self.status, self.error.as_deref()) {
            (AttemptOutcome::Succeeded, ..) => Health::Well,
            (_, Some(408 | 429 | 500..=599), _) => Health::Sick,
            (_, Some(_), _) => Health::Well,
            (AttemptOutcome::Rejected, None, _)
            | (_, None, Some("blocked_address" | "destination.unknown")) => Health::Unknown,
            (AttemptOutcome::Failed, None, _) => Health::Sick,
        }
    }
}
