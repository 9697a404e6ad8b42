//! The outbox's job: one claimed message, one delivery, one recorded attempt.
//!
//! A delivery is an effect outside, so it may happen more than once, always under one `webhook-id`: if this process
//! dies between the send and the settlement, the lease runs out and another worker sends again. One that settles
//! after its lease has passed on changes no row.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::{error, info, warn};

use super::Job;
use crate::clock::Clock;
use crate::config::Destination;
use crate::dispatch::Dispatcher;
use crate::failpoint;
use crate::model::{Attempt, AttemptOutcome, Leased, Message, Next};
use crate::retry;
use crate::store::{Lane, Outbox, Settled, StoreError};

/// Delivers messages.
pub struct OutboxJob {
    outbox: Arc<dyn Outbox>,
    dispatcher: Dispatcher,
    clock: Arc<dyn Clock>,
    lines: BTreeMap<Arc<str>, Line>,
}

/// One destination and the hands that are free for it.
struct Line {
    destination: Arc<Destination>,
    hands: Arc<Semaphore>,
}

impl OutboxJob {
    /// Delivers to these destinations; rows for others stay where they are and are seen as backlog.
    pub fn new<'a>(
        outbox: Arc<dyn Outbox>,
        dispatcher: Dispatcher,
        destinations: impl IntoIterator<Item = &'a Arc<Destination>>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let line = |destination: &Arc<Destination>| Line {
            destination: Arc::clone(destination),
            hands: Arc::new(Semaphore::new(destination.concurrency)),
        };
        let lines = destinations.into_iter().map(|d| (Arc::clone(&d.name), line(d))).collect();
        Self { outbox, dispatcher, clock, lines }
    }

    fn lanes(&self) -> Vec<Lane> {
        let free = self.lines.values().filter(|line| line.hands.available_permits() > 0);
        free.map(|line| Lane {
            name: Arc::clone(&line.destination.name),
            limit: line.hands.available_permits().try_into().unwrap_or(u32::MAX),
            lease: line.destination.queue.lease,
            max_attempts: line.destination.queue.max_attempts,
            skips_dead: false,
            takers: Vec::new(),
        })
        .collect()
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
        let lanes = self.lanes();
        if lanes.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = self.outbox.claim(free.try_into().unwrap_or(u32::MAX), &lanes).await?;
        // Only this loop takes hands, so a row that was claimed has one.
        let with_hand = claimed.into_iter().filter_map(|leased| {
            let hands = Arc::clone(&self.lines.get(&leased.item.destination)?.hands);
            Some((leased, hands.try_acquire_owned().ok()?))
        });
        Ok(with_hand.collect())
    }

    async fn work(&self, (leased, hand): Self::Claimed) {
        if let Some(line) = self.lines.get(&leased.item.destination) {
            self.deliver(&line.destination, leased).await;
        }
        drop(hand);
    }

    async fn give_back(&self, (leased, _): Self::Claimed) -> Result<Settled, StoreError> {
        self.outbox.give_back(leased).await
    }

    async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        self.outbox.next_due(&self.lanes()).await
    }
}
