//! `[server]`, `[admin]`, `[database]`, `[inbox]`, `[quarantine]`, `[retention]`, `[log]` as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DurationText, SecretText, SizeText};

/// The public listener, where providers' requests arrive.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawServer {
    /// Address and port.
    pub(crate) listen: String,
    /// What providers see: scheme, host and port. Needed where a provider signs the URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) public_url: Option<String>,
    /// Certificate and key files; plain HTTP without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls: Option<RawTls>,
    /// Proxies before the gateway (addresses and networks) that are believed when they say for whom they speak.
    pub(crate) trusted_proxies: Vec<String>,
    /// Requests worked on at once, counted from the end of their body; more are answered 503 with `Retry-After`.
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) max_in_flight: usize,
    /// Connections open at once; more wait to be accepted.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) max_connections: usize,
    /// From the first byte of a request to the end of its headers. 100ms to 5m.
    pub(crate) header_timeout: DurationText,
    /// From the end of the headers to the end of the body. 100ms to 5m.
    pub(crate) body_timeout: DurationText,
    /// After a signal: readiness is off but the listener stays open, so that load balancers notice. 0s to 5m.
    pub(crate) drain_delay: DurationText,
    /// After that: how long requests and work may take before they are cut. 0s to 10m.
    pub(crate) drain_timeout: DurationText,
}

impl Default for RawServer {
    fn default() -> Self {
        Self {
            listen: "0.0.0.0:8080".into(),
            public_url: None,
            tls: None,
            trusted_proxies: Vec::new(),
            max_in_flight: 1024,
            max_connections: 4096,
            header_timeout: "10s".into(),
            body_timeout: "30s".into(),
            drain_delay: "0s".into(),
            drain_timeout: "30s".into(),
        }
    }
}

/// PEM files of the public listener.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTls {
    /// Certificate chain, leaf first.
    pub(crate) certificate: String,
    /// Private key.
    pub(crate) key: String,
}

/// The operators' listener: `/healthz`, `/readyz`, `/metrics`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawAdmin {
    /// Address and port; anything but loopback needs `metrics_token`.
    pub(crate) listen: String,
    /// The bearer token that `/metrics` asks for when `listen` is not loopback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metrics_token: Option<SecretText>,
}

impl Default for RawAdmin {
    fn default() -> Self {
        Self { listen: "127.0.0.1:8081".into(), metrics_token: None }
    }
}

/// Where events are kept.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawDatabase {
    /// `sqlite://PATH` (relative to the working directory) or `postgres://…`; or `env:NAME` or `file:PATH` that
    /// holds such a URL.
    #[schemars(extend("writeOnly" = true))]
    pub(crate) url: String,
    /// Connections (PostgreSQL) or readers (SQLite) of one process.
    #[schemars(range(min = 2, max = 1_000))]
    pub(crate) max_connections: u32,
    /// Whether `serve` brings the schema up to date before it starts.
    pub(crate) migrate: bool,
}

impl Default for RawDatabase {
    fn default() -> Self {
        Self { url: "sqlite://hookgate.db".into(), max_connections: 16, migrate: true }
    }
}

/// How received events are worked off.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawInbox {
    /// How long a claim lasts before another worker may take over. 1s to 1h.
    pub(crate) lease: DurationText,
    /// A handler's longest single statement (on SQLite: all statements of one handler). At most nine tenths of the
    /// lease.
    pub(crate) statement_timeout: DurationText,
    /// Async: the whole unit of work. At most nine tenths of the lease.
    pub(crate) work_timeout: DurationText,
    /// Sync: work is rolled back and answered 503 after this; the provider's own deadline counts too. 100ms to 5m.
    pub(crate) sync_timeout: DurationText,
    /// Failures after which an event needs review.
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) max_attempts: u32,
    /// The cap of the delay: `least(cap, 2^attempts seconds) * random()`. 1s to 1d.
    pub(crate) backoff_cap: DurationText,
    /// Events worked on at once by this process.
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) concurrency: usize,
    /// How often to look for due events without being woken. 10ms to 1m.
    pub(crate) poll_interval: DurationText,
}

impl Default for RawInbox {
    fn default() -> Self {
        Self {
            lease: "2m".into(),
            statement_timeout: "30s".into(),
            work_timeout: "60s".into(),
            sync_timeout: "25s".into(),
            max_attempts: 10,
            backoff_cap: "300s".into(),
            concurrency: 8,
            poll_interval: "1s".into(),
        }
    }
}

/// How long rows are kept. Unprocessed rows and those that need review stay at any age.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawRetention {
    /// Body and headers of processed events are emptied after this. At least 1h.
    pub(crate) payload: DurationText,
    /// The key row goes after this: the window in which a copy is known. Not shorter than `payload`, nor than the
    /// time for which an endpoint's provider sends again.
    pub(crate) keys: DurationText,
    /// Messages go so long after they were published. Those without `destination`, which are your own relay's, go so
    /// long after they were written, published or not. At least 1h.
    pub(crate) outbox: DurationText,
    /// The records of attempts to deliver. At least 1h.
    pub(crate) attempts: DurationText,
    /// Requests in quarantine, released or not. At least 1h; never longer than `keys`, since what is released must
    /// still meet its copies.
    pub(crate) quarantine: DurationText,
    /// The audit log. At least 1h.
    pub(crate) audit: DurationText,
    /// Replays, from their end. At least 1h.
    pub(crate) replays: DurationText,
}

impl Default for RawRetention {
    fn default() -> Self {
        Self {
            payload: "30d".into(),
            keys: "90d".into(),
            outbox: "30d".into(),
            attempts: "30d".into(),
            quarantine: "14d".into(),
            audit: "1y".into(),
            replays: "30d".into(),
        }
    }
}

/// How many rejected requests of one endpoint are kept. One reason may take half of the rows and bytes, the senders of
/// one network (/24, /48) a quarter; above that requests are counted and not kept, and nothing is removed before its age.
/// Genuine requests that became no event are always kept.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawQuarantine {
    /// Rows at once.
    #[schemars(range(min = 8, max = 100_000))]
    pub(crate) max_rows: u64,
    /// Bodies, headers and URLs at once, in bytes. 64KiB to 16GiB.
    pub(crate) max_bytes: SizeText,
    /// Requests that each process writes in a minute.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) per_minute: u32,
}

impl Default for RawQuarantine {
    fn default() -> Self {
        Self { max_rows: 10_000, max_bytes: SizeText("64MiB".into()), per_minute: 300 }
    }
}

/// Log lines, on standard error.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawLog {
    /// How a line looks.
    pub(crate) format: RawLogFormat,
    /// A filter such as `info,hookgate::worker=debug`. The variable `RUST_LOG` wins over it.
    pub(crate) level: String,
}

impl Default for RawLog {
    fn default() -> Self {
        Self { format: RawLogFormat::Auto, level: "info".into() }
    }
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawLogFormat {
    /// `pretty` on a terminal, else `json`.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Pretty,
}
