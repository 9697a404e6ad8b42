//! Time as an argument: the one place that reads the wall clock.
//!
//! Everything that decides by time takes a [`Clock`] or a plain [`Timestamp`]. Leases, due times and stored
//! times come from the *database's* clock; this one serves signature freshness, log lines and durations.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A moment in UTC, kept to the microsecond (what both databases can hold).
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// Where "now" comes from.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place where the wall clock is read")]
    fn now(&self) -> Timestamp {
        std::time::SystemTime::now().into()
    }
}

/// A clock that stands still until it is told to move, for tests and for `verify --at`.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Timestamp>>);

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(now)))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
