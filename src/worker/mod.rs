//! One generic loop that works a queue off, run over the inbox, over the outbox and over replays.
//!
//! Who acts: [`run`] claims as many rows as it has hands free, so that work on a row begins when its lease does; each
//! row is worked on in a task of its own, and its [`Job`] settles it.
//! What holds: the database's table is the queue; a wake-up only saves waiting for the next look. When told to stop
//! it claims no more, and returns when the last row in hand is settled.
//! What is absent: HTTP in, metrics (what a job reports goes to the caller's `watch`).

mod inbox;
mod lines;
mod outbox;
mod pace;
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

    /// Whether work on this row has been crashed more than once. Then it may be what crashes the process, and no other
    /// row is worked on beside it.
    fn is_suspect(&self, _claimed: &Self::Claimed) -> bool {
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
    let mut suspects_wait = false;
    while !stop.is_cancelled() {
        // Whatever is committed from here on wakes the wait below, even if it comes before the wait begins.
        let woken = wake.notified();
        tokio::pin!(woken);
        woken.as_mut().enable();
        let at_least = if suspects_wait { settings.concurrency } else { 1 };
        let Some(mut free) = free_hands(&hands, at_least, &stop).await else { break };
        let asked = free.len();
        let claimed = claim(job.as_ref(), asked, &stop).await;
        let more_may_wait = claimed.len() == asked;
        let Turn { now, later, alone } = Turn::of(job.as_ref(), claimed, asked == settings.concurrency);
        suspects_wait = !later.is_empty();
        give_back(job.as_ref(), later).await;
        for claimed in now {
            let hand = free.split_off(if alone { 0 } else { free.len().saturating_sub(1) });
            let (job, watch, wake) = (Arc::clone(&job), Arc::clone(&watch), Arc::clone(&wake));
            tasks.spawn(async move {
                watch(&job.work(claimed).await);
                drop(hand);
                if job.leads_on() {
                    wake.notify_one();
                }
            });
        }
        drop(free);
        if !more_may_wait && !suspects_wait {
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
    give_back(job, claimed).await;
    Vec::new()
}

async fn give_back<J: Job>(job: &J, claimed: Vec<J::Claimed>) {
    for claimed in claimed {
        if let Err(error) = job.give_back(claimed).await {
            error!(queue = job.queue(), code = error.code(), %error, "worker.not_given_back");
        }
    }
}

/// What is done with claimed rows.
struct Turn<C> {
    now: Vec<C>,
    /// Given back. When all hands are free, the first suspect is claimed again.
    later: Vec<C>,
    /// `now` is one suspect, which takes all hands.
    alone: bool,
}

impl<C> Turn<C> {
    /// A suspect is worked on if nothing else is: otherwise its neighbours would be crashed with it, again and again,
    /// for their leases end together and so they are claimed together.
    fn of(job: &impl Job<Claimed = C>, claimed: Vec<C>, idle: bool) -> Self {
        let (mut suspects, others): (Vec<C>, Vec<C>) =
            claimed.into_iter().partition(|row| job.is_suspect(row));
        if suspects.is_empty() || !idle {
            return Self { now: others, later: suspects, alone: false };
        }
        let mut later = suspects.split_off(1);
        later.extend(others);
        Self { now: suspects, later, alone: true }
    }
}

/// Until the next row is due, but not longer than the poll interval, and never so short that a row which cannot be
/// claimed now keeps the loop spinning.
async fn pause<J: Job>(job: &J, settings: &Settings) -> Duration {
    match job.next_due().await {
        Ok(Some(due)) => due.max(SHORTEST_PAUSE).min(settings.poll_interval),
        _ => settings.poll_interval,
    }
}

/// All hands that are free, at least so many; `None` when told to stop.
async fn free_hands(
    hands: &Arc<Semaphore>,
    at_least: usize,
    stop: &CancellationToken,
) -> Option<Vec<OwnedSemaphorePermit>> {
    let mut free = Vec::new();
    while free.len() < at_least {
        free.push(tokio::select! {
            hand = Arc::clone(hands).acquire_owned() => hand.ok()?,
            () = stop.cancelled() => return None,
        });
    }
    while let Ok(hand) = Arc::clone(hands).try_acquire_owned() {
        free.push(hand);
    }
    Some(free)
}
