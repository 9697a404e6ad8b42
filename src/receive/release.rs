//! Release from quarantine: a kept request is verified again, by the configuration of today and as of the moment when it
//! came, and only what verifies becomes events, as if it had just been received in `async` mode: workers do the rest.

use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use super::credentials::{self, Known};
use super::judge::judge;
use super::receiver::is_conflict;
use crate::clock::Clock;
use crate::config::Endpoint;
use crate::keys::{Keys, LearnedKeys};
use crate::mapping;
use crate::model::{NewEvent, Reason, Rejection, Request};
use crate::store::{Operations, QuarantineDetail, ReleaseOrder, Released, StoreError};
use crate::verify::{self, Decision, Keyring};

/// Verifies and releases.
pub struct Releaser {
    operations: Arc<dyn Operations>,
    keys: Keys,
    learned: LearnedKeys,
    clock: Arc<dyn Clock>,
    /// As of today: what providers sign of the URL.
    public_url: Option<String>,
    known: Mutex<Known>,
}

/// What became of one request, or would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Release {
    /// It is genuine, and its events are in the inbox.
    Released {
        /// Events that are new there; in a dry run all of them.
        new: usize,
        /// Events that were there before.
        known: usize,
    },
    /// It stays where it is.
    Stays {
        /// A [`Reason`]'s word, or `conflict`.
        reason: &'static str,
        /// One sentence.
        detail: String,
    },
    /// It is released already, or gone.
    Gone,
}

fn stays(rejection: &Rejection) -> Release {
    Release::Stays { reason: rejection.reason.as_str(), detail: rejection.detail.to_string() }
}

impl Releaser {
    /// Over an open store.
    #[must_use]
    pub fn new(
        operations: Arc<dyn Operations>,
        (keys, learned): (Keys, LearnedKeys),
        clock: Arc<dyn Clock>,
        public_url: Option<String>,
    ) -> Self {
        Self { operations, keys, learned, clock, public_url, known: Mutex::default() }
    }

    /// What a release would do: nothing is written.
    ///
    /// # Errors
    /// [`StoreError`], where the endpoint has learned its secret and it cannot be read.
    pub async fn examine(&self, endpoint: &Endpoint, kept: &QuarantineDetail) -> Result<Release, StoreError> {
        Ok(match self.events(endpoint, kept).await? {
            Ok(events) => Release::Released { new: events.len(), known: 0 },
            Err(rejection) => stays(&rejection),
        })
    }

    /// Releases one request, or notes why it stays.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was released.
    pub async fn release(
        &self,
        endpoint: &Endpoint,
        kept: &QuarantineDetail,
        order: &ReleaseOrder,
    ) -> Result<Release, StoreError> {
        let id = kept.record.id;
        let events = match self.events(endpoint, kept).await? {
            Ok(events) => events,
            Err(rejection) => {
                self.operations.not_released(id, rejection.reason.as_str()).await?;
                return Ok(stays(&rejection));
            }
        };
        let conflicts = |event: &NewEvent, first: &_| is_conflict(endpoint, event, first);
        match self.operations.release(id, &events, order, &conflicts).await? {
            Released::Done { new, known } => Ok(Release::Released { new, known }),
            Released::Gone => Ok(Release::Gone),
            Released::Conflict => {
                self.operations.not_released(id, "conflict").await?;
                let detail =
                    "genuine, but an event of the same id is there with another body; that one stays";
                Ok(Release::Stays { reason: "conflict", detail: detail.into() })
            }
        }
    }

    /// The events of a kept request, if it is genuine.
    async fn events(
        &self,
        endpoint: &Endpoint,
        kept: &QuarantineDetail,
    ) -> Result<Result<Vec<NewEvent>, Rejection>, StoreError> {
        if endpoint.proxied().is_some() {
            let detail =
                "a proxy endpoint's events are sent while the provider waits, and it waits no longer";
            return Ok(Err(Rejection::new(Reason::Precondition, detail)));
        }
        let now = self.clock.now();
        let learned = self.learned.keyring(endpoint, now).await?;
        let keyring = learned.as_deref().unwrap_or(&endpoint.keyring);
        let request = self.request(endpoint, kept, keyring);
        let moments = (kept.record.received_at, now);
        let verified = match judge(&self.keys, endpoint, &request, keyring, moments).await {
            Decision::Verified(verified) => verified,
            Decision::Rejected(rejection) => return Ok(Err(rejection)),
            Decision::Handshake { .. } => {
                let detail = "it is a handshake: there is no event in it";
                return Ok(Err(Rejection::new(Reason::HandshakeMismatch, detail)));
            }
            Decision::Needs(key) => {
                let detail = format!("{} must be fetched again and again", key.url);
                return Ok(Err(Rejection::new(Reason::KeyUnavailable, detail)));
            }
        };
        // The id of then, so that a second release makes the same events.
        let request_id = kept.request_id.parse().unwrap_or_else(|_| Uuid::nil());
        Ok(mapping::map(&verified, &endpoint.provider, &endpoint.name, &endpoint.expect, request_id))
    }

    /// The request as it came. Credentials stand in it only where their digest says that they did.
    fn request(&self, endpoint: &Endpoint, kept: &QuarantineDetail, keyring: &Keyring) -> Request {
        let record = &kept.record;
        let first_path = || endpoint.paths.first().cloned().unwrap_or_default();
        let url = record.url.clone().unwrap_or_else(first_path);
        let (path, query) = match url.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (url, None),
        };
        let mut request = Request {
            method: record.method.clone().unwrap_or_else(|| "POST".into()),
            path,
            query,
            origin: self.public_url.clone(),
            headers: kept.content.headers.clone(),
            body: kept.content.body.clone(),
            peer: record.peer.as_deref().and_then(|peer| peer.parse().ok()),
            by_proxy: kept.by_proxy,
        };
        if let Some(digests) = &kept.credentials {
            let candidates = verify::presented(&endpoint.provider, keyring, record.received_at);
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            credentials::restore(&mut request, digests, &candidates, &mut known);
        }
        request
    }
}
