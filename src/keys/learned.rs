//! Secrets that a provider hands over in band: learned once, while an operator waits for it, and used by every gateway
//! over the same database within a second.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tracing::{info, warn};

use crate::clock::Timestamp;
use crate::config::Endpoint;
use crate::model::Secret;
use crate::store::{Learned, Lesson, StoreError};
use crate::verify::Keyring;

/// How long what was read of the store counts.
const LOOK: Duration = Duration::from_secs(1);
/// The longest secret that is learned.
const MAX_SECRET: usize = 1024;

/// The keyrings of endpoints whose providers hand over secrets.
pub struct LearnedKeys {
    store: Arc<dyn Learned>,
    endpoints: std::sync::Mutex<HashMap<Arc<str>, Arc<Mutex<State>>>>,
}

#[derive(Default)]
struct State {
    looked: Option<Timestamp>,
    secret: Option<Secret>,
    keyring: Option<Arc<Keyring>>,
    /// The last handshake that taught nothing.
    refused: Option<(Timestamp, Lesson)>,
}

impl LearnedKeys {
    /// Over the store that all gateways share.
    #[must_use]
    pub fn new(store: Arc<dyn Learned>) -> Self {
        Self { store, endpoints: std::sync::Mutex::default() }
    }

    /// The endpoint's keys with the learned one among them; `None` if there is none. Asks the store once a second at
    /// most; while it does not answer, what was known counts.
    ///
    /// # Errors
    /// [`StoreError`] if it was never known.
    pub async fn keyring(
        &self,
        endpoint: &Endpoint,
        now: Timestamp,
    ) -> Result<Option<Arc<Keyring>>, StoreError> {
        if !endpoint.provider.learns() {
            return Ok(None);
        }
        let state = self.state(endpoint);
        let mut state = state.lock().await;
        if state.looked.is_none_or(|looked| !within(LOOK, looked, now)) {
            match self.store.learned(&endpoint.name).await {
                Ok(secret) => state.take(endpoint, secret, now),
                Err(error) if state.looked.is_none() => return Err(error),
                Err(error) => {
                    warn!(endpoint = &*endpoint.name, code = error.code(), %error, "learned_secret.not_read");
                    state.looked = Some(now);
                }
            }
        }
        Ok(state.keyring.clone())
    }

    /// What becomes of a secret that came in band.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn learn(
        &self,
        endpoint: &Endpoint,
        secret: &Secret,
        now: Timestamp,
    ) -> Result<Lesson, StoreError> {
        let usable = secret.expose().len() <= MAX_SECRET
            && Keyring::new(&endpoint.provider, [(secret.clone(), None)]).is_ok();
        if !usable {
            return Ok(Lesson::NotArmed);
        }
        let state = self.state(endpoint);
        let mut state = state.lock().await;
        // Anybody can send such a request; no more than one a second is worth a transaction.
        if let Some((at, lesson)) = state.refused
            && within(LOOK, at, now)
        {
            return Ok(lesson);
        }
        let lesson = self.store.learn(&endpoint.name, secret).await?;
        match lesson {
            Lesson::Learned => {
                info!(endpoint = &*endpoint.name, "secret.learned");
                state.looked = None;
            }
            Lesson::Known => {}
            Lesson::Taken | Lesson::NotArmed => state.refused = Some((now, lesson)),
        }
        Ok(lesson)
    }

    fn state(&self, endpoint: &Endpoint) -> Arc<Mutex<State>> {
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(endpoints.entry(Arc::clone(&endpoint.name)).or_default())
    }
}

impl State {
    fn take(&mut self, endpoint: &Endpoint, secret: Option<Secret>, now: Timestamp) {
        self.looked = Some(now);
        if self.secret == secret {
            return;
        }
        self.keyring = secret.as_ref().and_then(|secret| {
            let configured = endpoint.secrets.iter().map(|it| (it.secret.clone(), it.until));
            let all = configured.chain([(secret.clone(), None)]);
            Keyring::new(&endpoint.provider, all).map(Arc::new).ok()
        });
        self.secret = secret;
    }
}

fn within(span: Duration, then: Timestamp, now: Timestamp) -> bool {
    (now - then).to_std().is_ok_and(|past| past < span)
}
