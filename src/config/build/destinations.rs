//! Destinations: signature, headers, pace.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::queues::under_lease;
use super::values::{DAY, FOR_EVER, MINUTE, SECOND};
use super::{Context, flow, kinds};
use crate::config::key::Key;
use crate::config::raw::{RawDestination, RawSign, SecretText};
use crate::config::{Destination, Queue};
use crate::model::Secret;

pub(super) fn destination(
    name: &str,
    raw: &RawDestination,
    outbox: &Queue,
    context: &mut Context<'_>,
) -> Option<Destination> {
    let key = Key::of(&["destinations", name]);
    let named = context.name(&key, name);
    let kind = kinds::kind(&key, raw, context);
    let sign = sign(&key.child("sign"), raw.sign.as_ref(), context);
    let headers = headers(&key.child("headers"), raw, context);
    let lease = Some(outbox.lease);
    let timeout = match &raw.timeout {
        Some(text) => under_lease(&key.child("timeout"), text, lease, context),
        None => Some(outbox.work_timeout),
    };
    let queue = queue(&key, raw, outbox, context);
    let flow = flow::flow(&key, raw, context);
    named.then_some(())?;
    Some(Destination {
        name: name.into(),
        kind: kind?,
        sign,
        headers,
        timeout: timeout?,
        concurrency: raw.concurrency,
        drop_signature: raw.drop_signature,
        cloudevents: raw.cloudevents,
        queue: queue?,
        flow: flow?,
    })
}

/// `[outbox]`, with the destination's own values over it.
fn queue(key: &Key, raw: &RawDestination, outbox: &Queue, context: &mut Context<'_>) -> Option<Queue> {
    let backoff_cap = match &raw.backoff_cap {
        Some(text) => context.duration(&key.child("backoff_cap"), text, SECOND..=DAY),
        None => Some(outbox.backoff_cap),
    };
    let max_age = match &raw.max_age {
        Some(text) => context.duration(&key.child("max_age"), text, MINUTE..=FOR_EVER).map(Some),
        None => Some(outbox.max_age),
    };
    let backoff = flow::backoff(key, raw, context)?;
    // No step of the list is cut short.
    let backoff_cap = backoff.iter().copied().fold(backoff_cap?, Duration::max);
    Some(Queue {
        max_attempts: raw.max_attempts.unwrap_or(outbox.max_attempts),
        backoff_cap,
        backoff,
        max_age: max_age?,
        ..outbox.clone()
    })
}

fn sign(key: &Key, raw: Option<&RawSign>, context: &mut Context<'_>) -> Vec<Secret> {
    let texts: Vec<(Key, &SecretText)> = match raw {
        None => Vec::new(),
        Some(RawSign::One(text)) => vec![(key.clone(), text)],
        Some(RawSign::Several(list)) => {
            list.iter().enumerate().map(|(at, text)| (key.index(at), text)).collect()
        }
    };
    if raw.is_some() && texts.is_empty() {
        context.report.error_help(key, "the list is empty", "leave `sign` out to send unsigned");
    }
    texts.into_iter().filter_map(|(key, text)| signing_secret(&key, text, context)).collect()
}

/// After `whsec_` stands base64 (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>).
fn signing_secret(key: &Key, text: &SecretText, context: &mut Context<'_>) -> Option<Secret> {
    let (secret, reference) = context.secret(key, text)?;
    if let Some(encoded) = secret.expose().strip_prefix(b"whsec_") {
        let decoded = STANDARD.decode(encoded.trim_ascii());
        if decoded.is_ok_and(|bytes| bytes.len() >= crate::config::MIN_KEY_BYTES) {
            return Some(secret);
        }
        let what = format!("{reference}: expected base64 of 24 to 64 bytes after `whsec_`");
        context.report.error_help(key, what, "make one: `echo whsec_$(openssl rand -base64 32)`");
        return None;
    }
    Some(secret)
}

fn headers(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, text) in &raw.headers {
        let table = key;
        let key = key.child(name);
        let Ok(header) = name.to_lowercase().parse::<HeaderName>() else {
            // Not repeated: with name and value swapped it is the value.
            let place = context.report.places.nearest(&key);
            let what = "a name in this table cannot be a header's name";
            context.report.error_at(place, table.clone(), what, Some("write NAME = VALUE".to_owned()));
            continue;
        };
        let value = if text.starts_with("env:") || text.starts_with("file:") {
            context.resolve(&key, text).map(|(secret, _)| secret.expose().to_vec())
        } else {
            Some(text.as_bytes().to_vec())
        };
        let Some(value) = value else { continue };
        match HeaderValue::from_bytes(&value) {
            Ok(mut value) => {
                value.set_sensitive(true);
                if headers.insert(header, value).is_some() {
                    context.report.error(&key, "this header is there twice, in another spelling");
                }
            }
            Err(_) => context.report.error(&key, "the value has characters that cannot stand in a header"),
        }
    }
    headers
}
