//! Tokens for providers that publish their keys to their own clients only (RFC 6749, 4.4: client credentials).

use std::collections::HashMap;
use std::sync::Mutex as Plain;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::exchange::Exchange;
use crate::clock::Timestamp;
use crate::egress::Fault;
use crate::model::Secret;
use crate::verify::{KeyRequest, OAuth};

/// A token is not used in its last moments.
const MARGIN: Duration = Duration::from_secs(30);
/// How long a token counts whose provider does not say.
const DEFAULT_AGE: u64 = 300;
/// The longest that any token is kept.
const MAX_AGE: u64 = 24 * 60 * 60;

type Slot = Arc<Mutex<Option<(Secret, Timestamp)>>>;

/// Tokens by what they were given for.
#[derive(Default)]
pub(super) struct Tokens(Plain<HashMap<(String, String, String), Slot>>);

#[derive(Deserialize)]
struct Issued {
    access_token: String,
    expires_in: Option<u64>,
}

impl Tokens {
    /// A token that counts: one request for it, however many wait.
    pub(super) async fn get(
        &self,
        oauth: &OAuth,
        allow_private: bool,
        exchange: &Exchange,
        now: Timestamp,
    ) -> Result<Secret, Fault> {
        let wrong = |detail: String| Fault { code: "token", detail };
        if oauth.client_id.is_empty() || oauth.client_secret.expose().is_empty() {
            let detail =
                "the provider gives its keys to its own clients only: set the client's id and secret";
            return Err(wrong(detail.into()));
        }
        let slot = self.slot(oauth);
        let mut slot = slot.lock().await;
        if let Some((token, until)) = slot.as_ref()
            && now < *until
        {
            return Ok(token.clone());
        }
        let reply = exchange.send(&request(oauth, allow_private), None).await?;
        if reply.status != 200 {
            return Err(wrong(format!("the answer of the token's URL has status {}", reply.status)));
        }
        let issued: Issued = serde_json::from_slice(&reply.body)
            .map_err(|_| wrong("the answer of the token's URL holds no `access_token`".into()))?;
        let age = Duration::from_secs(issued.expires_in.unwrap_or(DEFAULT_AGE).min(MAX_AGE));
        let token = Secret::new(issued.access_token);
        *slot = Some((token.clone(), now + age.saturating_sub(MARGIN)));
        Ok(token)
    }

    /// The provider did not take it.
    pub(super) fn forget(&self, oauth: &OAuth) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&name(oauth));
    }

    fn slot(&self, oauth: &OAuth) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(name(oauth)).or_default())
    }
}

/// Bounded: all of it comes from the configuration.
fn name(oauth: &OAuth) -> (String, String, String) {
    (oauth.url.clone(), oauth.client_id.clone(), oauth.scope.clone())
}

fn request(oauth: &OAuth, allow_private: bool) -> KeyRequest {
    let mut fields = vec![("grant_type", "client_credentials")];
    if !oauth.scope.is_empty() {
        fields.push(("scope", &oauth.scope));
    }
    let basic = [oauth.client_id.as_bytes(), b":", oauth.client_secret.expose()].concat();
    KeyRequest {
        method: "POST".into(),
        headers: vec![
            ("content-type".into(), "application/x-www-form-urlencoded".into()),
            ("authorization".into(), format!("Basic {}", STANDARD.encode(basic))),
        ],
        body: serde_urlencoded::to_string(fields).unwrap_or_default().into(),
        allow_private,
        ..KeyRequest::get(oauth.url.clone())
    }
}
