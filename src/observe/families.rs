//! Every metric family: its name, its help, its labels, its buckets.

use prometheus::core::Collector;
use prometheus::process_collector::ProcessCollector;
use prometheus::{
    GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    Result,
};

use super::declared::Declared;

/// Boundaries for replies. 1, 2, 3, 5 and 10 s are the time limits of providers, so "how many replies came too
/// late for this provider" can be read without interpolation; 25 s is our own `sync_timeout`.
const REPLY_SECONDS: [f64; 13] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0];
const REPLY_TAIL_SECONDS: [f64; 2] = [25.0, 30.0];
/// From milliseconds (`sync`) over retries (minutes) to a day of backlog.
const LAG_SECONDS: [f64; 14] =
    [0.005, 0.025, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0, 7_200.0, 86_400.0];
const DELIVERY_SECONDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];
const WAIT_SECONDS: [f64; 10] = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 25.0];

/// The families, registered.
pub(super) struct Families {
    pub(super) requests: IntCounterVec,
    pub(super) rejections: IntCounterVec,
    pub(super) events: IntCounterVec,
    pub(super) request_duration: HistogramVec,
    pub(super) event_lag: HistogramVec,
    pub(super) process_attempts: IntCounterVec,
    pub(super) event_types: IntCounterVec,
    pub(super) unrouted: IntCounterVec,
    pub(super) secret_matches: IntCounterVec,
    pub(super) last_verified: GaugeVec,
    pub(super) late_replies: IntCounterVec,
    pub(super) declared: Declared,
    pub(super) inbox: QueueGauges,
    pub(super) outbox: QueueGauges,
    pub(super) delivery_attempts: IntCounterVec,
    pub(super) delivery_duration: HistogramVec,
    pub(super) circuit_state: IntGaugeVec,
    pub(super) leases_lost: IntCounterVec,
    pub(super) workers_alive: IntGaugeVec,
    pub(super) pruned: IntCounterVec,
    pub(super) paused: IntGaugeVec,
    pub(super) quarantine_rows: IntGaugeVec,
    pub(super) not_kept: IntCounterVec,
    pub(super) store_up: IntGauge,
    pub(super) clock_skew: GaugeVec,
    pub(super) durability_degraded: IntGaugeVec,
    pub(super) store_connections: IntGaugeVec,
    pub(super) store_wait: Histogram,
}

/// What waits in one queue.
pub(super) struct QueueGauges {
    pub(super) backlog: IntGaugeVec,
    pub(super) oldest: GaugeVec,
    pub(super) needs_review: IntGaugeVec,
}

impl Families {
    /// Registers all of them.
    pub(super) fn register(registry: &Registry) -> Result<Self> {
        let of_endpoint = ["provider", "endpoint"];
        register_process(registry)?;
        Ok(Self {
            requests: counter(
                registry,
                "hookgate_requests_total",
                "Requests to configured paths, by what became of them; a batch counts once, with the worst outcome of \
                 its events.",
                &["provider", "endpoint", "outcome"],
            )?,
            rejections: counter(
                registry,
                "hookgate_rejections_total",
                "Rejected requests by reason. A sudden rise of signature_mismatch is a wrong secret or an attack.",
                &["provider", "endpoint", "reason"],
            )?,
            events: counter(
                registry,
                "hookgate_events_total",
                "Verified events, counted once at the door. Duplicate rate = duplicate / all but conflict.",
                &["provider", "endpoint", "outcome"],
            )?,
            request_duration: histogram(
                registry,
                "hookgate_request_duration_seconds",
                "From the request's headers to the reply. Providers give up after 1 to 30 s and send again.",
                &of_endpoint,
                [REPLY_SECONDS.as_slice(), REPLY_TAIL_SECONDS.as_slice()].concat(),
            )?,
            event_lag: histogram(
                registry,
                "hookgate_event_lag_seconds",
                "From storing an event for the first time to the commit of its work, retries included.",
                &of_endpoint,
                LAG_SECONDS.to_vec(),
            )?,
            process_attempts: counter(
                registry,
                "hookgate_process_attempts_total",
                "Runs of a handler: processed, ignored, flagged (done, but a person must look), superseded (out of \
                 date), failed (will be tried again), permanent (needs review).",
                &["provider", "endpoint", "handler", "outcome"],
            )?,
            event_types: counter(
                registry,
                "hookgate_event_types_total",
                "Verified events by type; types that neither a route (without a wildcard) nor a sample in the provider's definition names are counted as \"other\".",
                &["endpoint", "event_type"],
            )?,
            unrouted: counter(
                registry,
                "hookgate_unrouted_requests_total",
                "Requests that reached no endpoint: not_found (no such path), panic (a fault of ours, answered 500).",
                &["reason"],
            )?,
            secret_matches: counter(
                registry,
                "hookgate_secret_matches_total",
                "Requests proved by the secret at this position (from 1). An old secret that matches no more can go.",
                &["endpoint", "secret"],
            )?,
            last_verified: gauge(
                registry,
                "hookgate_last_verified_timestamp_seconds",
                "When a genuine request last came, in Unix time; no series until the first one is known. Alert when a \
                 busy endpoint falls silent.",
                &["endpoint"],
            )?,
            late_replies: counter(
                registry,
                "hookgate_late_replies_total",
                "Acknowledgements sent after the provider's own time limit: it takes them for failures and sends \
                 again, although the event is kept.",
                &of_endpoint,
            )?,
            declared: Declared::register(registry)?,
            inbox: QueueGauges::register(registry, "inbox", &of_endpoint)?,
            outbox: QueueGauges::register(registry, "outbox", &["destination"])?,
            delivery_attempts: counter(
                registry,
                "hookgate_delivery_attempts_total",
                "Tries to deliver a message: succeeded, failed (another try follows), rejected (no further try helps).",
                &["destination", "outcome"],
            )?,
            delivery_duration: histogram(
                registry,
                "hookgate_delivery_duration_seconds",
                "How long one try to deliver took.",
                &["destination", "outcome"],
                DELIVERY_SECONDS.to_vec(),
            )?,
            circuit_state: register_one(
                registry,
                IntGaugeVec::new(
                    Opts::new(
                        "hookgate_circuit_state",
                        "Whether messages go to a destination: 0 closed, they do; 1 half-open, one at a time to see \
                         whether it is well again; 2 open, none do.",
                    ),
                    &["destination"],
                )?,
            )?,
            leases_lost: counter(
                registry,
                "hookgate_leases_lost_total",
                "Settlements refused because the lease had passed to another worker; nothing was written by the \
                 loser. Many of them: the lease is too short for the work.",
                &["queue"],
            )?,
            workers_alive: register_one(
                registry,
                IntGaugeVec::new(
                    Opts::new("hookgate_workers_alive", "Workers of this process that run their loop."),
                    &["queue"],
                )?,
            )?,
            pruned: counter(
                registry,
                "hookgate_pruned_total",
                "Rows that retention deleted, by table; webhook_inbox_payload: rows of webhook_inbox whose body and \
                 headers were emptied.",
                &["table"],
            )?,
            paused: register_one(
                registry,
                IntGaugeVec::new(
                    Opts::new(
                        "hookgate_paused",
                        "1 while an operator holds back this endpoint, handler or destination (kind), else 0.",
                    ),
                    &["kind", "name"],
                )?,
            )?,
            quarantine_rows: register_one(
                registry,
                IntGaugeVec::new(
                    Opts::new(
                        "hookgate_quarantine_rows",
                        "Requests that became no event and are kept, released ones until their age; counted up to 100001.",
                    ),
                    &["endpoint"],
                )?,
            )?,
            not_kept: counter(
                registry,
                "hookgate_quarantine_not_kept_total",
                "Rejected requests that were to be kept and are not: rate (too many in a minute), full (no room), busy \
                 (too much waited to be written), store (it failed).",
                &["endpoint", "cause"],
            )?,
            store_up: register_one(
                registry,
                IntGauge::new(
                    "hookgate_store_up",
                    "1 if the database answered the last question; the queue gauges vanish while it is 0.",
                )?,
            )?,
            clock_skew: gauge(
                registry,
                "hookgate_clock_skew_seconds",
                "The database's clock less this machine's; providers' timestamps are judged by this machine's, \
                 leases by the database's.",
                &[],
            )?,
            durability_degraded: register_one(
                registry,
                IntGaugeVec::new(
                    Opts::new(
                        "hookgate_durability_degraded",
                        "1 if the database's settings (fsync, full_page_writes, synchronous_commit) let a crash of its \
                         machine take back what was acknowledged.",
                    ),
                    &[],
                )?,
            )?,
            store_connections: register_one(
                registry,
                IntGaugeVec::new(
                    Opts::new(
                        "hookgate_store_connections",
                        "Connections of this process to the database: busy (at work) or idle (open and free).",
                    ),
                    &["state"],
                )?,
            )?,
            store_wait: register_one(
                registry,
                Histogram::with_opts(
                    HistogramOpts::new(
                        "hookgate_store_wait_seconds",
                        "How long units of work waited for a connection and an open transaction.",
                    )
                    .buckets(WAIT_SECONDS.to_vec()),
                )?,
            )?,
        })
    }
}

impl QueueGauges {
    fn register(registry: &Registry, queue: &str, labels: &[&str]) -> Result<Self> {
        let name = |what: &str| format!("hookgate_{queue}_{what}");
        Ok(Self {
            backlog: register_one(
                registry,
                IntGaugeVec::new(
                    Opts::new(
                        name("backlog"),
                        format!(
                            "Rows of the {queue} that wait for their work, retries included; 100001 means that many \
                             or more."
                        ),
                    ),
                    labels,
                )?,
            )?,
            oldest: gauge(
                registry,
                &name("oldest_seconds"),
                &format!(
                    "Age of the oldest row that waits in the {queue}; 0 if none does. Alert on this one."
                ),
                labels,
            )?,
            needs_review: register_one(
                registry,
                IntGaugeVec::new(
                    Opts::new(
                        name("needs_review"),
                        format!("Rows of the {queue} that are tried no more and wait for a person."),
                    ),
                    labels,
                )?,
            )?,
        })
    }

    /// Takes all series away: the numbers are not known, and an old number would look like a fact.
    pub(super) fn forget(&self) {
        self.backlog.reset();
        self.oldest.reset();
        self.needs_review.reset();
    }
}

fn register_process(registry: &Registry) -> Result<()> {
    registry.register(Box::new(ProcessCollector::for_self()))?;
    let build = IntGaugeVec::new(
        Opts::new("hookgate_build_info", "Always 1; the label says which version runs."),
        &["version"],
    )?;
    build.get_metric_with_label_values(&[env!("CARGO_PKG_VERSION")])?.set(1);
    register_one(registry, build).map(drop)
}

fn counter(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec> {
    register_one(registry, IntCounterVec::new(Opts::new(name, help), labels)?)
}

pub(super) fn gauge(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> Result<GaugeVec> {
    register_one(registry, GaugeVec::new(Opts::new(name, help), labels)?)
}

fn histogram(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: &[&str],
    buckets: Vec<f64>,
) -> Result<HistogramVec> {
    register_one(registry, HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets), labels)?)
}

fn register_one<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> Result<C> {
    registry.register(Box::new(collector.clone()))?;
    Ok(collector)
}
