//! HTTP: one POST for each attempt.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{HeaderMap, RETRY_AFTER};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Full;
use rustls::ClientConfig;

use super::classify;
use super::transport::{Prepared, Reply, Transport};
use crate::clock::Timestamp;
use crate::config::Destination;
use crate::egress::{self, Client, Fault, Guarded, Network, Rule};
use crate::model::AttemptOutcome;
use crate::retry;

/// One URL, and the client that reaches it.
pub(super) struct Http {
    url: Uri,
    pub(super) client: Client,
    pub(super) timeout: Duration,
}

impl Http {
    /// `rule` says which addresses may be reached.
    pub(super) fn new(
        url: &Uri,
        destination: &Destination,
        rule: Rule,
        network: &Network,
        tls: ClientConfig,
    ) -> Self {
        let guarded = Guarded { resolver: network.resolver.clone(), rule };
        let client = Client::new(guarded, tls, network.connect_timeout, destination.concurrency);
        Self { url: url.clone(), client, timeout: destination.timeout }
    }

    /// The request that carries a message.
    pub(super) fn request(&self, message: &Prepared<'_>) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(message.body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        *request.headers_mut() = message.http_headers();
        request
    }

    async fn exchange(&self, message: &Prepared<'_>) -> Result<(StatusCode, HeaderMap), Fault> {
        let deadline = Instant::now() + self.timeout;
        let reply = egress::within(self.timeout, self.client.send(self.request(message)))
            .await
            .ok_or_else(|| Fault { code: "timeout", detail: format!("no answer within {:?}", self.timeout) })?
            .map_err(|error| egress::fault(&error))?;
        let (head, rest) = reply.into_parts();
        egress::within(deadline.saturating_duration_since(Instant::now()), egress::drain(rest)).await;
        Ok((head.status, head.headers))
    }
}

#[async_trait]
impl Transport for Http {
    async fn send(&self, message: &Prepared<'_>) -> Reply {
        match self.exchange(message).await {
            Ok((status, headers)) => answered(status, &headers, message.now),
            Err(fault) => fault.into(),
        }
    }
}

/// What an answer means for the message.
pub(super) fn answered(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Reply {
    let outcome = classify::outcome(status);
    let failed = outcome != AttemptOutcome::Succeeded;
    let asked = headers.get(RETRY_AFTER).filter(|_| failed);
    Reply {
        status: Some(status.as_u16()),
        code: failed.then(|| format!("status.{}", status.as_u16()).into()),
        detail: String::new(),
        retry_after: asked.and_then(|value| retry::retry_after(value.as_bytes(), now)),
        outcome,
    }
}
