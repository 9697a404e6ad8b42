//! Calls that confirm a subscription: the URL is the provider's, and only hosts that its definition names are called.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::http::answered;
use super::transport::{Prepared, Reply, Transport};
use crate::egress::{Fault, Network};
use crate::keys::Exchange;
use crate::model::{Content, Message};
use crate::provider::{Confirm, Provider};
use crate::verify::KeyRequest;

/// Makes the calls.
pub(super) struct Confirmer {
    exchange: Exchange,
    rules: HashMap<Arc<str>, Vec<Confirm>>,
}

/// What the message says.
#[derive(Deserialize)]
struct Call {
    url: String,
    method: String,
}

impl Confirmer {
    pub(super) fn new(network: &Network) -> Self {
        Self { exchange: Exchange::new(network), rules: HashMap::new() }
    }

    /// Takes over the rules of one endpoint's provider.
    pub(super) fn admit(&mut self, provider: &Provider) {
        let rules = self.rules.entry(Arc::clone(provider.id())).or_default();
        rules.extend(provider.confirmations().cloned());
    }

    /// Makes one call. The rules are asked once more: they may have changed since the message was written.
    async fn call(&self, message: &Message) -> Result<StatusCode, Fault> {
        let refused = |detail: &str| Fault { code: "blocked_host", detail: detail.into() };
        let Content::Payload(payload) = &message.content else {
            return Err(refused("it is no confirmation"));
        };
        let call: Call = serde_json::from_str(payload).map_err(|_| refused("it says no URL"))?;
        let rules = self.rules.get(&message.key.provider).map(Vec::as_slice).unwrap_or_default();
        let rule = rules.iter().find(|rule| rule.target.admits(&call.url));
        let rule = rule.ok_or_else(|| refused("the provider's definition does not name its host"))?;
        let request = KeyRequest {
            method: call.method,
            allow_private: rule.target.allow_private,
            ..KeyRequest::get(call.url)
        };
        let reply = self.exchange.send(&request, None).await?;
        StatusCode::from_u16(reply.status)
            .map_err(|_| Fault { code: "protocol", detail: "the answer has no status".into() })
    }
}

#[async_trait]
impl Transport for Confirmer {
    async fn send(&self, message: &Prepared<'_>) -> Reply {
        match self.call(message.message).await {
            Ok(status) => answered(status, &HeaderMap::new(), message.now),
            Err(fault) => fault.into(),
        }
    }
}
