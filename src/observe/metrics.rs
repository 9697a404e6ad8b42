//! The counters of one process, with their children made at start from the config.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus::{Encoder, IntCounterVec, Registry, Result, TextEncoder};

use super::children::{EndpointMetrics, count};
use super::families::{Families, QueueGauges};

use crate::clock::Timestamp;
use crate::config::{Config, Endpoint, Route};
use crate::model::{AttemptOutcome, Outcome};
use crate::process::HandlerRun;
use crate::receive::Receipt;
use crate::store::{Backlog, CircuitRecord, Connections, Pausable, Pause, Pruned};

/// All metrics of this process.
pub struct Metrics {
    registry: Registry,
    pub(super) families: Families,
    pub(super) endpoints: HashMap<Arc<str>, EndpointMetrics>,
    destinations: Vec<Arc<str>>,
    /// What the config lets operators hold back.
    pausable: Vec<(Pausable, String)>,
    /// Held while the gauges of the store are replaced and while the page is made, so that no page lacks some.
    page: Mutex<()>,
}

impl Metrics {
    /// Registers every family and makes every child that the config lets exist.
    ///
    /// # Errors
    /// Only if a name or label in this module is wrong.
    pub fn new(config: &Config) -> Result<Arc<Self>> {
        let registry = Registry::new();
        let families = Families::register(&registry)?;
        let endpoints = config
            .endpoints
            .values()
            .map(|endpoint| {
                Ok((Arc::clone(&endpoint.name), EndpointMetrics::new(&families, config, endpoint)?))
            })
            .collect::<Result<_>>()?;
        let destinations: Vec<_> = config.destinations.values().map(|d| Arc::clone(&d.name)).collect();
        for destination in &destinations {
            for outcome in [AttemptOutcome::Succeeded, AttemptOutcome::Failed, AttemptOutcome::Rejected] {
                let labels = [destination, outcome.as_str()];
                families.delivery_attempts.get_metric_with_label_values(&labels)?;
                families.delivery_duration.get_metric_with_label_values(&labels)?;
            }
            families.circuit_state.get_metric_with_label_values(&[destination])?;
        }
        for queue in ["inbox", "outbox"] {
            families.leases_lost.get_metric_with_label_values(&[queue])?;
        }
        for queue in ["inbox", "outbox", "replays"] {
            families.workers_alive.get_metric_with_label_values(&[queue])?;
        }
        for (table, _) in Pruned::default().tables() {
            families.pruned.get_metric_with_label_values(&[table])?;
        }
        for state in ["busy", "idle"] {
            families.store_connections.get_metric_with_label_values(&[state])?;
        }
        for reason in ["not_found", "panic"] {
            families.unrouted.get_metric_with_label_values(&[reason])?;
        }
        let pausable = pausable(config);
        let metrics = Self { registry, families, endpoints, destinations, pausable, page: Mutex::new(()) };
        metrics.paused(&[]);
        Ok(Arc::new(metrics))
    }

    /// One answered request, with all that came of its events.
    pub fn request(&self, endpoint: &Endpoint, receipt: &Receipt, elapsed: Duration, now: Timestamp) {
        let Some(metrics) = self.endpoints.get(&endpoint.name) else { return };
        count(&metrics.requests, &receipt.outcome);
        metrics.duration.observe(elapsed.as_secs_f64());
        // Judged by the answer's own outcome: a refusal may come late without harm.
        let acknowledged = !matches!(receipt.outcome, Outcome::Rejected | Outcome::Error);
        if acknowledged && metrics.deadline.is_some_and(|deadline| elapsed > deadline) {
            metrics.late.inc();
        }
        if let Some(rejection) = &receipt.rejection {
            count(&metrics.rejections, &rejection.reason);
        }
        if receipt.verified {
            self.verified(&endpoint.name, now);
        }
        if let Some(matched) =
            receipt.secret.and_then(|position| metrics.secrets.get(position.wrapping_sub(1)))
        {
            matched.inc();
        }
        for event in &receipt.events {
            count(&metrics.events, &event.outcome);
            metrics.types.get(&event.event_type).unwrap_or(&metrics.other_types).inc();
            self.runs(metrics, &endpoint.name, &event.runs);
            if let Some(lag) = event.lag {
                metrics.lag.observe(lag.as_secs_f64());
            }
            if let Some((destination, attempt)) = &event.asked {
                self.delivery(destination, attempt);
            }
        }
    }

    /// A request that reached no endpoint: `not_found` or `panic`.
    pub fn unrouted(&self, reason: &'static str) {
        inc(&self.families.unrouted, &[reason]);
    }

    /// A genuine request came at this time, here or at another replica; an earlier time changes nothing.
    pub fn verified(&self, endpoint: &str, at: Timestamp) {
        if !self.endpoints.contains_key(endpoint) {
            return;
        }
        if let Ok(gauge) = self.families.last_verified.get_metric_with_label_values(&[endpoint]) {
            #[expect(
                clippy::cast_precision_loss,
                reason = "milliseconds since 1970 fit 53 bits for 280,000 years"
            )]
            gauge.set(gauge.get().max(at.timestamp_millis() as f64 / 1_000.0));
        }
    }

    /// A settlement came after the lease had passed on.
    pub fn lease_lost(&self, queue: &'static str) {
        inc(&self.families.leases_lost, &[queue]);
    }

    /// Retention took this.
    pub fn pruned(&self, pruned: Pruned) {
        for (table, rows) in pruned.tables() {
            if let Ok(counter) = self.families.pruned.get_metric_with_label_values(&[table]) {
                counter.inc_by(rows);
            }
        }
    }

    /// A unit of work waited this long for its transaction.
    pub fn store_wait(&self, waited: Duration) {
        self.families.store_wait.observe(waited.as_secs_f64());
    }

    /// The connections to the store at this moment.
    pub(super) fn connections(&self, connections: Connections) {
        for (state, count) in [("busy", connections.busy), ("idle", connections.idle)] {
            if let Ok(gauge) = self.families.store_connections.get_metric_with_label_values(&[state]) {
                gauge.set(count.into());
            }
        }
    }

    /// How the database stands: its clock less ours, and whether it keeps what it commits.
    pub(super) fn condition(&self, skew_seconds: f64, durable: bool) {
        if let Ok(gauge) = self.families.clock_skew.get_metric_with_label_values::<&str>(&[]) {
            gauge.set(skew_seconds);
        }
        if let Ok(gauge) = self.families.durability_degraded.get_metric_with_label_values::<&str>(&[]) {
            gauge.set(i64::from(!durable));
        }
    }

    /// How the circuits stand. Destinations without a row are well.
    pub fn circuits(&self, unwell: &[CircuitRecord]) {
        let _page = self.lock_page();
        for name in &self.destinations {
            let state = unwell.iter().find(|row| *row.destination == **name).map(|row| row.state.as_str());
            if let Ok(gauge) = self.families.circuit_state.get_metric_with_label_values(&[name]) {
                gauge.set(match state {
                    Some("open") => 2,
                    Some("half_open") => 1,
                    _ => 0,
                });
            }
        }
    }

    /// What waits, as the store just said. Endpoints and destinations without a row have nothing waiting.
    pub fn backlog(&self, inbox: &[Backlog], outbox: &[Backlog]) {
        let _page = self.lock_page();
        self.families.store_up.set(1);
        self.families.inbox.forget();
        self.families.outbox.forget();
        self.families.quarantine_rows.reset();
        for (name, metrics) in &self.endpoints {
            let row = inbox.iter().find(|row| *row.name == **name && *row.provider == *metrics.provider);
            set(&self.families.inbox, &[&metrics.provider, name], row);
        }
        for name in &self.destinations {
            set(&self.families.outbox, &[name], outbox.iter().find(|row| *row.name == **name));
        }
        // Rows of endpoints and destinations that the config no longer has still wait, and must be seen.
        for row in inbox.iter().filter(|row| !self.endpoints.contains_key(row.name.as_str())) {
            set(&self.families.inbox, &[&row.provider, &row.name], Some(row));
        }
        for row in outbox.iter().filter(|row| !self.destinations.iter().any(|name| **name == *row.name)) {
            set(&self.families.outbox, &[&row.name], Some(row));
        }
    }

    /// What operators hold back, as the store just said.
    pub(super) fn paused(&self, pauses: &[Pause]) {
        let _page = self.lock_page();
        self.families.paused.reset();
        let all = self.pausable.iter().map(|(kind, name)| (*kind, name, 0));
        for (kind, name, value) in all.chain(pauses.iter().map(|pause| (pause.kind, &pause.name, 1))) {
            if let Ok(gauge) = self.families.paused.get_metric_with_label_values(&[kind.as_str(), name]) {
                gauge.set(value);
            }
        }
    }

    /// The store did not answer: what waits is unknown, so its series end (Prometheus marks them stale).
    pub fn store_failed(&self) {
        let _page = self.lock_page();
        self.families.store_up.set(0);
        self.families.paused.reset();
        self.families.clock_skew.reset();
        self.families.durability_degraded.reset();
        self.families.circuit_state.reset();
        self.families.inbox.forget();
        self.families.outbox.forget();
    }

    /// Verified events and duplicates among them since the start, by endpoint; conflicts stand apart.
    pub(super) fn event_totals(&self) -> Vec<(Arc<str>, u64, u64)> {
        let total = |metrics: &EndpointMetrics, wanted: &[Outcome]| -> u64 {
            metrics.events.iter().filter(|(outcome, _)| wanted.contains(outcome)).map(|(_, c)| c.get()).sum()
        };
        let verified = [Outcome::Processed, Outcome::Accepted, Outcome::Ignored, Outcome::Duplicate];
        self.endpoints
            .iter()
            .map(|(name, m)| (Arc::clone(name), total(m, &verified), total(m, &[Outcome::Duplicate])))
            .collect()
    }

    /// The whole page in Prometheus' text format, version 0.0.4.
    ///
    /// # Errors
    /// Only if a family is inconsistent.
    pub fn render(&self) -> Result<String> {
        let families = {
            let _page = self.lock_page();
            self.registry.gather()
        };
        let mut page = Vec::with_capacity(64 * 1024);
        TextEncoder::new().encode(&families, &mut page)?;
        Ok(String::from_utf8_lossy(&page).into_owned())
    }

    pub(super) fn runs(&self, metrics: &EndpointMetrics, endpoint: &str, runs: &[HandlerRun]) {
        for run in runs {
            inc(&self.families.process_attempts, &[&metrics.provider, endpoint, &run.handler, run.outcome]);
        }
    }

    fn lock_page(&self) -> MutexGuard<'_, ()> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn inc(family: &IntCounterVec, labels: &[&str]) {
    if let Ok(counter) = family.get_metric_with_label_values(labels) {
        counter.inc();
    }
}

fn pausable(config: &Config) -> Vec<(Pausable, String)> {
    let endpoints = config.endpoints.keys().map(|name| (Pausable::Endpoint, name.clone()));
    let handlers = config.routes.iter().filter_map(Route::handler);
    let handlers = handlers.map(|name| (Pausable::Handler, name.to_owned()));
    let destinations = config.destinations.keys().map(|name| (Pausable::Destination, name.clone()));
    endpoints.chain(handlers).chain(destinations).collect()
}

fn set(gauges: &QueueGauges, labels: &[&str], row: Option<&Backlog>) {
    let (backlog, oldest, needs_review) =
        row.map_or((0, 0.0, 0), |row| (row.backlog, row.oldest.as_secs_f64(), row.needs_review));
    if let Ok(gauge) = gauges.backlog.get_metric_with_label_values(labels) {
        gauge.set(backlog);
    }
    if let Ok(gauge) = gauges.oldest.get_metric_with_label_values(labels) {
        gauge.set(oldest);
    }
    if let Ok(gauge) = gauges.needs_review.get_metric_with_label_values(labels) {
        gauge.set(needs_review);
    }
}
