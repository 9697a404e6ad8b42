//! `hookgate verify`: one captured request, offline.

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use chrono::SecondsFormat;
use serde_json::{Value, json};
use uuid::Uuid;

use super::request_args::{At, Captured};
use super::{RequestArgs, out, warn};
use crate::clock::{Clock as _, SystemClock, Timestamp};
use crate::mapping;
use crate::model::{NewEvent, Outcome, Reason, Rejection, Reply, Request};
use crate::provider::Provider;
use crate::verify::{self, Decision, Fetched, Keyring, MAX_FETCHED, Verified};

/// Check one captured request offline and map it to events
///
/// Prints one JSON object. Exit code 0: verified, or a handshake that was answered; 1: rejected; 2: wrong use.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The request and the keys.
    #[command(flatten)]
    pub request: RequestArgs,
    /// What a key's or certificate's URL answers, instead of fetching it; may be repeated
    #[arg(long, value_name = "URL=FILE")]
    pub fetched: Vec<String>,
}

/// Judges the request and prints what came of it.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let judged = args.request.read().and_then(|captured| judge(&captured, &fetched(&args.fetched)?));
    match judged {
        Ok((object, code)) => {
            out(format_args!("{object}"))?;
            Ok(ExitCode::from(code))
        }
        Err(error) => {
            warn(format_args!("error: {error:#}"));
            Ok(ExitCode::from(2))
        }
    }
}

/// URLs have `=` in their queries, files seldom have one: the last one separates them.
fn fetched(pairs: &[String]) -> anyhow::Result<Fetched> {
    let mut fetched = Fetched::nothing();
    for pair in pairs {
        let (url, file) =
            pair.rsplit_once('=').with_context(|| format!("--fetched {pair}: expected URL=FILE"))?;
        let body = std::fs::read(file).with_context(|| format!("--fetched: {file}"))?;
        ensure!(
            body.len() <= MAX_FETCHED,
            "--fetched: {file} is larger than the {MAX_FETCHED} bytes that are fetched"
        );
        fetched.insert_url(url.to_owned(), body.into());
    }
    Ok(fetched)
}

fn judge(captured: &Captured, fetched: &Fetched) -> anyhow::Result<(Value, u8)> {
    let Captured { provider, request, .. } = captured;
    let secrets = captured.secrets.iter().map(|secret| (secret.clone(), None));
    let keyring = Keyring::new(provider, secrets)?;
    let now = match captured.at {
        At::Moment(moment) => moment,
        At::Request => verify::claimed_time(request, provider, &keyring).unwrap_or_else(|| SystemClock.now()),
    };
    Ok(match verify::verify(request, provider, &keyring, fetched, now) {
        Decision::Verified(verified) => (mapped(&verified, provider), 0),
        Decision::Handshake { reply, verified, .. } => {
            (json!({ "verified": verified, "handshake": true, "reply": answer(&reply) }), 0)
        }
        Decision::Rejected(rejection) => {
            let hints = hints(request, provider, &keyring, &rejection, now);
            (refused(&rejection, &hints, provider), 1)
        }
        Decision::Needs(request) => {
            let detail = format!(
                "{} must be fetched, and this command fetches nothing: give it with --fetched",
                request.url
            );
            (refused(&Rejection::new(Reason::KeyUnavailable, detail), &[], provider), 1)
        }
    })
}

/// A genuine request is verified even where no event can be made of it: then it says why.
fn mapped(verified: &Verified, provider: &Provider) -> Value {
    let mut object = json!({
        "verified": true,
        "variant": &**verified.variant(),
        "secret": verified.secret_position(),
        "events": [],
    });
    match mapping::map(verified, provider, &"verify".into(), &[], Uuid::nil()) {
        Ok(events) => {
            object["events"] = events.iter().map(event).collect();
            let reply = mapping::reply(verified, provider).or_else(|| provider.reply(Outcome::Accepted));
            object["reply"] = reply.map_or_else(|| own(200), |reply| answer(&reply));
        }
        Err(rejection) => {
            object["reason"] = rejection.reason.as_str().into();
            object["detail"] = (*rejection.detail).into();
            object["reply"] = own(provider.rejection_status(rejection.reason));
        }
    }
    object
}

fn event(event: &NewEvent) -> Value {
    json!({
        "id": event.key.event_id,
        "type": event.event_type,
        "occurred_at": event.occurred_at.map(|moment| moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        "account": event.account,
        "ordering_key": event.ordering_key,
    })
}

/// What to look at first. Where nothing that was tried fits, the secret itself is left.
fn hints(
    request: &Request,
    provider: &Provider,
    keyring: &Keyring,
    rejection: &Rejection,
    now: Timestamp,
) -> Vec<String> {
    let hints = verify::diagnose(request, provider, keyring, rejection, now);
    let mut hints: Vec<String> = hints.iter().map(ToString::to_string).collect();
    if hints.is_empty() && rejection.reason == Reason::SignatureMismatch {
        hints.push(
            "none of the usual mistakes explains it: compare the secret with the provider's dashboard (the right \
             account, environment and webhook), and give the body's exact bytes"
                .into(),
        );
    }
    hints
}

fn refused(rejection: &Rejection, hints: &[String], provider: &Provider) -> Value {
    json!({
        "verified": false,
        "reason": rejection.reason.as_str(),
        "detail": rejection.detail,
        "hints": hints,
        "reply": own(provider.rejection_status(rejection.reason)),
    })
}

/// A reply that the definition spells out.
fn answer(reply: &Reply) -> Value {
    let headers: serde_json::Map<String, Value> =
        reply.headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    json!({ "status": reply.status, "headers": headers, "body": String::from_utf8_lossy(&reply.body) })
}

/// A reply whose body is the gateway's own JSON.
fn own(status: u16) -> Value {
    json!({ "status": status, "headers": {}, "body": null })
}
