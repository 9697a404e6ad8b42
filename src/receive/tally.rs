//! Verified events and duplicates by endpoint, counted in memory and flushed to the store off the reply path.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracing::warn;

use crate::store::Ledger;

/// The counts that the store does not have yet.
pub struct Tally(HashMap<Arc<str>, Counts>);

#[derive(Default)]
struct Counts {
    events: AtomicU64,
    duplicates: AtomicU64,
}

impl Tally {
    /// A tally of these endpoints.
    pub fn new(endpoints: impl IntoIterator<Item = Arc<str>>) -> Self {
        Self(endpoints.into_iter().map(|name| (name, Counts::default())).collect())
    }

    pub(super) fn add(&self, endpoint: &str, events: usize, duplicates: usize) {
        if let Some(counts) = self.0.get(endpoint) {
            counts.events.fetch_add(events as u64, Relaxed);
            counts.duplicates.fetch_add(duplicates as u64, Relaxed);
        }
    }

    /// Adds what was counted to the store's hourly counts; what could not be written is kept for the next time.
    pub async fn flush(&self, ledger: &dyn Ledger) {
        for (endpoint, counts) in &self.0 {
            let (events, duplicates) = (counts.events.swap(0, Relaxed), counts.duplicates.swap(0, Relaxed));
            if events == 0 && duplicates == 0 {
                continue;
            }
            if let Err(error) = ledger.count_events(endpoint, events, duplicates).await {
                warn!(endpoint = &**endpoint, code = error.code(), %error, "tally.not_flushed");
                counts.events.fetch_add(events, Relaxed);
                counts.duplicates.fetch_add(duplicates, Relaxed);
            }
        }
    }
}
