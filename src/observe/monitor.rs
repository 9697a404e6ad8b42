//! Asks the store in the background: does it answer, and what waits?
//!
//! Neither `/metrics` nor `/readyz` costs a query, however often a stranger asks for them, and no client that hangs
//! up can cut a query short.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::Metrics;
use crate::clock::{Clock as _, SystemClock};
use crate::store::{Ledger, SecretUse, StoreError};

/// How often the store is asked.
pub const INTERVAL: Duration = Duration::from_secs(2);

/// What the monitor last saw, for `/readyz`.
#[derive(Debug)]
pub struct StoreHealth {
    good_for: Duration,
    seen: Mutex<Option<Instant>>,
}

impl StoreHealth {
    /// Whether the store answered lately and its schema was current.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.lock().is_some_and(|at| at.elapsed() < self.good_for)
    }

    fn set(&self, seen: Option<Instant>) {
        *self.lock() = seen;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The background task.
pub struct Monitor {
    ledger: Arc<dyn Ledger>,
    metrics: Arc<Metrics>,
    health: Arc<StoreHealth>,
    interval: Duration,
    /// What the hourly counts already hold: verified events and duplicates since the start.
    flushed: HashMap<Arc<str>, (u64, u64)>,
    /// The matches of secrets that the store knows of, by endpoint and fingerprint.
    matched: HashMap<(Arc<str>, String), u64>,
}

impl Monitor {
    /// A monitor that asks every `interval`; what it saw counts for five intervals, so that a query that hangs makes
    /// the gateway unready too.
    #[must_use]
    pub fn new(ledger: Arc<dyn Ledger>, metrics: Arc<Metrics>, interval: Duration) -> Self {
        let health = Arc::new(StoreHealth { good_for: interval * 5, seen: Mutex::new(None) });
        Self { ledger, metrics, health, interval, flushed: HashMap::new(), matched: HashMap::new() }
    }

    /// What it saw last.
    #[must_use]
    pub fn health(&self) -> Arc<StoreHealth> {
        Arc::clone(&self.health)
    }

    /// Asks at once and then every interval, until `stop`; then writes the last counts.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut was_up = None;
        loop {
            let asked = self.ask().await;
            if was_up != Some(asked.is_ok()) {
                was_up = Some(asked.is_ok());
                tell(&asked);
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval) => {}
                () = stop.cancelled() => break,
            }
        }
        if let Err(error) = self.flush_counts().await {
            warn!(code = error.code(), %error, "store.counts_lost");
        }
    }

    async fn ask(&mut self) -> Result<(), StoreError> {
        let asked = self.ask_all().await;
        self.metrics.connections(self.ledger.connections());
        self.health.set(asked.is_ok().then(Instant::now));
        if asked.is_err() {
            self.metrics.store_failed();
        }
        asked
    }

    async fn ask_all(&mut self) -> Result<(), StoreError> {
        self.ledger.ready().await?;
        self.ask_condition().await?;
        let (inbox, outbox) = self.ledger.backlog().await?;
        self.metrics.backlog(&inbox, &outbox);
        self.metrics.paused(&self.ledger.pauses().await?);
        self.metrics.quarantine(&self.ledger.quarantine_rows(&self.metrics.endpoint_names()).await?);
        self.metrics.circuits(&self.ledger.circuits().await?);
        self.flush_counts().await?;
        for (endpoint, at) in self.ledger.last_verified().await? {
            self.metrics.verified(&endpoint, at);
        }
        Ok(())
    }

    /// The database's clock is compared with the middle of the question and its answer.
    async fn ask_condition(&self) -> Result<(), StoreError> {
        let asked = SystemClock.now();
        let condition = self.ledger.condition().await?;
        let middle = asked + (SystemClock.now() - asked) / 2;
        self.metrics.condition((condition.now - middle).as_seconds_f64(), condition.durable);
        Ok(())
    }

    /// Adds what was counted since the last time to the store's hourly counts, from which `backlog` takes the
    /// duplicate rate. What could not be written is written the next time.
    async fn flush_counts(&mut self) -> Result<(), StoreError> {
        for (endpoint, events, duplicates) in self.metrics.event_totals() {
            let done = self.flushed.entry(Arc::clone(&endpoint)).or_default();
            let new = (events.saturating_sub(done.0), duplicates.saturating_sub(done.1));
            if new != (0, 0) {
                self.ledger.count_events(&endpoint, new.0, new.1).await?;
                *done = (events, duplicates);
            }
        }
        self.flush_matches().await
    }

    /// The same for the matches of secrets; each is made known once even if it never matches.
    async fn flush_matches(&mut self) -> Result<(), StoreError> {
        let totals = self.metrics.secret_totals();
        let used: Vec<SecretUse> = totals
            .iter()
            .filter_map(|(endpoint, fingerprint, total)| {
                let known = self.matched.get(&(Arc::clone(endpoint), fingerprint.clone()));
                let matches = total.saturating_sub(known.copied().unwrap_or(0));
                let (endpoint, fingerprint) = (Arc::clone(endpoint), fingerprint.clone());
                (known.is_none() || matches > 0).then_some(SecretUse { endpoint, fingerprint, matches })
            })
            .collect();
        if !used.is_empty() {
            self.ledger.count_matches(&used).await?;
            self.matched = totals.into_iter().map(|(name, print, total)| ((name, print), total)).collect();
        }
        Ok(())
    }
}

fn tell(asked: &Result<(), StoreError>) {
    match asked {
        Ok(()) => info!("store.ready"),
        Err(error) => warn!(code = error.code(), error = %error, "store.failed"),
    }
}
