//! The likely cause of a rejection, for the log and the receipt. It never weakens the decision, and the sender never
//! gets to see it.
//!
//! Test secrets on live URLs are the most common mistake, so the secrets of the provider's other endpoints come first;
//! then [`verify::diagnose`] tries what else goes wrong. A stranger can ask for it with every request, so it is bounded:
//! once a second per endpoint, one at a time in the process, small bodies only, on a thread that serves no connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task;

use crate::clock::Timestamp;
use crate::config::Endpoint;
use crate::model::{Reason, Rejection, Request};
use crate::verify;

/// Secrets of other endpoints that are tried for one request.
const MAX_KEYS: usize = 16;
/// Larger bodies are not looked into.
const MAX_BODY: usize = 64 << 10;
/// The shortest time between two searches for one endpoint.
const PAUSE: Duration = Duration::from_secs(1);

/// Finds hints, at a bounded cost.
pub(super) struct Hints {
    endpoints: Arc<[Arc<Endpoint>]>,
    last: Mutex<HashMap<Arc<str>, Timestamp>>,
    /// Whoever finds another search at work goes without a hint.
    turn: Arc<Semaphore>,
}

impl Hints {
    pub(super) fn new(endpoints: Vec<Arc<Endpoint>>) -> Self {
        Self { endpoints: endpoints.into(), last: Mutex::default(), turn: Arc::new(Semaphore::new(1)) }
    }

    /// What probably went wrong, in one sentence.
    pub(super) async fn find(
        &self,
        endpoint: &Arc<Endpoint>,
        request: &Request,
        rejection: &Rejection,
        now: Timestamp,
    ) -> Option<String> {
        if request.body.len() > MAX_BODY {
            return None;
        }
        let turn = Arc::clone(&self.turn).try_acquire_owned().ok()?;
        if !self.may_search(endpoint, now) {
            return None;
        }
        let (endpoints, endpoint) = (Arc::clone(&self.endpoints), Arc::clone(endpoint));
        let (request, rejection) = (request.clone(), rejection.clone());
        let search = task::spawn_blocking(move || {
            let _turn = turn;
            let hint = other_endpoint(&endpoints, &endpoint, &request, &rejection, now);
            hint.or_else(|| {
                let hints =
                    verify::diagnose(&request, &endpoint.provider, &endpoint.keyring, &rejection, now);
                hints.first().map(ToString::to_string)
            })
        });
        search.await.ok().flatten()
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

/// Whether another endpoint's secret fits.
fn other_endpoint(
    endpoints: &[Arc<Endpoint>],
    endpoint: &Endpoint,
    request: &Request,
    rejection: &Rejection,
    now: Timestamp,
) -> Option<String> {
    if rejection.reason != Reason::SignatureMismatch {
        return None;
    }
    let mut keys = 0;
    let others = endpoints
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
