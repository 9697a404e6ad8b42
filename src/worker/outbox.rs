//! The outbox's job: one claimed message, one delivery, one recorded attempt.
//!
//! A delivery is an effect outside, so it may happen more than once, always under one `webhook-id`: if this process
//! dies between the send and the settlement, the lease runs out and another worker sends again. One that settles
//! after its lease has passed on changes no row.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;
use tracing::{error, info, warn};

use super::Job;
use super::lines::Lines;
use crate::clock::Clock;
use crate::config::Destination;
use crate::dispatch::Dispatcher;
use crate::failpoint;
use crate::model::{Attempt, AttemptOutcome, Leased, Message, Next};
use crate::retry;
use crate::store::{Outbox, Settled, StoreError};

/// Delivers messages.
pub struct OutboxJob {
    outbox: Arc<dyn Outbox>,
    dispatcher: Dispatcher,
    clock: Arc<dyn Clock>,
    lines: Lines,
    wake: Arc<Notify>,
}

impl OutboxJob {
    /// Delivers to these destinations; rows for others stay where they are and are seen as backlog. `shared` hands are
    /// there beyond the first of each. `wake` is the one that the loop over this job waits for.
    pub fn new<'a>(
        outbox: Arc<dyn Outbox>,
        dispatcher: Dispatcher,
        destinations: impl IntoIterator<Item = &'a Arc<Destination>>,
        shared: usize,
        clock: Arc<dyn Clock>,
        wake: Arc<Notify>,
    ) -> Self {
        Self { outbox, dispatcher, clock, lines: Lines::new(destinations, shared), wake }
    }

    /// Messages at work at once.
    pub fn hands(&self) -> usize {
        self.lines.hands()
    }

    async fn deliver(&self, destination: &Destination, leased: Leased<Message>) {
        failpoint::reach("outbox.before_send");
        let attempt = self.send(destination, &leased).await;
        failpoint::reach("outbox.before_settle");
        self.settle(destination, leased, &attempt).await;
    }

    /// Sends, and renews the lease for as long as that takes: an outbox row is held by no lock.
    async fn send(&self, destination: &Destination, leased: &Leased<Message>) -> Attempt {
        let sending = self.dispatcher.send(destination, &leased.item, leased.attempts, self.clock.now());
        tokio::pin!(sending);
        let lease = destination.queue.lease;
        loop {
            tokio::select! {
                attempt = &mut sending => return attempt,
                () = tokio::time::sleep(lease / 3) => {}
            }
            // A lease that is lost or cannot be renewed changes nothing here: the settlement is fenced.
            if let Err(error) = self.outbox.extend(leased, lease).await {
                warn!(destination = &*destination.name, code = error.code(), %error, "delivery.lease_not_renewed");
            }
        }
    }

    async fn settle(&self, destination: &Destination, leased: Leased<Message>, attempt: &Attempt) {
        let (name, id, number) = (&*destination.name, leased.item.message_id.clone(), leased.attempts);
        let probe = leased.item.probe;
        let settled = if attempt.outcome == AttemptOutcome::Succeeded {
            self.outbox.publish(leased, attempt).await
        } else {
            let next = self.next(destination, &leased, attempt);
            match &next {
                Next::Retry { after } => {
                    let next_in_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                    info!(
                        destination = name,
                        message_id = id,
                        attempt = number,
                        next_in_ms,
                        "delivery.retry_scheduled"
                    );
                }
                Next::Review { reason } => {
                    warn!(
                        destination = name,
                        message_id = id,
                        attempt = number,
                        reason,
                        "delivery.needs_review"
                    );
                }
            }
            self.outbox.fail_attempt(leased, attempt, &next).await
        };
        self.note(destination, attempt, probe).await;
        match settled {
            Ok(Settled::Written) => {}
            Ok(Settled::LeaseLost) => {
                warn!(destination = name, message_id = id, attempt = number, "delivery.lease_lost");
            }
            // The lease runs out by itself; the message is then sent again under the same id.
            Err(error) => {
                error!(destination = name, message_id = id, code = error.code(), %error, "delivery.not_settled");
            }
        }
    }

    async fn note(&self, destination: &Destination, attempt: &Attempt, probe: bool) {
        let (Some(circuit), false) =
            (&destination.flow.circuit, attempt.outcome == AttemptOutcome::Succeeded)
        else {
            return;
        };
        if let Err(error) = self.outbox.note_failure(&destination.name, attempt, circuit, probe).await {
            error!(destination = &*destination.name, code = error.code(), %error, "circuit.not_noted");
        }
    }

    fn next(&self, destination: &Destination, leased: &Leased<Message>, attempt: &Attempt) -> Next {
        let failed = retry::Failed {
            code: attempt.error.as_deref().unwrap_or("unknown"),
            retryable: attempt.outcome == AttemptOutcome::Failed,
            failures: leased.failures().unsigned_abs(),
            age: (self.clock.now() - leased.item.born_at).to_std().unwrap_or_default(),
            asked: attempt.retry_after,
        };
        retry::next(&destination.queue.policy(), &failed, rand::random())
    }
}

#[async_trait]
impl Job for OutboxJob {
    type Claimed = (Leased<Message>, OwnedSemaphorePermit);
    type Report = ();

    fn queue(&self) -> &'static str {
        "outbox"
    }

    async fn claim(&self, free: usize) -> Result<Vec<Self::Claimed>, StoreError> {
        let (lanes, room) = self.lines.lanes(Instant::now());
        if lanes.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = self.outbox.claim(free.min(room).try_into().unwrap_or(u32::MAX), &lanes).await?;
        let now = Instant::now();
        let with_hand = claimed.into_iter().filter_map(|leased| {
            let hand = self.lines.take(&leased, now)?;
            Some((leased, hand))
        });
        Ok(with_hand.collect())
    }

    async fn work(&self, (leased, hand): Self::Claimed) {
        let Some(line) = self.lines.get(&leased.item.destination) else { return };
        // Something may wait for the end of just this message: the next one of its key, all others behind a probe.
        let holds_back = leased.item.probe || line.destination.flow.order.is_some();
        self.deliver(&line.destination, leased).await;
        let was_short = self.lines.is_short_of_hands(line);
        drop(hand);
        if holds_back || was_short {
            self.wake.notify_one();
        }
    }

    async fn give_back(&self, (leased, _): Self::Claimed) -> Result<Settled, StoreError> {
        self.outbox.give_back(leased).await
    }

    async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        let now = Instant::now();
        let (lanes, _) = self.lines.lanes(now);
        let due = if lanes.is_empty() { None } else { self.outbox.next_due(&lanes).await? };
        Ok(due.into_iter().chain(self.lines.next_pace(now)).min())
    }
}
