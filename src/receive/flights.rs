//! Single flight: of the concurrent copies of one event, one works and the others wait for it.
//!
//! They would wait at the unique index anyway; waiting here, they hold none of the connections that other events need.
//! Once the work is committed, those of them that have the very same bytes need not ask the database whether it is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::clock::Timestamp;
use crate::model::{EventKey, NewEvent};

/// The events that are being worked on in this process.
#[derive(Default)]
pub(super) struct Flights(Arc<Mutex<HashMap<EventKey, Arc<Queue>>>>);

/// The copies of one event that are here.
struct Queue {
    turn: Arc<Semaphore>,
    /// The work is committed: when the event was received, and the digest of its body.
    done: OnceLock<(Timestamp, [u8; 32])>,
}

/// The right to work on one event; the next copy's turn comes when it is dropped.
pub(super) struct Flight {
    flights: Arc<Mutex<HashMap<EventKey, Arc<Queue>>>>,
    queue: Option<Arc<Queue>>,
    key: EventKey,
    permit: Option<OwnedSemaphorePermit>,
}

impl Flights {
    /// Waits for the copies that came before; `None` once the deadline has passed.
    pub(super) async fn join(&self, key: &EventKey, deadline: Instant) -> Option<Flight> {
        let queue = {
            let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Queue { turn: Arc::new(Semaphore::new(1)), done: OnceLock::new() });
            Arc::clone(flights.entry(key.clone()).or_insert_with(new))
        };
        let turn = Arc::clone(&queue.turn);
        let (flights, key) = (Arc::clone(&self.0), key.clone());
        let mut flight = Flight { flights, queue: Some(queue), key, permit: None };
        let permit = timeout_at(deadline, turn.acquire_owned()).await;
        flight.permit = Some(permit.ok()?.ok()?);
        Some(flight)
    }
}

impl Flight {
    /// When the event was received, if a copy before this one has done its work and had the same bytes.
    pub(super) fn done(&self, event: &NewEvent) -> Option<Timestamp> {
        let (received_at, body_sha256) = self.queue.as_ref()?.done.get()?;
        (*body_sha256 == event.body_sha256).then_some(*received_at)
    }

    /// The event's work is committed.
    pub(super) fn finish(&self, event: &NewEvent, received_at: Timestamp) {
        if let Some(queue) = &self.queue {
            queue.done.get_or_init(|| (received_at, event.body_sha256));
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.permit.take();
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.take();
        // Only the map holds the queue: no copy is waiting, and none can come while the map is locked.
        if flights.get(&self.key).is_some_and(|queue| Arc::strong_count(queue) == 1) {
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
