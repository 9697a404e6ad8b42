//! `hookgate endpoints list`: every endpoint, its secrets and when they last matched.

use serde_json::{Value, json};

use super::super::out;
use super::super::shown::{self, clean, or_dash, time};
use super::rotation::{Watched, advice};
use crate::clock::{Clock as _, SystemClock, Timestamp};
use crate::config::{Config, Endpoint};
use crate::store::{Learner, SecretMatches, Store};

/// What the store knows.
struct Known {
    learners: Vec<Learner>,
    matches: Vec<SecretMatches>,
}

/// One secret of an endpoint.
struct Line {
    position: usize,
    masked: String,
    fingerprint: String,
    until: Option<Timestamp>,
    known: Option<SecretMatches>,
    status: &'static str,
    advice: String,
}

pub(super) async fn run(config: &Config, store: &Store, as_json: bool) -> anyhow::Result<()> {
    let known =
        Known { learners: store.learned.learners().await?, matches: store.ledger.secret_matches().await? };
    let now = SystemClock.now();
    if as_json {
        let endpoints = config.endpoints.values().map(|endpoint| object(endpoint, &known, now));
        let gone = known.gone(config).map(|row| {
            json!({"endpoint": row.endpoint, "learned_at": row.learned_at, "armed_until": row.armed_until})
        });
        out(format_args!("{}", endpoints.chain(gone).collect::<Value>()))?;
        return Ok(());
    }
    print(config, &known, now)
}

fn object(endpoint: &Endpoint, known: &Known, now: Timestamp) -> Value {
    let learner = known.learner(&endpoint.name);
    let secrets = lines(endpoint, known, now).into_iter().map(|line| {
        json!({
            "position": line.position,
            "secret": line.masked,
            "fingerprint": line.fingerprint,
            "until": line.until,
            "watched_since": line.known.as_ref().map(|known| known.since),
            "matched_at": line.known.as_ref().and_then(|known| known.matched_at),
            "matches": line.known.as_ref().map_or(0, |known| known.matches),
            "status": line.status,
            "advice": line.advice,
        })
    });
    json!({
        "endpoint": &*endpoint.name,
        "provider": &**endpoint.provider.id(),
        "secrets": secrets.collect::<Value>(),
        "learned_at": learner.and_then(|row| row.learned_at),
        "armed_until": learner.and_then(|row| row.armed_until),
    })
}

fn print(config: &Config, known: &Known, now: Timestamp) -> anyhow::Result<()> {
    let mut secrets = shown::table(["endpoint", "secret", "value", "until", "last matched", "advice"]);
    let mut learners = shown::table(["endpoint", "learned", "armed until"]);
    let mut any = false;
    let moment = |at: Option<Timestamp>| or_dash(at.map(time).as_deref());
    for endpoint in config.endpoints.values() {
        for line in lines(endpoint, known, now) {
            secrets.add_row([
                clean(&endpoint.name),
                line.position.to_string(),
                clean(&line.masked),
                moment(line.until),
                line.known.and_then(|known| known.matched_at).map_or_else(|| "never".into(), time),
                line.advice,
            ]);
        }
        if endpoint.provider.learns() {
            any = true;
            let row = known.learner(&endpoint.name);
            let cell = |at: Option<Timestamp>| at.map_or_else(|| "no".into(), time);
            let (learned, armed) = (row.and_then(|row| row.learned_at), row.and_then(|row| row.armed_until));
            learners.add_row([clean(&endpoint.name), cell(learned), cell(armed)]);
        }
    }
    for row in known.gone(config) {
        any = true;
        learners.add_row([clean(&row.endpoint), moment(row.learned_at), moment(row.armed_until)]);
    }
    out(format_args!("{secrets}"))?;
    if any {
        out(format_args!("{learners}"))?;
    }
    Ok(())
}

fn lines(endpoint: &Endpoint, known: &Known, now: Timestamp) -> Vec<Line> {
    let found: Vec<(String, Option<&SecretMatches>)> = endpoint
        .secrets
        .iter()
        .map(|one| {
            let fingerprint = one.secret.fingerprint(&endpoint.name);
            let row = known.matches.iter();
            let row = row.filter(|row| *row.endpoint == *endpoint.name);
            let row = row.into_iter().find(|row| row.fingerprint == fingerprint);
            (fingerprint, row)
        })
        .collect();
    let watched: Vec<Watched> = endpoint
        .secrets
        .iter()
        .zip(&found)
        .map(|(one, (_, row))| Watched {
            until: one.until,
            since: row.map(|row| row.since),
            matched_at: row.and_then(|row| row.matched_at),
        })
        .collect();
    let each = endpoint.secrets.iter().zip(found).enumerate();
    each.map(|(index, (one, (fingerprint, row)))| {
        let (status, advice) = advice(&watched, index, now);
        Line {
            position: index + 1,
            masked: one.secret.masked(),
            fingerprint,
            until: one.until,
            known: row.cloned(),
            status,
            advice,
        }
    })
    .collect()
}

impl Known {
    fn learner(&self, endpoint: &str) -> Option<&Learner> {
        self.learners.iter().find(|row| row.endpoint == endpoint)
    }

    /// Endpoints that have learned a secret and are no longer in the configuration.
    fn gone<'a>(&'a self, config: &'a Config) -> impl Iterator<Item = &'a Learner> {
        self.learners.iter().filter(|row| !config.endpoints.contains_key(&row.endpoint))
    }
}
