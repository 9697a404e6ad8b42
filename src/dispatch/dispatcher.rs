//! The public face: a message goes in, an attempt comes out.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{HeaderMap, RETRY_AFTER};
use http::{Method, Request, StatusCode};
use http_body_util::Full;

use super::classify;
use super::confirm::Confirmer;
use super::headers;
use super::target::{DestinationError, Target};
use crate::clock::Timestamp;
use crate::config::{Config, Destination};
use crate::egress::{self, Client, Fault, Guarded, Network};
use crate::model::{Attempt, AttemptOutcome, CONFIRMATIONS, Content, Message};
use crate::provider::Provider;
use crate::retry;

/// Sends messages to the configured destinations.
pub struct Dispatcher {
    routes: HashMap<Arc<str>, (Target, Client)>,
    /// Names of the headers that carry a provider's signature, by provider.
    signature_headers: HashMap<Arc<str>, Vec<String>>,
    confirmer: Confirmer,
}

impl Dispatcher {
    /// Makes every destination of the config ready.
    ///
    /// # Errors
    /// [`DestinationError`] for the first destination that cannot be used, or that is `https` on a machine without
    /// root certificates.
    pub fn new(config: &Config) -> Result<Self, DestinationError> {
        let providers = config.endpoints.values().map(|endpoint| endpoint.provider.as_ref());
        Self::over(&Network::default(), config.destinations.values().map(AsRef::as_ref), providers)
    }

    /// The same over a network of one's own. `providers` are asked for the names of their signature headers only.
    ///
    /// # Errors
    /// As [`Dispatcher::new`].
    pub fn over<'a>(
        network: &Network,
        destinations: impl IntoIterator<Item = &'a Destination>,
        providers: impl IntoIterator<Item = &'a Provider>,
    ) -> Result<Self, DestinationError> {
        let plain = egress::tls_over(network.roots.clone().unwrap_or_else(rustls::RootCertStore::empty));
        let machine = LazyCell::new(egress::tls_of_this_machine);
        let mut routes = HashMap::new();
        for destination in destinations.into_iter().filter(|it| *it.name != *CONFIRMATIONS) {
            let target = Target::new(destination)?;
            let tls = if network.roots.is_none() && target.is_https() { &*machine } else { &plain };
            let tls = tls.clone().map_err(|problem| DestinationError {
                destination: destination.name.clone(),
                key: "url",
                problem,
            })?;
            let guarded = Guarded { resolver: network.resolver.clone(), rule: target.rule };
            let client = Client::new(guarded, tls, network.connect_timeout, target.concurrency);
            routes.insert(destination.name.clone(), (target, client));
        }
        let (mut signature_headers, mut confirmer) = (HashMap::new(), Confirmer::new(network));
        for provider in providers {
            signature_headers.insert(provider.id().clone(), provider.signature_headers().to_vec());
            confirmer.admit(provider);
        }
        Ok(Self { routes, signature_headers, confirmer })
    }

    /// Makes one request of one message and says how it ended. It writes the `delivery.succeeded` or
    /// `delivery.failed` line; nothing else is recorded here. Dropping the future leaves the outcome unknown.
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
        let ending = match self.routes.get(&destination.name) {
            Some((target, client)) => self.exchange(target, client, message, attempt, now).await,
            None if *destination.name == *CONFIRMATIONS => self.confirmer.call(message).await,
            None => Err(Fault {
                code: "destination.unknown",
                detail: "it is not in this process's config".into(),
            }),
        };
        let (result, detail) = judge(ending, started.elapsed(), now);
        log(message, attempt, &result, &detail);
        result
    }

    async fn exchange(
        &self,
        target: &Target,
        client: &Client,
        message: &Message,
        attempt: i32,
        now: Timestamp,
    ) -> Result<(StatusCode, HeaderMap), Fault> {
        let body = match &message.content {
            Content::Payload(json) => Bytes::from(json.clone()),
            Content::Body(bytes) => bytes.clone(),
        };
        let withheld = match self.signature_headers.get(&message.key.provider) {
            Some(names) if target.drop_signature => names.as_slice(),
            _ => &[],
        };
        let policy = headers::Policy { own: &target.own, keys: &target.keys, withheld };
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.url.clone();
        *request.headers_mut() = headers::write(message, &body, attempt, now, &policy);

        let deadline = Instant::now() + target.timeout;
        let reply = egress::within(target.timeout, client.send(request))
            .await
            .ok_or_else(|| Fault {
                code: "timeout",
                detail: format!("no answer within {:?}", target.timeout),
            })?
            .map_err(|error| egress::fault(&error))?;
        let (head, rest) = reply.into_parts();
        egress::within(deadline.saturating_duration_since(Instant::now()), egress::drain(rest)).await;
        Ok((head.status, head.headers))
    }
}

fn judge(
    ending: Result<(StatusCode, HeaderMap), Fault>,
    duration: Duration,
    now: Timestamp,
) -> (Attempt, String) {
    match ending {
        Ok((status, headers)) => {
            let outcome = classify::outcome(status);
            let failed = outcome != AttemptOutcome::Succeeded;
            let asked = headers.get(RETRY_AFTER).filter(|_| failed);
            let attempt = Attempt {
                status: Some(status.as_u16()),
                error: failed.then(|| format!("status.{}", status.as_u16())),
                retry_after: asked.and_then(|value| retry::retry_after(value.as_bytes(), now)),
                outcome,
                duration,
            };
            (attempt, String::new())
        }
        Err(Fault { code, detail }) => {
            let outcome = AttemptOutcome::Failed;
            (Attempt { outcome, status: None, error: Some(code.into()), duration, retry_after: None }, detail)
        }
    }
}

fn log(message: &Message, attempt: i32, result: &Attempt, detail: &str) {
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
