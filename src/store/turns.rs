//! Where the next walk over the ordering keys of an endpoint begins: behind the last key that was claimed, so that
//! every key has its turn, however many stand before it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Lane;

/// The last claimed key of each endpoint. Of this process alone: it is about fairness, not about order.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<String, String>>>);

impl Turns {
    /// Behind which key each lane's walk begins; an empty text is before all of them.
    pub(super) fn of(&self, lanes: &[Lane]) -> Vec<String> {
        let last = self.lock();
        lanes.iter().map(|lane| last.get(&*lane.name).cloned().unwrap_or_default()).collect()
    }

    /// A claim took an event with this key.
    pub(super) fn took(&self, endpoint: &str, key: &str) {
        let mut last = self.lock();
        let greatest = last.entry(endpoint.to_owned()).or_default();
        if key > greatest.as_str() {
            key.clone_into(greatest);
        }
    }

    /// There was nothing to take behind that key.
    pub(super) fn begin_anew(&self, endpoint: &str) {
        self.lock().remove(endpoint);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
