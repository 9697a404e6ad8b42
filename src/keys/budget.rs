//! How many fetches an endpoint may cause that bring nothing. Key ids and event ids come from strangers, and each new
//! one would cost a fetch: so an endpoint has one fetch for a key in hand at a time, and after one that brought no key
//! the next may begin a minute later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Timestamp;

/// The pause after a fetch that brought no key.
const PAUSE: Duration = Duration::from_mins(1);
/// The pause after a fetch that failed: the provider's trouble may pass.
const FAILED: Duration = Duration::from_secs(2);
/// Questions in a minute about events that the provider does not know.
const IN_VAIN: u32 = 30;

/// The budgets of all endpoints.
#[derive(Default)]
pub(super) struct Budgets {
    keys: Mutex<HashMap<String, Budget>>,
    questions: Mutex<HashMap<String, (Timestamp, u32)>>,
}

#[derive(Clone, Copy)]
enum Budget {
    /// A fetch is under way.
    Busy,
    /// The next may begin at this time.
    From(Timestamp),
}

impl Budgets {
    /// The right to one fetch, or nothing.
    pub(super) fn take(self: &Arc<Self>, endpoint: &str, now: Timestamp) -> Option<Ticket> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        match keys.get(endpoint) {
            Some(Budget::Busy) => return None,
            // The clock may have been set back: no pause is longer than it can have become.
            Some(Budget::From(at)) if *at > now && *at - now <= chrono::TimeDelta::minutes(1) => return None,
            _ => {}
        }
        keys.insert(endpoint.to_owned(), Budget::Busy);
        Some(Ticket { budgets: Arc::clone(self), endpoint: endpoint.to_owned(), next: now })
    }

    /// Whether the endpoint may ask about an event.
    pub(super) fn may_ask(&self, endpoint: &str, now: Timestamp) -> bool {
        let questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.get(endpoint).is_none_or(|(since, count)| !within_pause(*since, now) || *count < IN_VAIN)
    }

    /// The provider did not know the event.
    pub(super) fn asked_in_vain(&self, endpoint: &str, now: Timestamp) {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, count) = questions.entry(endpoint.to_owned()).or_insert((now, 0));
        if !within_pause(*since, now) {
            (*since, *count) = (now, 0);
        }
        *count += 1;
    }
}

fn within_pause(since: Timestamp, now: Timestamp) -> bool {
    (now - since).to_std().is_ok_and(|past| past < PAUSE)
}

/// The right to one fetch; dropped, it lets the next one begin.
pub(super) struct Ticket {
    budgets: Arc<Budgets>,
    endpoint: String,
    next: Timestamp,
}

impl Ticket {
    /// It brought a key. One that was fetched again for the sake of an unknown key id may still be short of it.
    pub(super) fn fruitful(mut self, renewed: bool, now: Timestamp) {
        if renewed {
            self.next = now + PAUSE;
        }
    }

    /// The provider has no such key.
    pub(super) fn unfruitful(mut self, now: Timestamp) {
        self.next = now + PAUSE;
    }

    /// The provider could not be asked.
    pub(super) fn failed(mut self, now: Timestamp) {
        self.next = now + FAILED;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut keys = self.budgets.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.insert(std::mem::take(&mut self.endpoint), Budget::From(self.next));
    }
}
