//! The likely cause of a signature that does not match. It never weakens the decision.
//!
//! Test secrets on live URLs are the most common mistake, so the secrets of the provider's other endpoints are tried:
//! 16 keys at most, once a second per endpoint, and only ever to say so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::config::Endpoint;
use crate::model::{Reason, Rejection, Request};
use crate::verify;

/// Secrets of other endpoints that are tried for one request.
const MAX_KEYS: usize = 16;
/// The shortest time between two searches for one endpoint.
const PAUSE: Duration = Duration::from_secs(1);

/// Finds hints, at a bounded cost.
pub(super) struct Hints {
    endpoints: Vec<Arc<Endpoint>>,
    last: Mutex<HashMap<Arc<str>, Timestamp>>,
}

impl Hints {
    pub(super) fn new(endpoints: Vec<Arc<Endpoint>>) -> Self {
        Self { endpoints, last: Mutex::new(HashMap::new()) }
    }

    /// What probably went wrong, in one sentence.
    pub(super) fn find(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        rejection: &Rejection,
        now: Timestamp,
    ) -> Option<String> {
        if rejection.reason != Reason::SignatureMismatch || !self.may_search(endpoint, now) {
            return None;
        }
        let mut keys = 0;
        let others = self
            .endpoints
            .iter()
            .filter(|other| other.name != endpoint.name && other.provider.id() == endpoint.provider.id());
        for other in others {
            keys += other.secrets.len();
            if keys > MAX_KEYS {
                return None;
            }
            if verify::fits(request, &endpoint.provider, &other.keyring, now) {
                return Some(format!("signed with the secret of endpoint `{}`", other.name));
            }
        }
        None
    }

    fn may_search(&self, endpoint: &Endpoint, now: Timestamp) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last
            .get(&endpoint.name)
            .is_none_or(|at| (now - *at).to_std().map_or(true, |since| since >= PAUSE));
        if due {
            last.insert(Arc::clone(&endpoint.name), now);
        }
        due
    }
}
