//! Outbox rows of one unit of work: what handlers emitted gets its address, what routes forward gets a row.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::plan::Forward;
use crate::model::{Event, EventKey, Headers, TRANSFORMED};
use crate::provider::Provider;
use crate::store::{Emitted, StoreError, Unit};

/// The name of a forwarding route in message ids and in `outbox.route`.
pub(super) const FORWARD: &str = "forward";

/// Gives every message that a handler left in this transaction the destinations of its route.
pub(super) async fn address_emitted<'a>(
    tx: &mut Unit,
    event: &Event,
    edition: Option<&str>,
    emit_of: impl Fn(&str) -> &'a [&'a Arc<str>],
) -> Result<(), StoreError> {
    let mut seen = HashMap::new();
    for message in tx.emitted(&event.key).await? {
        let twin: &mut u32 = seen.entry(identity(&message)).or_default();
        *twin += 1;
        let ids: Vec<(&str, String)> = emit_of(&message.route)
            .iter()
            .map(|to| {
                (&***to, message_id(&event.key, &[&identity(&message), to, &twin.to_string()], edition))
            })
            .collect();
        let to: Vec<(&str, &str)> = ids.iter().map(|(to, id)| (*to, id.as_str())).collect();
        if !to.is_empty() {
            tx.address(message.id, &to).await?;
        }
    }
    Ok(())
}

/// Writes one row for each destination and form.
pub(super) async fn forward(
    tx: &mut Unit,
    event: &Event,
    edition: Option<&str>,
    provider: Option<&Provider>,
    forwards: &[Forward<'_>],
) -> Result<(), StoreError> {
    for Forward { to, changed } in forwards {
        match changed {
            None => {
                let id = message_id(&event.key, &[FORWARD, to], edition);
                tx.forward(event, FORWARD, to, &id).await?;
            }
            Some((transform, body)) => {
                let id = message_id(&event.key, &[FORWARD, to, "transform", transform], edition);
                tx.forward(&transformed(event, body, provider), FORWARD, to, &id).await?;
            }
        }
    }
    Ok(())
}

/// The `webhook-id` of an event that goes to a destination as it came.
#[must_use]
pub fn forwarded_id(key: &EventKey, destination: &str) -> String {
    message_id(key, &[FORWARD, destination], None)
}

/// Headers that speak of the body as it came, beside the provider's signature.
const OF_THE_BODY: [&str; 8] = [
    "content-type",
    "content-encoding",
    "content-md5",
    "content-digest",
    "repr-digest",
    "digest",
    "signature",
    "signature-input",
];

/// The event with another body, and without the headers that were true of the first.
fn transformed(event: &Event, body: &Bytes, provider: Option<&Provider>) -> Event {
    let signed = provider.map(Provider::signature_headers).unwrap_or_default();
    let goes = |name: &str| !OF_THE_BODY.contains(&name) && !signed.iter().any(|header| header == name);
    let mut headers = Headers::new();
    for (name, value) in event.headers.iter().filter(|(name, _)| goes(name)) {
        headers.push(name, value);
    }
    headers.push(TRANSFORMED, "true");
    Event {
        body: body.clone(),
        content_type: Some("application/json".to_owned()),
        headers: Arc::new(headers),
        ..event.clone()
    }
}

/// What makes a handler's message the same message when the event is worked on again.
fn identity(message: &Emitted) -> String {
    [&message.route, &message.aggregate_type, &message.aggregate_id, &message.event_type]
        .map(|part| format!("{}:{part}", part.len()))
        .concat()
}

/// `webhook-id`: a hash of the event's key, the route and the destination, so that it stays the same over attempts,
/// crashes and replays, unless a replay is an edition of its own.
fn message_id(key: &EventKey, parts: &[&str], edition: Option<&str>) -> String {
    let mut hash = Sha256::new();
    for part in [&*key.provider, &*key.endpoint, &key.event_id].iter().chain(parts).chain(edition.as_slice())
    {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    format!("msg_{}", URL_SAFE_NO_PAD.encode(&hash.finalize()[..20]))
}
