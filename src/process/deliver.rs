//! Outbox rows of one unit of work: what handlers emitted gets its address, what routes forward gets a row.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::model::{Event, EventKey};
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

/// Writes one row for each destination.
pub(super) async fn forward(
    tx: &mut Unit,
    event: &Event,
    edition: Option<&str>,
    to: &[&Arc<str>],
) -> Result<(), StoreError> {
    for destination in to {
        let id = message_id(&event.key, &[FORWARD, destination], edition);
        tx.forward(event, FORWARD, destination, &id).await?;
    }
    Ok(())
}

/// The `webhook-id` of an event that goes to a destination as it came.
#[must_use]
pub fn forwarded_id(key: &EventKey, destination: &str) -> String {
    message_id(key, &[FORWARD, destination], None)
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
