//! The inbox's job: one claimed event, one unit of work.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;
use tracing::{error, info, warn};

use super::{Job, Shares};
use crate::config::Queue as Settings;
use crate::failpoint;
use crate::model::{DueEvent, EventKey, Failure, Leased, Next};
use crate::process::{BUSY, Failed, HandlerRun, Processor, Work};
use crate::retry;
use crate::store::{Inbox, Locked, Queue, Settled, StoreError};

/// Works on events of `async` endpoints.
pub struct InboxJob {
    inbox: Arc<dyn Inbox>,
    queue: Arc<dyn Queue<DueEvent>>,
    processor: Arc<Processor>,
    shares: Shares,
    settings: Settings,
    wake_dispatcher: Arc<Notify>,
}

/// Why a claimed event was not worked on to its end.
enum Broken {
    /// It is done, or somebody else's by now.
    Gone,
    /// No transaction could be had, or its row not be read.
    NotStarted(StoreError),
    /// Its work failed.
    Failed(Failed),
}

/// After a database that let no work begin.
const PAUSE: Duration = Duration::from_secs(1);

/// So many crashes are no accident: one may have been a neighbour's.
const SUSPICIOUS: i32 = 2;

/// What came of one claimed event.
#[derive(Debug)]
pub struct Worked {
    /// The event.
    pub key: EventKey,
    /// The handlers that ran.
    pub runs: Vec<HandlerRun>,
    /// From receipt to commit, if the work is done.
    pub lag: Option<Duration>,
    /// Somebody else had taken the row over before the work began.
    pub lease_lost: bool,
}

impl InboxJob {
    /// Works on the events of these endpoints. `wake_dispatcher` is notified after each commit, for there may be messages in the outbox.
    #[must_use]
    pub fn new(
        inbox: Arc<dyn Inbox>,
        queue: Arc<dyn Queue<DueEvent>>,
        processor: Arc<Processor>,
        shares: Shares,
        settings: Settings,
        wake_dispatcher: Arc<Notify>,
    ) -> Self {
        Self { inbox, queue, processor, shares, settings, wake_dispatcher }
    }

    async fn process(&self, leased: &Leased<DueEvent>) -> Result<Work, Broken> {
        let deadline = Instant::now() + self.settings.work_timeout;
        let mut tx = self.inbox.begin(self.settings.work_timeout).await.map_err(Broken::NotStarted)?;
        match tx.lock(leased).await {
            Ok(Locked::Event(event)) => {
                failpoint::reach("worker.working");
                self.processor.run(tx, &event, deadline).await.map_err(Broken::Failed)
            }
            Ok(Locked::Gone) => {
                tx.rollback().await;
                Err(Broken::Gone)
            }
            Err(error) => {
                tx.rollback().await;
                Err(Broken::NotStarted(error))
            }
        }
    }

    /// The database let no work begin: that is no attempt of the event's. The pause keeps a failing database from
    /// being asked without end.
    async fn not_started(&self, leased: Leased<DueEvent>, error: &StoreError) {
        error!(code = error.code(), %error, "store.failed");
        self.wait_for_room(leased).await;
    }

    async fn wait_for_room(&self, leased: Leased<DueEvent>) {
        tokio::time::sleep(PAUSE).await;
        if let Err(error) = self.queue.give_back(leased).await {
            error!(queue = "inbox", code = error.code(), %error, "worker.not_given_back");
        }
    }

    /// Says when the next attempt is, or that a person must look.
    async fn give_up(&self, leased: Leased<DueEvent>, failure: &Failure) {
        let key = leased.item.key.clone();
        let failed = retry::Failed {
            code: &failure.code,
            retryable: failure.retryable,
            failures: leased.failures().unsigned_abs(),
            age: Duration::ZERO, // the inbox has no `max_age`
            asked: None,
        };
        let next = retry::next(&self.settings.policy(), &failed, rand::random());
        let attempt = leased.attempts;
        match self.queue.fail(leased, failure, &next).await {
            Ok(Settled::LeaseLost) => {
                warn!(endpoint = &*key.endpoint, event_id = key.event_id, attempt, "event.lease_lost");
            }
            Ok(Settled::Written) => tell(&key, failure, &next, attempt),
            Err(error) => {
                // The lease runs out by itself, and the claim that takes it over counts the attempt.
                error!(endpoint = &*key.endpoint, event_id = key.event_id, code = error.code(), %error, "event.not_settled");
            }
        }
    }
}

#[async_trait]
impl Job for InboxJob {
    type Claimed = (Leased<DueEvent>, Vec<OwnedSemaphorePermit>);
    type Report = Worked;

    fn queue(&self) -> &'static str {
        "inbox"
    }

    async fn claim(&self, free: usize) -> Result<Vec<Self::Claimed>, StoreError> {
        let free = free.try_into().unwrap_or(u32::MAX);
        let claimed = self.queue.claim(free, &self.shares.lanes(free, &self.settings)).await?;
        if !claimed.is_empty() {
            failpoint::reach("worker.claimed");
        }
        let mut with_hands = Vec::with_capacity(claimed.len());
        for leased in claimed {
            match self.shares.take(&leased.item) {
                Some(hands) => with_hands.push((leased, hands)),
                None => drop(self.queue.give_back(leased).await?),
            }
        }
        Ok(with_hands)
    }

    /// What may be claimed depends on what is done: hands of endpoints and handlers become free, and the next event of a
    /// key comes first.
    fn leads_on(&self) -> bool {
        true
    }

    fn is_suspect(&self, (leased, _): &Self::Claimed) -> bool {
        leased.crash_attempts >= SUSPICIOUS
    }

    async fn work(&self, (leased, _hands): Self::Claimed) -> Worked {
        let key = leased.item.key.clone();
        let lease_lost = match self.process(&leased).await {
            Ok(work) => {
                self.wake_dispatcher.notify_one();
                return Worked { key, runs: work.runs, lag: Some(work.lag), lease_lost: false };
            }
            Err(Broken::Failed(Failed { failure, .. })) if failure.code == BUSY => {
                self.wait_for_room(leased).await;
                false
            }
            Err(Broken::Failed(Failed { failure, runs })) => {
                self.give_up(leased, &failure).await;
                return Worked { key, runs, lag: None, lease_lost: false };
            }
            Err(Broken::NotStarted(error)) => {
                self.not_started(leased, &error).await;
                false
            }
            Err(Broken::Gone) => {
                let attempt = leased.attempts;
                warn!(endpoint = &*key.endpoint, event_id = key.event_id, attempt, "event.lease_lost");
                true
            }
        };
        Worked { key, runs: Vec::new(), lag: None, lease_lost }
    }

    async fn give_back(&self, (leased, _): Self::Claimed) -> Result<Settled, StoreError> {
        self.queue.give_back(leased).await
    }

    async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        self.queue.next_due(&self.shares.lanes(1, &self.settings)).await
    }
}

fn tell(key: &EventKey, failure: &Failure, next: &Next, attempt: i32) {
    let (endpoint, event_id, code) = (&*key.endpoint, &key.event_id, &failure.code);
    match next {
        Next::Retry { after } => {
            let next_in_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            info!(endpoint, event_id, code, attempt, next_in_ms, "event.retry_scheduled");
        }
        Next::Review { reason } => warn!(endpoint, event_id, code, attempt, reason, "event.needs_review"),
    }
}
