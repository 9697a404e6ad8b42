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

    /// What a claim took: endpoints, and keys where the event has one.
    pub(super) fn took(&self, taken: Vec<(String, Option<String>)>) {
        let mut last = self.lock();
        for (endpoint, key) in taken {
            let Some(key) = key else { continue };
            let greatest = last.entry(endpoint).or_default();
            if key > *greatest {
                *greatest = key;
            }
        }
    }

    /// Lets all walks begin anew. `false` if they did so already.
    pub(super) fn turn_back(&self) -> bool {
        let mut last = self.lock();
        let was_on_its_way = !last.is_empty();
        last.clear();
        was_on_its_way
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
