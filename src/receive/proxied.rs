//! `mode = "proxy"`: the inbox row commits under a lease, a destination is asked once, its answer commits, then it is
//! the reply.
//!
//! Nobody but the provider causes an event to be sent: no worker claims such a row. A copy is sent only if the
//! destination certainly has not taken the event before (it was not reached, or answered with another status than
//! 2xx). After a time-out or a crash nobody knows, and a person must look.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tracing::{error, warn};

use super::asked::{message, review_reason, tell};
use super::receiver::{Receiver, is_conflict};
use super::synchronous::LEASE_POLL;
use super::{EventReceipt, Fault, Receipt};
use crate::config::Endpoint;
use crate::failpoint;
use crate::model::{Answer, Asked, Message, NewEvent, Outcome};
use crate::store::{Ending, Existing, Insertion, Opened, Pausable, RowState, Settled, StoreError, Unit};

/// How long the recording of an answer may take. The lease lasts twice as long beyond the deadline, so that nobody
/// takes an exchange for lost that is just being recorded.
const RECORD_TIME: Duration = Duration::from_secs(5);

/// What a copy is told whose first exchange has no known end.
const UNKNOWN: &str = "proxy.unknown";

/// An event that has come to its end, and what the provider is answered, if that is not its usual reply.
struct Done {
    event: EventReceipt,
    answer: Option<Answer>,
    fault: Option<Fault>,
}

/// Where an event stands when a request comes with it.
enum Found {
    /// It is ours to send.
    Ours(Opened),
    /// There is nothing to send.
    Done(Box<Done>),
    /// Another process sends it just now.
    Elsewhere,
}

/// Why nothing is kept of a look at an event.
enum Back {
    /// The row that is there has another body.
    Conflict(Existing),
    /// An operator holds the endpoint or its destination back.
    Paused,
}

impl Found {
    fn done(done: Done) -> Self {
        Self::Done(Box::new(done))
    }
}

impl Receiver {
    /// The configuration refuses proxies for providers that send batches, so there is one event.
    pub(super) async fn accept_and_ask(
        &self,
        mut receipt: Receipt,
        endpoint: &Arc<Endpoint>,
        destination: &Arc<str>,
        events: Vec<NewEvent>,
    ) -> Receipt {
        let Ok([event]) = <[NewEvent; 1]>::try_from(events) else {
            return receipt.faulty(Fault::Handler { code: "proxy.batch".into() });
        };
        let deadline = Instant::now() + self.time_allowed(endpoint);
        match self.exchange(endpoint, destination, &event, deadline).await {
            Ok(done) => {
                receipt.answer = done.answer;
                receipt.fault = done.fault;
                receipt.add(done.event);
            }
            Err(fault) => {
                receipt.fault = Some(fault);
                receipt.add(EventReceipt::new(&event, Outcome::Error));
            }
        }
        receipt
    }

    async fn exchange(
        &self,
        endpoint: &Endpoint,
        destination: &Arc<str>,
        event: &NewEvent,
        deadline: Instant,
    ) -> Result<Done, Fault> {
        // Copies of one event queue here, where they hold no connection that other events need.
        let Some(_flight) = self.flights.join(&event.key, deadline).await else {
            return Err(busy("copy_at_work"));
        };
        let opened = loop {
            match self.find(endpoint, event, left(deadline)?).await? {
                Found::Ours(opened) => break opened,
                Found::Done(done) => return Ok(*done),
                Found::Elsewhere => sleep(LEASE_POLL.min(left(deadline)?)).await,
            }
        };
        failpoint::reach("proxy.before_send");
        let message = message(event, destination, &opened);
        let left = deadline.saturating_duration_since(Instant::now());
        let asked = self.courier.ask(&message, opened.attempt, left).await;
        failpoint::reach("proxy.before_record");
        let lag = self.record(event, &opened, &message, &asked).await?;
        Ok(done(event, destination, asked, lag))
    }

    /// Takes the event, or finds out what has become of it.
    async fn find(&self, endpoint: &Endpoint, event: &NewEvent, left: Duration) -> Result<Found, Fault> {
        let mut tx = self.inbox.begin(left).await.map_err(|error| store(&error))?;
        let found = self.find_in(&mut tx, endpoint, event, left).await;
        match found {
            Ok(Ok(found)) => {
                tx.commit().await.map_err(|error| store(&error))?;
                Ok(found)
            }
            Ok(Err(Back::Paused)) => {
                tx.rollback().await;
                Err(busy("paused"))
            }
            Ok(Err(Back::Conflict(conflict))) => {
                tx.rollback().await;
                let event = self.conflict(endpoint, event, &conflict).await?;
                Ok(Found::done(Done { event, answer: None, fault: None }))
            }
            Err(error) => {
                tx.rollback().await;
                Err(store(&error))
            }
        }
    }

    async fn find_in(
        &self,
        tx: &mut Unit,
        endpoint: &Endpoint,
        event: &NewEvent,
        left: Duration,
    ) -> Result<Result<Found, Back>, StoreError> {
        let insertion = tx.insert(event).await?;
        if let Insertion::Existing(first) = &insertion
            && is_conflict(endpoint, event, first)
        {
            return Ok(Err(Back::Conflict(first.clone())));
        }
        if let Some(opened) = tx.open_exchange(&event.key, left + 2 * RECORD_TIME).await? {
            let is_paused = tx.pauses().await?.iter().any(|pause| match pause.kind {
                Pausable::Endpoint => *pause.name == *endpoint.name,
                Pausable::Destination => endpoint.proxied().is_some_and(|name| *pause.name == **name),
                Pausable::Handler => false,
            });
            return Ok(if is_paused { Err(Back::Paused) } else { Ok(Found::Ours(opened)) });
        }
        let Insertion::Existing(first) = insertion else { return Ok(Ok(Found::Elsewhere)) };
        if first.state == RowState::Leased {
            return Ok(Ok(Found::Elsewhere));
        }
        let recorded = tx.recorded(&event.key).await?;
        let is_closed =
            first.state == RowState::Processed && recorded.as_ref().is_some_and(|it| !it.is_in_review);
        if !is_closed {
            let fault = Fault::Destination { code: UNKNOWN.into(), is_repeatable: false };
            let event = EventReceipt::new(event, Outcome::Error);
            return Ok(Ok(Found::done(Done { event, answer: None, fault: Some(fault) })));
        }
        // Without a recorded answer (a person has closed it, retention took it, or it was too long to be kept) the
        // reply is the provider's own success.
        let answer = recorded.and_then(|recorded| recorded.answer);
        Ok(Ok(Found::done(Done {
            event: Self::duplicate(endpoint, event, first.received_at),
            answer,
            fault: None,
        })))
    }

    /// Writes down how it ended. Until then nothing is answered: if this fails, a person must look, as after a crash.
    async fn record(
        &self,
        event: &NewEvent,
        opened: &Opened,
        message: &Message,
        asked: &Asked,
    ) -> Result<Duration, Fault> {
        let review_reason = review_reason(asked);
        let ending = Ending {
            destination: &message.destination,
            message_id: &message.message_id,
            asked,
            review_reason: review_reason.as_deref(),
        };
        let mut tx = self.inbox.begin(RECORD_TIME).await.map_err(|error| store(&error))?;
        match tx.close_exchange(&event.key, opened, &ending).await {
            Ok((Settled::Written, lag)) => {
                tx.commit().await.map_err(|error| store(&error))?;
                tell(event, &message.destination, asked, review_reason.as_deref());
                Ok(lag)
            }
            Ok((Settled::LeaseLost, _)) => {
                tx.rollback().await;
                let (endpoint, event_id) = (&*event.key.endpoint, &event.key.event_id);
                warn!(endpoint, event_id, attempt = opened.attempt, "event.lease_lost");
                Err(Fault::Destination { code: UNKNOWN.into(), is_repeatable: false })
            }
            Err(error) => {
                tx.rollback().await;
                Err(store(&error))
            }
        }
    }
}

/// What is answered after an exchange.
fn done(event: &NewEvent, destination: &Arc<str>, asked: Asked, lag: Duration) -> Done {
    let (outcome, lag) =
        if asked.is_taken() { (Outcome::Processed, Some(lag)) } else { (Outcome::Error, None) };
    let fault = asked.attempt.error.clone().filter(|_| !asked.is_taken());
    let fault = fault.map(|code| Fault::Destination { code, is_repeatable: asked.is_repeatable() });
    let Asked { attempt, answer, .. } = asked;
    let asked = Some((Arc::clone(destination), attempt));
    Done { event: EventReceipt { lag, asked, ..EventReceipt::new(event, outcome) }, answer, fault }
}

/// The time left until the deadline; none is a fault.
fn left(deadline: Instant) -> Result<Duration, Fault> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(busy("timeout")) } else { Ok(left) }
}

fn busy(code: &str) -> Fault {
    Fault::Busy { code: code.into() }
}

fn store(failed: &StoreError) -> Fault {
    error!(code = failed.code(), error = %failed, "store.failed");
    busy(&failed.code())
}
