//! The public face: a message goes in, an attempt comes out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::confirm::Confirmer;
use super::letterhead::Letterhead;
use super::open::{DestinationError, Opener};
use super::transport::{Reply, Transport};
use crate::clock::Timestamp;
use crate::config::{Config, Destination};
use crate::egress::Network;
use crate::model::{Attempt, CONFIRMATIONS, Message};
use crate::provider::Provider;

/// Sends messages to the configured destinations.
pub struct Dispatcher {
    lines: HashMap<Arc<str>, Line>,
    /// Names of the headers that carry a provider's signature, by provider.
    signature_headers: HashMap<Arc<str>, Vec<String>>,
}

/// One destination.
struct Line {
    letterhead: Letterhead,
    transport: Box<dyn Transport>,
}

impl Dispatcher {
    /// Makes every destination of the config ready.
    ///
    /// # Errors
    /// [`DestinationError`] for the first destination that cannot be used, or that is `https` on a machine without
    /// root certificates.
    pub fn new(config: &Config) -> Result<Self, DestinationError> {
        let providers = config.endpoints.values().map(|endpoint| endpoint.provider.as_ref());
        let confirmations = Destination::confirmations(&config.outbox);
        let destinations = config.destinations.values().map(AsRef::as_ref).chain([&confirmations]);
        Self::over(&Network::default(), destinations, providers)
    }

    /// The same over a network of one's own. `providers` are asked for the names of their signature headers and for
    /// their confirmations only.
    ///
    /// # Errors
    /// As [`Dispatcher::new`].
    pub fn over<'a>(
        network: &Network,
        destinations: impl IntoIterator<Item = &'a Destination>,
        providers: impl IntoIterator<Item = &'a Provider>,
    ) -> Result<Self, DestinationError> {
        let (mut signature_headers, mut confirmer) = (HashMap::new(), Some(Confirmer::new(network)));
        for provider in providers {
            signature_headers.insert(provider.id().clone(), provider.signature_headers().to_vec());
            if let Some(confirmer) = &mut confirmer {
                confirmer.admit(provider);
            }
        }
        let opener = Opener::new(network);
        let mut lines = HashMap::new();
        for destination in destinations {
            let letterhead = Letterhead::new(destination)?;
            let transport: Box<dyn Transport> = match confirmer.take_if(|_| is_confirmations(destination)) {
                Some(confirmer) => Box::new(confirmer),
                None => opener.open(destination)?,
            };
            lines.insert(destination.name.clone(), Line { letterhead, transport });
        }
        Ok(Self { lines, signature_headers })
    }

    /// Hands one message over once and says how it ended. It writes the `delivery.succeeded` or `delivery.failed`
    /// line; nothing else is recorded here. Dropping the future leaves the outcome unknown.
    ///
    /// `attempt` counts from 1; `now` is the signature's time.
    pub async fn send(
        &self,
        destination: &Destination,
        message: &Message,
        attempt: i32,
        now: Timestamp,
    ) -> Attempt {
        let started = Instant::now();
        let Reply { outcome, status, code, detail, retry_after } = match self.lines.get(&destination.name) {
            Some(Line { letterhead, transport }) => {
                let signature = self.signature_headers.get(&message.key.provider);
                let signature = signature.map(Vec::as_slice).unwrap_or_default();
                transport.send(&letterhead.prepare(message, signature, attempt, now)).await
            }
            None => Reply::failed("destination.unknown", "it is not in this process's config"),
        };
        let duration = started.elapsed();
        let result = Attempt { outcome, status, error: code.map(Into::into), duration, retry_after };
        log(message, attempt, &result, &detail);
        result
    }
}

fn is_confirmations(destination: &Destination) -> bool {
    *destination.name == *CONFIRMATIONS
}

pub(super) fn log(message: &Message, attempt: i32, result: &Attempt, detail: &str) {
    let Message { destination, message_id, event_type, key, .. } = message;
    let duration_ms = u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX);
    let status = result.status;
    if let Some(error) = &result.error {
        let outcome = result.outcome.as_str();
        tracing::warn!(
            %destination, message_id, event_id = key.event_id, event_type, attempt, outcome, status, error, detail,
            duration_ms, "delivery.failed"
        );
    } else {
        tracing::info!(
            %destination, message_id, event_id = key.event_id, event_type, attempt, status, duration_ms,
            "delivery.succeeded"
        );
    }
}
