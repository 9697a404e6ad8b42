//! `[database]`, `[quarantine]` and `[retention]`.

use super::Context;
use super::values::{FOR_EVER, HOUR};
use crate::config::key::Key;
use crate::config::raw::{RawDatabase, RawQuarantine, RawRetention};
use crate::config::{Database, DatabaseUrl, Quarantine, Retention};

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

pub(super) fn retention(raw: &RawRetention, context: &mut Context<'_>) -> Option<Retention> {
    let key = Key::of(&["retention"]);
    let mut age = |name: &str, text| context.duration(&key.child(name), text, HOUR..=FOR_EVER);
    let payload = age("payload", &raw.payload);
    let keys = age("keys", &raw.keys);
    let outbox = age("outbox", &raw.outbox);
    let attempts = age("attempts", &raw.attempts);
    let quarantine = age("quarantine", &raw.quarantine);
    let audit = age("audit", &raw.audit);
    let replays = age("replays", &raw.replays);
    let (payload, keys, quarantine) = (payload?, keys?, quarantine?);
    if keys < payload {
        let what = format!("found {:?}, shorter than retention.payload ({:?})", raw.keys.0, raw.payload.0);
        context.report.error_help(&key.child("keys"), what, "an event's key must outlive its payload");
    }
    Some(Retention {
        payload,
        keys,
        outbox: outbox?,
        attempts: attempts?,
        // An event that is released when its key is gone could be done twice.
        quarantine: quarantine.min(keys),
        audit: audit?,
        replays: replays?,
    })
}

pub(super) fn quarantine(raw: &RawQuarantine, context: &mut Context<'_>) -> Option<Quarantine> {
    let key = Key::of(&["quarantine", "max_bytes"]);
    let max_bytes = context.size(&key, &raw.max_bytes, 64 << 10..=16 << 30)?;
    Some(Quarantine { max_rows: raw.max_rows, max_bytes: max_bytes as u64, per_minute: raw.per_minute })
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
