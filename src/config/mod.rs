//! The configuration as the gateway uses it: parsed, resolved and valid. The raw mirror of the files is in [`raw`],
//! the way from one to the other in [`load`].

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::model::Secret;
use crate::provider::Provider;
use crate::retry;
use crate::verify::Keyring;

/// The whole configuration.
#[derive(Debug)]
pub struct Config {
    /// `[server]`
    pub server: Server,
    /// `[admin]`
    pub admin: Admin,
    /// `[database]`
    pub database: Database,
    /// `[inbox]`
    pub inbox: Queue,
    /// `[outbox]`
    pub outbox: Queue,
    /// `[retention]`
    pub retention: Retention,
    /// `[log]`
    pub log: Log,
    /// `[endpoints.NAME]`, by name.
    pub endpoints: BTreeMap<String, Arc<Endpoint>>,
    /// `[[routes]]` of all files, in file order.
    pub routes: Vec<Route>,
    /// `[destinations.NAME]`, by name.
    pub destinations: BTreeMap<String, Arc<Destination>>,
}

/// The public listener.
#[derive(Clone, Debug)]
pub struct Server {
    /// Where providers' requests arrive.
    pub listen: SocketAddr,
    /// What providers see: scheme, host and port, without a slash at the end.
    pub public_url: Option<String>,
    /// Certificate and key files; plain HTTP without them.
    pub tls: Option<Tls>,
    /// Requests worked on at once; more are answered 503 with `Retry-After`.
    pub max_in_flight: usize,
    /// Connections open at once; more wait in the kernel's queue.
    pub max_connections: usize,
    /// From the first byte of a request to the end of its headers.
    pub header_timeout: Duration,
    /// From the end of the headers to the end of the body.
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
    /// The longest single statement in a unit of work.
    pub statement_timeout: Duration,
    /// The longest unit of work (async), or one delivery (outbox).
    pub work_timeout: Duration,
    /// Sync only: work is rolled back and answered 503 after this.
    pub sync_timeout: Duration,
    /// Failures after which a row needs review.
    pub max_attempts: u32,
    /// The cap of the full-jitter backoff.
    pub backoff_cap: Duration,
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
        retry::Policy { max_attempts: self.max_attempts, cap: self.backoff_cap, max_age: self.max_age }
    }
}

/// `[retention]`
#[derive(Clone, Debug)]
pub struct Retention {
    /// Body and headers of processed events are emptied after this.
    pub payload: Duration,
    /// The key row goes after this: the dedupe window.
    pub keys: Duration,
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

/// A configured inbound identity: a provider, its paths, its secrets.
#[derive(Debug)]
pub struct Endpoint {
    /// Its name: part of the inbox key.
    pub name: Arc<str>,
    /// How the provider signs, names events and wants to be answered; configured with `settings`.
    pub provider: Arc<Provider>,
    /// All of its paths; they are one endpoint.
    pub paths: Vec<String>,
    /// Its signing secrets in the order of the config; positions start at 1.
    pub secrets: Vec<SigningSecret>,
    /// The same, prepared for verification.
    pub keyring: Keyring,
    /// The definition's own constants (webhook id, client id, public URL…).
    pub settings: BTreeMap<String, String>,
    /// When the reply is sent.
    pub mode: Mode,
    /// JSON pointers into the body and the values they must have, else `wrong_environment`.
    pub expect: Vec<(String, serde_json::Value)>,
    /// Larger bodies are answered 413.
    pub max_body: usize,
}

/// One signing secret of an endpoint.
#[derive(Clone, Debug)]
pub struct SigningSecret {
    /// In the form in which the provider's dashboard shows it.
    pub secret: Secret,
    /// It counts no more from this moment on.
    pub until: Option<Timestamp>,
    /// The reference it came from (`env:NAME`), for messages.
    pub reference: String,
}

/// When an endpoint replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// After the handlers' work is committed together with the inbox row.
    Sync,
    /// After the inbox row is committed; workers do the rest.
    Async,
}

/// One `[[routes]]` entry: which events go where.
#[derive(Clone, Debug)]
pub struct Route {
    /// The endpoints it is for, already resolved from `endpoint`, `endpoints`, `provider` or `*`.
    pub endpoints: Vec<Arc<str>>,
    /// Globs over the event type.
    pub types: Vec<String>,
    /// What it does.
    pub action: Action,
    /// The destinations of what its handler emits, or of the event itself.
    pub destinations: Vec<Arc<str>>,
    /// File and line, for messages.
    pub origin: String,
}

/// What a route does with an event.
#[derive(Clone, Debug)]
pub enum Action {
    /// A built-in handler, or one that the embedding program registered, by name.
    Handler(String),
    /// An SQL handler module.
    Sql(SqlModule),
    /// Forward the event as it came.
    Forward,
}

/// An SQL handler module: a file and its own parameters.
#[derive(Clone, Debug)]
pub struct SqlModule {
    /// Its name in logs and metrics: the file's stem.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Its text, read at load.
    pub text: String,
    /// Parameters taken from the payload.
    pub params: BTreeMap<String, SqlParam>,
    /// The operation in `:idempotency_key`; the module's name unless said.
    pub operation: String,
}

/// One parameter of an SQL module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlParam {
    /// JSON pointer into the payload.
    pub pointer: String,
    /// How it is bound.
    pub kind: SqlType,
}

/// The type a parameter is bound as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SqlType {
    /// Text (numbers and booleans in their JSON form).
    #[default]
    Text,
    /// 64-bit integer.
    Bigint,
    /// Double precision.
    Double,
    /// Boolean.
    Boolean,
    /// JSON text (`jsonb` on PostgreSQL).
    Json,
    /// Time: RFC 3339 text or Unix seconds in the payload.
    Timestamptz,
}

/// Where messages go.
#[derive(Debug)]
pub struct Destination {
    /// Its name.
    pub name: Arc<str>,
    /// The kind and its own settings.
    pub kind: DestinationKind,
    /// Secrets that sign each delivery (Standard Webhooks), all of them while rotating.
    pub sign: Vec<Secret>,
    /// Headers sent with each delivery.
    pub headers: BTreeMap<String, String>,
    /// How long one delivery may take.
    pub timeout: Duration,
    /// Deliveries at once by this process.
    pub concurrency: usize,
    /// Whether the provider's signature headers are left out.
    pub drop_signature: bool,
    /// `[outbox]`, with what the destination overrides.
    pub queue: Queue,
}

/// The kinds of destination.
#[derive(Clone, Debug)]
pub enum DestinationKind {
    /// An HTTP POST.
    Http {
        /// `http` or `https`.
        url: http::Uri,
        /// Whether names may resolve to private addresses (literal addresses in `url` are the operator's own word).
        allow_private: bool,
    },
}

impl crate::routing::Rule for Route {
    fn endpoints(&self) -> &[Arc<str>] {
        &self.endpoints
    }

    fn types(&self) -> &[String] {
        &self.types
    }
}
