//! `mode = "sync"`: the inbox row and all of the work commit in one transaction, then the reply.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::flights::Flight;
use super::receiver::{Receiver, is_conflict};
use super::{EventReceipt, Fault, Receipt};
use crate::clock::Timestamp;
use crate::config::Endpoint;
use crate::failpoint;
use crate::model::{Event, NewEvent, Outcome};
use crate::process::{BUSY, Failed};
use crate::store::{Insertion, RowState, StoreError, Unit};

/// How often to look again at a row that a worker holds under a lease.
pub(super) const LEASE_POLL: Duration = Duration::from_millis(100);

/// The reply must leave this long before the provider stops waiting for it.
const REPLY_MARGIN: Duration = Duration::from_secs(1);

impl Receiver {
    /// Each event is a unit of work of its own: the good ones of a batch commit, a failed one leaves no row, and the
    /// error reply brings it again.
    pub(super) async fn accept_and_process(
        &self,
        mut receipt: Receipt,
        endpoint: &Arc<Endpoint>,
        events: Vec<NewEvent>,
    ) -> Receipt {
        let deadline = Instant::now() + self.time_allowed(endpoint);
        for event in events {
            let done = match self.one(endpoint, &event, deadline).await {
                Ok(done) => done,
                Err((fault, runs)) => {
                    receipt.fault.get_or_insert(fault);
                    EventReceipt { runs, ..EventReceipt::new(&event, Outcome::Error) }
                }
            };
            receipt.add(done);
        }
        receipt
    }

    /// The smaller of `sync_timeout` and the provider's own deadline, less a margin.
    pub(super) fn time_allowed(&self, endpoint: &Endpoint) -> Duration {
        let provider = endpoint.provider.deadline().map(|d| d.saturating_sub(REPLY_MARGIN).max(d / 2));
        provider.map_or(self.sync_timeout, |d| d.min(self.sync_timeout))
    }

    async fn one(
        &self,
        endpoint: &Endpoint,
        event: &NewEvent,
        deadline: Instant,
    ) -> Result<EventReceipt, Broken> {
        // Copies of one event queue here, where they hold no connection that other events need.
        let Some(flight) = self.flights.join(&event.key, deadline).await else {
            return Err(busy("copy_at_work"));
        };
        if let Some(received_at) = flight.done(event) {
            return Ok(Self::duplicate(endpoint, event, received_at));
        }
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(busy("timeout"));
            }
            let mut tx = self.inbox.begin(left).await.map_err(|error| store(&error))?;
            let existing = match tx.insert(event).await {
                Ok(Insertion::Inserted { received_at }) => {
                    failpoint::reach("process.after_insert");
                    return self.work(tx, event, &stored(event, received_at), (&flight, deadline)).await;
                }
                Ok(Insertion::Existing(existing)) => existing,
                Err(error) => {
                    tx.rollback().await;
                    return Err(store(&error));
                }
            };
            if is_conflict(endpoint, event, &existing) {
                tx.rollback().await;
                return self.conflict(endpoint, event, &existing).await.map_err(|fault| (fault, Vec::new()));
            }
            match existing.state {
                // Left by another mode or by a replay: the row is locked, and worked on as it was stored.
                RowState::Unprocessed => match tx.stored(&event.key).await {
                    Ok(Some(first)) => return self.work(tx, event, &first, (&flight, deadline)).await,
                    Ok(None) => tx.rollback().await,
                    Err(error) => {
                        tx.rollback().await;
                        return Err(store(&error));
                    }
                },
                RowState::Leased => {
                    tx.rollback().await;
                    sleep(LEASE_POLL.min(left)).await;
                }
                RowState::Processed => {
                    tx.rollback().await;
                    return Ok(Self::duplicate(endpoint, event, existing.received_at));
                }
                RowState::NeedsReview => {
                    tx.rollback().await;
                    return Ok(EventReceipt::known(event, Outcome::Accepted, existing.received_at));
                }
            }
        }
    }

    async fn work(
        &self,
        mut tx: Unit,
        event: &NewEvent,
        stored: &Event,
        (flight, deadline): (&Flight, Instant),
    ) -> Result<EventReceipt, Broken> {
        match self.processor.is_paused(&mut tx, stored).await {
            Ok(false) => {}
            Ok(true) => {
                tx.rollback().await;
                return Err(busy("paused"));
            }
            Err(error) => {
                tx.rollback().await;
                return Err(store(&error));
            }
        }
        match self.processor.run(tx, stored, deadline).await {
            Ok(work) => {
                flight.finish(event, stored.received_at);
                self.wake.dispatcher.notify_one();
                let outcome = if work.outcome == "ignored" { Outcome::Ignored } else { Outcome::Processed };
                Ok(EventReceipt { runs: work.runs, lag: Some(work.lag), ..EventReceipt::new(event, outcome) })
            }
            Err(Failed { failure, runs }) => Err((fault(failure.code), runs)),
        }
    }
}

type Broken = (Fault, Vec<crate::process::HandlerRun>);

fn busy(code: &str) -> Broken {
    (Fault::Busy { code: code.into() }, Vec::new())
}

fn store(error: &StoreError) -> Broken {
    tracing::error!(code = error.code(), %error, "store.failed");
    busy(&error.code())
}

/// Our own trouble and lack of time are answered 503, a handler's failure 500.
fn fault(code: String) -> Fault {
    if code == "timeout" || code == BUSY || code.starts_with("store.") {
        Fault::Busy { code }
    } else {
        Fault::Handler { code }
    }
}

/// The event as its new row has it.
fn stored(event: &NewEvent, received_at: Timestamp) -> Event {
    Event {
        key: event.key.clone(),
        event_type: event.event_type.clone(),
        occurred_at: event.occurred_at,
        received_at,
        account: event.account.clone(),
        ordering_key: event.ordering_key.clone(),
        version: event.version,
        content_type: event.content_type.clone(),
        headers: Arc::clone(&event.headers),
        body: event.body.clone(),
        document: None,
        trace_context: event.trace_context.clone(),
    }
}
