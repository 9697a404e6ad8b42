//! So many deliveries in a time, evenly. Pure: the moment is an argument.
//!
//! The generic cell rate algorithm: one moment is kept, that at which the next delivery would be due if all came evenly.
//! (`governor` does the same, but asking it how many may go takes them, and a claim asks before it knows how many rows
//! there are.)

use std::time::Duration;

use tokio::time::Instant;

use crate::config::Rate;

/// How much of a rate may go at once.
const BURST: Duration = Duration::from_millis(100);

pub(super) struct Pace {
    /// Between two deliveries.
    period: Duration,
    /// How far ahead of an even flow deliveries may run.
    ahead: Duration,
    /// When the next one is due.
    next: Instant,
}

impl Pace {
    pub(super) fn new(rate: Rate, now: Instant) -> Self {
        let period = (rate.per / rate.count).max(Duration::from_nanos(1));
        Self { period, ahead: BURST.saturating_sub(period), next: now }
    }

    /// How many may go now.
    pub(super) fn free(&self, now: Instant) -> usize {
        let open = (now + self.ahead).checked_duration_since(self.next.max(now));
        open.map_or(0, |open| {
            usize::try_from(open.as_nanos() / self.period.as_nanos()).unwrap_or(usize::MAX).saturating_add(1)
        })
    }

    /// One goes.
    pub(super) fn take(&mut self, now: Instant) {
        self.next = self.next.max(now) + self.period;
    }

    /// Until one may go.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        self.next.saturating_duration_since(now + self.ahead)
    }
}
