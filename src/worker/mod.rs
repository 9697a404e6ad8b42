//! One generic loop that works a queue off, run over the inbox, over the outbox and over replays.
//!
//! Who acts: [`run`] claims as many rows as it has hands free, so that work on a row begins when its lease does; each
//! row is worked on in a task of its own, and its [`Job`] settles it.
//! What holds: the database's table is the queue; a wake-up only saves waiting for the next look. When told to stop
//! it claims no more, and returns when the last row in hand is settled.
//! What is absent: HTTP in, metrics (what a job reports goes to the caller's `watch`).

mod inbox;
mod outbox;
mod replay;
mod shares;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::error;

use crate::store::{Settled, StoreError};

pub use inbox::{InboxJob, Worked};
pub use outbox::OutboxJob;
pub use replay::ReplayJob;
pub use shares::Shares;

/// Between two looks at a queue without a wake-up.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);

/// What one queue needs: how to claim rows, and how to work on one and settle it.
#[async_trait]
pub trait Job: Send + Sync + 'static {
    /// A claimed row, with what is needed to work on it.
    type Claimed: Send + 'static;
    /// What came of it, for the metrics.
    type Report: Send + 'static;

    /// `inbox`, `outbox` or `replays`.
    fn queue(&self) -> &'static str;

    /// Claims up to `free` due rows.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn claim(&self, free: usize) -> Result<Vec<Self::Claimed>, StoreError>;

    /// Whether a row that is done may let others be claimed that could not be claimed before: then the next look follows
    /// at once.
    fn leads_on(&self) -> bool {
        false
    }

    /// Works on one row and settles it, whatever happens.
    async fn work(&self, claimed: Self::Claimed) -> Self::Report;

    /// Gives a claim back on which no work was begun.
    ///
    /// # Errors
    /// [`StoreError`]: the lease will run out by itself.
    async fn give_back(&self, claimed: Self::Claimed) -> Result<Settled, StoreError>;

    /// How long until the next row is due, if one waits.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn next_due(&self) -> Result<Option<Duration>, StoreError>;
}

/// How a queue is looked after.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Rows worked on at once.
    pub concurrency: usize,
    /// How often to look for due rows without being woken.
    pub poll_interval: Duration,
}

/// Works the queue off until `stop`, then finishes what is in hand.
pub async fn run<J: Job>(
    job: Arc<J>,
    settings: Settings,
    wake: Arc<Notify>,
    watch: impl Fn(&J::Report) + Send + Sync + 'static,
    stop: CancellationToken,
) {
    let hands = Arc::new(Semaphore::new(settings.concurrency));
    let watch = Arc::new(watch);
    let tasks = TaskTracker::new();
    while !stop.is_cancelled() {
        // Whatever is committed from here on wakes the wait below, even if it comes before the wait begins.
        let woken = wake.notified();
        tokio::pin!(woken);
        woken.as_mut().enable();
        let Some(free) = free_hands(&hands, &stop).await else { break };
        let asked = free.len();
        let claimed = claim(job.as_ref(), asked, &stop).await;
        let more_may_wait = claimed.len() == asked;
        for (claimed, hand) in claimed.into_iter().zip(free) {
            let (job, watch, wake) = (Arc::clone(&job), Arc::clone(&watch), Arc::clone(&wake));
            tasks.spawn(async move {
                watch(&job.work(claimed).await);
                drop(hand);
                if job.leads_on() {
                    wake.notify_one();
                }
            });
        }
        if !more_may_wait {
            tokio::select! {
                () = &mut woken => {}
                () = tokio::time::sleep(pause(job.as_ref(), &settings).await) => {}
                () = stop.cancelled() => {}
            }
        }
    }
    tasks.close();
    tasks.wait().await;
}

/// Claims rows; what came in while the order to stop did is given back.
async fn claim<J: Job>(job: &J, free: usize, stop: &CancellationToken) -> Vec<J::Claimed> {
    let claimed = job.claim(free).await.unwrap_or_else(|error| {
        error!(queue = job.queue(), code = error.code(), %error, "worker.claim_failed");
        Vec::new()
    });
    if !stop.is_cancelled() {
        return claimed;
    }
    for claimed in claimed {
        if let Err(error) = job.give_back(claimed).await {
            error!(queue = job.queue(), code = error.code(), %error, "worker.not_given_back");
        }
    }
    Vec::new()
}

/// Until the next row is due, but not longer than the poll interval, and never so short that a row which cannot be
/// claimed now keeps the loop spinning.
async fn pause<J: Job>(job: &J, settings: &Settings) -> Duration {
    match job.next_due().await {
        Ok(Some(due)) => due.max(SHORTEST_PAUSE).min(settings.poll_interval),
        _ => settings.poll_interval,
    }
}

/// All hands that are free, at least one; `None` when told to stop.
async fn free_hands(hands: &Arc<Semaphore>, stop: &CancellationToken) -> Option<Vec<OwnedSemaphorePermit>> {
    let first = tokio::select! {
        hand = Arc::clone(hands).acquire_owned() => hand.ok()?,
        () = stop.cancelled() => return None,
    };
    let mut free = vec![first];
    while let Ok(hand) = Arc::clone(hands).try_acquire_owned() {
        free.push(hand);
    }
    Some(free)
}
