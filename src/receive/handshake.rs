//! What an answered handshake asks of the gateway besides its reply: to learn a secret, to confirm a subscription.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tracing::info;

use super::receiver::Receiver;
use super::{Fault, Receipt};
use crate::clock::Timestamp;
use crate::config::Endpoint;
use crate::model::{Outcome, Reason, Rejection, Request, Secret};
use crate::store::{Confirm, Lesson};
use crate::verify::Confirmation;

impl Receiver {
    pub(super) async fn handshake(
        &self,
        receipt: Receipt,
        endpoint: &Arc<Endpoint>,
        request: &Request,
        (learn, confirm): (Option<Secret>, Option<Confirmation>),
        now: Timestamp,
    ) -> Receipt {
        if let Some(secret) = learn {
            match self.learned.learn(endpoint, &secret, now).await {
                Ok(lesson) => {
                    if let Some(why) = unlearned(endpoint, lesson) {
                        let rejection = Rejection::new(Reason::HandshakeMismatch, why);
                        return self.rejected(receipt, endpoint, request, rejection);
                    }
                }
                Err(error) => return receipt.faulty(Fault::Busy { code: error.code() }),
            }
        }
        if let Some(confirmation) = confirm {
            if let Err(error) = self.inbox.confirm(&message(endpoint, &confirmation)).await {
                return receipt.faulty(Fault::Busy { code: error.code() });
            }
            self.wake.dispatcher.notify_one();
        }
        let verified = receipt.verified;
        info!(endpoint = &*endpoint.name, request_id = %receipt.request_id, verified, "handshake.answered");
        Receipt { outcome: Outcome::Handshake, ..receipt }
    }
}

/// Why the handshake is refused.
fn unlearned(endpoint: &Endpoint, lesson: Lesson) -> Option<String> {
    let name = &endpoint.name;
    match lesson {
        Lesson::Learned | Lesson::Known => None,
        Lesson::NotArmed => {
            Some(format!("it brings a secret and nobody waits for one: `hookgate endpoints arm {name}`"))
        }
        Lesson::Taken => Some(format!(
            "it brings another secret than the one that was learned: `hookgate endpoints forget {name}` first"
        )),
    }
}

fn message(endpoint: &Endpoint, confirmation: &Confirmation) -> Confirm {
    let mut hash = Sha256::new();
    for part in [&**endpoint.provider.id(), &endpoint.name, &confirmation.method, &confirmation.url] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    Confirm {
        provider: Arc::clone(endpoint.provider.id()),
        endpoint: Arc::clone(&endpoint.name),
        message_id: format!("msg_{}", URL_SAFE_NO_PAD.encode(&hash.finalize()[..20])),
        payload: json!({ "url": confirmation.url, "method": confirmation.method }).to_string(),
    }
}
