//! The sections about the gateway itself.

use std::net::SocketAddr;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::Context;
use super::values::{FOR_EVER, HOUR, MINUTE, SECOND};
use crate::config::key::Key;
use crate::config::problem::suggest;
use crate::config::raw::{
    DurationText, RawAdmin, RawDatabase, RawInbox, RawLog, RawLogFormat, RawOutbox, RawRetention, RawServer,
    RawTls,
};
use crate::config::{Admin, Database, DatabaseUrl, Log, LogFormat, Queue, Retention, Server, Tls, units};

const TENTH: Duration = Duration::from_millis(100);
const DAY: Duration = Duration::from_secs(86_400);
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

pub(super) fn server(raw: &RawServer, context: &mut Context<'_>) -> Option<Server> {
    let key = Key::of(&["server"]);
    let upload = TENTH..=5 * MINUTE;
    let listen = address(&key.child("listen"), &raw.listen, context);
    let public_url =
        raw.public_url.as_deref().and_then(|url| public_url(&key.child("public_url"), url, context));
    let tls = raw.tls.as_ref().map(|raw| tls(&key.child("tls"), raw, context));
    let header_timeout = context.duration(&key.child("header_timeout"), &raw.header_timeout, upload.clone());
    let body_timeout = context.duration(&key.child("body_timeout"), &raw.body_timeout, upload);
    let drain_delay =
        context.duration(&key.child("drain_delay"), &raw.drain_delay, Duration::ZERO..=5 * MINUTE);
    let drain_timeout =
        context.duration(&key.child("drain_timeout"), &raw.drain_timeout, Duration::ZERO..=10 * MINUTE);
    Some(Server {
        listen: listen?,
        public_url,
        tls,
        max_in_flight: raw.max_in_flight,
        max_connections: raw.max_connections,
        header_timeout: header_timeout?,
        body_timeout: body_timeout?,
        drain_delay: drain_delay?,
        drain_timeout: drain_timeout?,
    })
}

pub(super) fn admin(raw: &RawAdmin, context: &mut Context<'_>) -> Option<Admin> {
    let key = Key::of(&["admin"]);
    let listen = address(&key.child("listen"), &raw.listen, context);
    let token_key = key.child("metrics_token");
    let metrics_token = raw.metrics_token.as_ref().and_then(|text| context.secret(&token_key, text));
    if listen.is_some_and(|listen| !listen.ip().is_loopback()) && raw.metrics_token.is_none() {
        let what = format!("{:?} is not loopback, so that anybody could read the metrics", raw.listen);
        let help = "set admin.metrics_token = \"env:NAME\", or listen on 127.0.0.1";
        context.report.error_help(&key.child("listen"), what, help);
    }
    Some(Admin { listen: listen?, metrics_token: metrics_token.map(|(secret, _)| secret) })
}

pub(super) fn database(raw: &RawDatabase, context: &mut Context<'_>) -> Option<Database> {
    let key = Key::of(&["database", "url"]);
    let url = if raw.url.starts_with("env:") || raw.url.starts_with("file:") {
        let (secret, _) = context.resolve(&key, &raw.url)?;
        String::from_utf8_lossy(secret.expose()).trim().to_owned()
    } else {
        raw.url.clone()
    };
    match database_url(&url) {
        Ok(url) => Some(Database { url, max_connections: raw.max_connections, migrate: raw.migrate }),
        Err(what) => {
            let help = "for example \"sqlite://hookgate.db\", \"postgres://user:password@host/database\" or \"env:DATABASE_URL\"";
            context.report.error_help(&key, what, help);
            None
        }
    }
}

pub(super) fn inbox(raw: &RawInbox, context: &mut Context<'_>) -> Option<Queue> {
    let key = Key::of(&["inbox"]);
    let lease = context.duration(&key.child("lease"), &raw.lease, SECOND..=HOUR);
    let statement_timeout =
        under_lease(&key.child("statement_timeout"), &raw.statement_timeout, lease, context);
    let work_timeout = under_lease(&key.child("work_timeout"), &raw.work_timeout, lease, context);
    let sync_timeout = context.duration(&key.child("sync_timeout"), &raw.sync_timeout, TENTH..=5 * MINUTE);
    let backoff_cap = context.duration(&key.child("backoff_cap"), &raw.backoff_cap, SECOND..=DAY);
    let poll_interval = poll(&key, &raw.poll_interval, context);
    Some(Queue {
        lease: lease?,
        statement_timeout: statement_timeout?,
        work_timeout: work_timeout?,
        sync_timeout: sync_timeout?,
        max_attempts: raw.max_attempts,
        backoff_cap: backoff_cap?,
        concurrency: raw.concurrency,
        poll_interval: poll_interval?,
        max_age: None,
    })
}

pub(super) fn outbox(raw: &RawOutbox, context: &mut Context<'_>) -> Option<Queue> {
    let key = Key::of(&["outbox"]);
    let lease = context.duration(&key.child("lease"), &raw.lease, SECOND..=HOUR);
    let statement_timeout =
        under_lease(&key.child("statement_timeout"), &raw.statement_timeout, lease, context);
    let work_timeout = under_lease(&key.child("work_timeout"), &raw.work_timeout, lease, context);
    let backoff_cap = context.duration(&key.child("backoff_cap"), &raw.backoff_cap, SECOND..=DAY);
    let max_age = context.duration(&key.child("max_age"), &raw.max_age, MINUTE..=FOR_EVER);
    let poll_interval = poll(&key, &raw.poll_interval, context);
    Some(Queue {
        lease: lease?,
        statement_timeout: statement_timeout?,
        work_timeout: work_timeout?,
        sync_timeout: work_timeout?,
        max_attempts: raw.max_attempts,
        backoff_cap: backoff_cap?,
        concurrency: raw.concurrency,
        poll_interval: poll_interval?,
        max_age: Some(max_age?),
    })
}

pub(super) fn retention(raw: &RawRetention, context: &mut Context<'_>) -> Option<Retention> {
    let key = Key::of(&["retention"]);
    let payload = context.duration(&key.child("payload"), &raw.payload, HOUR..=FOR_EVER);
    let keys = context.duration(&key.child("keys"), &raw.keys, HOUR..=FOR_EVER);
    let (payload, keys) = (payload?, keys?);
    if keys < payload {
        let what = format!("found {:?}, shorter than retention.payload ({:?})", raw.keys.0, raw.payload.0);
        context.report.error_help(&key.child("keys"), what, "an event's key must outlive its payload");
    }
    Some(Retention { payload, keys })
}

pub(super) fn log(raw: &RawLog, context: &mut Context<'_>) -> Log {
    let key = Key::of(&["log", "level"]);
    if let Err(error) = EnvFilter::try_new(&raw.level) {
        context.report.error(&key, format!("found {:?}: {error}", raw.level));
    }
    // A bare word that is no level counts as a module's name: a typing mistake would silence everything else.
    for word in raw.level.split(',').map(str::trim).filter(|word| !word.contains(['=', '[', ':'])) {
        if !LEVELS.contains(&word.to_lowercase().as_str()) {
            let what = format!("found {word:?}, expected a level or module=level");
            context.report.error_help(&key, what, suggest(word, LEVELS.into_iter()));
        }
    }
    let format = match raw.format {
        RawLogFormat::Auto => LogFormat::Auto,
        RawLogFormat::Json => LogFormat::Json,
        RawLogFormat::Pretty => LogFormat::Pretty,
    };
    Log { format, level: raw.level.clone() }
}

/// A duration that leaves the holder of a claim time to finish before the claim passes on.
pub(super) fn under_lease(
    key: &Key,
    text: &DurationText,
    lease: Option<Duration>,
    context: &mut Context<'_>,
) -> Option<Duration> {
    let duration = context.duration(key, text, TENTH..=HOUR)?;
    let lease = lease?;
    let most = lease * 9 / 10;
    if duration <= most {
        return Some(duration);
    }
    let what = format!(
        "found {:?}, expected at most {}: nine tenths of the lease of {}",
        text.0,
        units::show(most),
        units::show(lease)
    );
    context.report.error_help(key, what, "otherwise two workers could work on the same row");
    None
}

fn poll(section: &Key, text: &DurationText, context: &mut Context<'_>) -> Option<Duration> {
    context.duration(&section.child("poll_interval"), text, Duration::from_millis(10)..=MINUTE)
}

fn address(key: &Key, text: &str, context: &mut Context<'_>) -> Option<SocketAddr> {
    let address = text.parse().ok();
    if address.is_none() {
        let what = format!("found {text:?}, expected an IP address and a port");
        context.report.error_help(
            key,
            what,
            "for example \"127.0.0.1:8080\", \"0.0.0.0:8080\" or \"[::]:8080\"",
        );
    }
    address
}

fn public_url(key: &Key, text: &str, context: &mut Context<'_>) -> Option<String> {
    let url = text.strip_suffix('/').unwrap_or(text);
    let fits = url.parse::<http::Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.path() == "/"
            && uri.query().is_none()
            && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
    });
    if fits && !url.ends_with('/') && !url.contains('#') {
        return Some(url.to_owned());
    }
    let what = format!("found {text:?}, expected scheme, host and port only");
    context.report.error_help(
        key,
        what,
        "for example \"https://hooks.example.com\"; paths belong to endpoints",
    );
    None
}

fn tls(key: &Key, raw: &RawTls, context: &mut Context<'_>) -> Tls {
    let folder = context.report.places.nearest(key).folder();
    let mut file = |name: &str, path: &str| {
        let path = folder.join(path);
        if let Err(error) = std::fs::File::open(&path) {
            context.report.error(&key.child(name), format!("cannot read {}: {error}", path.display()));
        }
        path
    };
    Tls { certificate: file("certificate", &raw.certificate), key: file("key", &raw.key) }
}

/// The error never repeats the URL: it may hold a password.
fn database_url(url: &str) -> Result<DatabaseUrl, String> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(DatabaseUrl::Postgres(url.to_owned()));
    }
    let Some(path) = url.strip_prefix("sqlite://") else {
        return Err("expected a URL that begins with sqlite:// or postgres://".to_owned());
    };
    if path.is_empty() || path.contains(":memory:") {
        return Err("expected a file after sqlite://; events that were acknowledged must survive a restart"
            .to_owned());
    }
    if path.contains('?') {
        return Err("sqlite:// takes no options after `?`; hookgate sets them itself".to_owned());
    }
    Ok(DatabaseUrl::Sqlite(path.into()))
}
