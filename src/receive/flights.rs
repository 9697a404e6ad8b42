//! Single flight: of the concurrent copies of one event, one works and the others wait for it.
//!
//! They would wait at the unique index anyway; waiting here, they hold none of the connections that other events need.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::model::EventKey;

/// The events that are being worked on in this process.
#[derive(Default)]
pub(super) struct Flights(Arc<Mutex<HashMap<EventKey, Arc<Semaphore>>>>);

/// The right to work on one event; the next copy's turn comes when it is dropped.
pub(super) struct Flight {
    flights: Arc<Mutex<HashMap<EventKey, Arc<Semaphore>>>>,
    key: EventKey,
    permit: Option<OwnedSemaphorePermit>,
}

impl Flights {
    /// Waits for the copies that came before; `None` once the deadline has passed.
    pub(super) async fn join(&self, key: &EventKey, deadline: Instant) -> Option<Flight> {
        let turn = {
            let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(flights.entry(key.clone()).or_insert_with(|| Arc::new(Semaphore::new(1))))
        };
        let mut flight = Flight { flights: Arc::clone(&self.0), key: key.clone(), permit: None };
        let permit = timeout_at(deadline, turn.acquire_owned()).await;
        flight.permit = Some(permit.ok()?.ok()?);
        Some(flight)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.permit.take();
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the map holds the semaphore: no copy is waiting, and none can come while the map is locked.
        if flights.get(&self.key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            flights.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn key() -> EventKey {
        EventKey { provider: "stripe".into(), endpoint: "billing".into(), event_id: "evt_1".into() }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(20)
    }

    #[tokio::test]
    async fn a_copy_waits_until_the_first_one_is_done() {
        let flights = Flights::default();
        let first = flights.join(&key(), soon()).await;
        assert!(first.is_some());
        assert!(flights.join(&key(), soon()).await.is_none(), "the second copy must not pass the first");
        drop(first);
        assert!(flights.join(&key(), soon()).await.is_some());
    }

    #[tokio::test]
    async fn nothing_is_left_behind_when_all_copies_are_done() {
        let flights = Flights::default();
        let first = flights.join(&key(), soon()).await;
        let late = flights.join(&key(), soon()).await;
        drop((first, late));
        assert!(flights.0.lock().unwrap().is_empty());
    }
}
