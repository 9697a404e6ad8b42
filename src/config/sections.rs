//! `[server]`, `[admin]`, `[database]`, `[inbox]`, `[outbox]`, `[retention]`, `[log]`, as the gateway uses them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::model::{Networks, Secret};
use crate::retry;

/// The public listener.
#[derive(Clone, Debug)]
pub struct Server {
    /// Where providers' requests arrive.
    pub listen: SocketAddr,
    /// What providers see: scheme, host and port, without a slash at the end.
    pub public_url: Option<String>,
    /// Certificate and key files; plain HTTP without them.
    pub tls: Option<Tls>,
    /// Proxies that are believed when they say for whom they speak.
    pub trusted_proxies: Networks,
    /// Requests worked on at once, counted from the end of their body; more are answered 503 with `Retry-After`.
    pub max_in_flight: usize,
    /// Connections open at once; more wait in the kernel's queue.
    pub max_connections: usize,
    /// From the first byte of a request to the end of its headers.
    pub header_timeout: Duration,
    /// From the end of the headers to the end of the body; one that comes too slowly is ended earlier.
    pub body_timeout: Duration,
    /// After a signal: readiness is off and the listener stays open, so that load balancers notice.
    pub drain_delay: Duration,
    /// After that, how long requests and work may take before they are cut.
    pub drain_timeout: Duration,
}

/// PEM files of the public listener.
#[derive(Clone, Debug)]
pub struct Tls {
    /// Certificate chain, leaf first.
    pub certificate: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

/// The operators' listener: health, metrics.
#[derive(Clone, Debug)]
pub struct Admin {
    /// Loopback unless the operator says otherwise.
    pub listen: SocketAddr,
    /// Bearer token for `/metrics` when `listen` is not loopback.
    pub metrics_token: Option<Secret>,
}

/// Where events are kept.
#[derive(Clone, Debug)]
pub struct Database {
    /// The engine and how to reach it.
    pub url: DatabaseUrl,
    /// Connections (PostgreSQL) or readers (SQLite).
    pub max_connections: u32,
    /// Whether `serve` migrates the schema before it starts.
    pub migrate: bool,
}

/// `sqlite://PATH` or `postgres://…`.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file, made if it is not there.
    Sqlite(PathBuf),
    /// A URL with its credentials.
    Postgres(String),
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
            Self::Postgres(_) => f.write_str("postgres://…"),
        }
    }
}

/// `[inbox]` and `[outbox]`: how a queue is worked off.
#[derive(Clone, Debug)]
pub struct Queue {
    /// How long a claim lasts before another worker may take over.
    pub lease: Duration,
    /// Inbox only: a handler's longest single statement (on SQLite: all statements of one handler).
    pub statement_timeout: Duration,
    /// The longest unit of work (async), or one delivery (outbox).
    pub work_timeout: Duration,
    /// Inbox only, sync mode: work is rolled back and answered 503 after this.
    pub sync_timeout: Duration,
    /// Failures after which a row needs review.
    pub max_attempts: u32,
    /// The cap of the full-jitter backoff.
    pub backoff_cap: Duration,
    /// Outbox: the waits themselves, in the place of the full-jitter backoff; empty: that.
    pub backoff: Arc<[Duration]>,
    /// Rows worked on at once by this process.
    pub concurrency: usize,
    /// How often to look for due rows without being woken.
    pub poll_interval: Duration,
    /// Outbox: a message older than this needs review instead of another attempt.
    pub max_age: Option<Duration>,
}

impl Queue {
    /// How long and how often a row of this queue is tried.
    #[must_use]
    pub fn policy(&self) -> retry::Policy {
        retry::Policy {
            max_attempts: self.max_attempts,
            cap: self.backoff_cap,
            curve: Arc::clone(&self.backoff),
            max_age: self.max_age,
        }
    }
}

/// `[retention]`
#[derive(Clone, Debug)]
pub struct Retention {
    /// Body and headers of processed events are emptied after this.
    pub payload: Duration,
    /// The key row goes after this: the dedupe window.
    pub keys: Duration,
    /// Published messages go after this, and so do those without destination, published or not.
    pub outbox: Duration,
    /// The records of attempts to deliver go after this.
    pub attempts: Duration,
    /// Requests in quarantine go after this, released or not. At most `keys`.
    pub quarantine: Duration,
    /// Lines of the audit log go after this.
    pub audit: Duration,
    /// Replays go this long after their end, with what they could not work on.
    pub replays: Duration,
}

/// `[quarantine]`: how many rejected requests of one endpoint are kept. Genuine ones are outside these bounds.
#[derive(Clone, Copy, Debug)]
pub struct Quarantine {
    /// Rows at once.
    pub max_rows: u64,
    /// Bytes of bodies, headers and URLs at once.
    pub max_bytes: u64,
    /// Requests looked at in a minute, by each process.
    pub per_minute: u32,
}

/// `[log]`
#[derive(Clone, Debug)]
pub struct Log {
    /// `json`, `pretty`, or by whether standard error is a terminal.
    pub format: LogFormat,
    /// A `tracing` filter such as `info,hookgate::worker=debug`; `RUST_LOG` wins over it.
    pub level: String,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// JSON unless standard error is a terminal.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Pretty,
}
