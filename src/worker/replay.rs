//! The replays' job: one claim is one turn, a short stretch of one replay's events.
//!
//! Turns are short, so that several replays share the hands, an order to stop is soon obeyed, and a rate is kept
//! without a task that sleeps for long. What is done is done: the step behind an event commits with its effects.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tracing::{error, info, warn};

use super::{Job, Worked};
use crate::config::Queue as Settings;
use crate::model::{EventKey, Leased, Next};
use crate::process::{Failed, HandlerRun, Processor, Replaying};
use crate::retry;
use crate::store::{EventCursor, Inbox, Passed, Replay, Replays, Settled, StoreError};

/// How long a turn goes on to begin events.
const TURN: Duration = Duration::from_secs(1);

/// Failed tries after which a replay passes an event over.
const TRIES: u32 = 5;

/// Claims of one event that ended with their process, after which a replay passes it over.
const CRASHES: i32 = 3;

/// After a database that let no work begin.
const PAUSE: Duration = Duration::from_secs(1);

/// Works replays off.
pub struct ReplayJob {
    inbox: Arc<dyn Inbox>,
    replays: Arc<dyn Replays>,
    processor: Arc<Processor>,
    endpoints: Vec<Arc<str>>,
    settings: Settings,
    wake_dispatcher: Arc<Notify>,
}

/// How one event of a turn ended.
enum Step {
    /// Done; the next may begin after this time.
    Done(Duration),
    /// Passed over, with this code.
    Over(String),
    /// The turn ends here, with this.
    Stop(Passed),
    /// The replay was cancelled or claimed anew.
    Lost,
}

impl ReplayJob {
    /// Works off replays of `endpoints`. `wake_dispatcher` is notified after each event, for there may be messages in
    /// the outbox.
    #[must_use]
    pub fn new(
        inbox: Arc<dyn Inbox>,
        replays: Arc<dyn Replays>,
        processor: Arc<Processor>,
        endpoints: Vec<Arc<str>>,
        settings: Settings,
        wake_dispatcher: Arc<Notify>,
    ) -> Self {
        Self { inbox, replays, processor, endpoints, settings, wake_dispatcher }
    }

    /// One turn. The answer ends the claim; none: it has ended.
    async fn turn(
        &self,
        leased: &mut Leased<Replay>,
        worked: &mut Vec<Worked>,
    ) -> Result<Option<Passed>, StoreError> {
        let end = Instant::now() + TURN;
        if !self.processor.knows(&leased.item) {
            let error = format!("no route of that name for {} here", leased.item.endpoint);
            warn!(replay = leased.item.id, error, "replay.failed");
            return Ok(Some(Passed { outcome: Some("failed"), error: Some(error), ..Passed::default() }));
        }
        loop {
            let upcoming = self.replays.upcoming(&leased.item).await?;
            for (key, cursor) in upcoming.events {
                let wait = match self.step(leased, &key, cursor, worked).await {
                    Step::Lost => return Ok(None),
                    Step::Stop(passed) => return Ok(Some(passed)),
                    Step::Done(wait) => wait,
                    Step::Over(code) => {
                        if !self.pass_over(leased, &key, cursor, code).await? {
                            return Ok(None);
                        }
                        Duration::ZERO
                    }
                };
                (leased.item.cursor, leased.item.tries, leased.crash_attempts) = (Some(cursor), 0, 0);
                if Instant::now() + wait >= end {
                    return Ok(Some(Passed::default()));
                }
                sleep(wait).await;
            }
            let Some(next) = upcoming.next else {
                info!(replay = leased.item.id, endpoint = &*leased.item.endpoint, "replay.done");
                return Ok(Some(Passed { outcome: Some("done"), ..Passed::default() }));
            };
            leased.item.cursor = Some(next);
            let passed = Passed { cursor: Some(next), ..Passed::default() };
            if Instant::now() >= end {
                return Ok(Some(passed));
            }
            if !self.hold(leased, passed).await? {
                return Ok(None);
            }
        }
    }

    /// One event.
    async fn step(
        &self,
        leased: &Leased<Replay>,
        key: &EventKey,
        cursor: EventCursor,
        worked: &mut Vec<Worked>,
    ) -> Step {
        if leased.crash_attempts >= CRASHES {
            return Step::Over("crashed".into());
        }
        let deadline = Instant::now() + self.settings.work_timeout;
        let mut tx = match self.inbox.begin(self.settings.work_timeout).await {
            Ok(tx) => tx,
            Err(error) => return not_begun(&error),
        };
        let event = match tx.whole(key).await {
            Ok(Some(event)) => event,
            Ok(None) => {
                tx.rollback().await;
                return Step::Over("payload_gone".into());
            }
            Err(error) => {
                tx.rollback().await;
                return not_begun(&error);
            }
        };
        match self.processor.is_paused(&mut tx, &event).await {
            Ok(false) => {}
            // It goes on when an operator lets it.
            Ok(true) => {
                tx.rollback().await;
                return Step::Stop(Passed { wait: Some(PAUSE), ..Passed::default() });
            }
            Err(error) => {
                tx.rollback().await;
                return not_begun(&error);
            }
        }
        let replaying = Replaying { leased, cursor, lease: self.settings.lease };
        match self.processor.replay(tx, &event, deadline, &replaying).await {
            Ok(work) => {
                self.wake_dispatcher.notify_one();
                worked.push(report(key, work.runs));
                Step::Done(work.lag)
            }
            Err(Failed { failure, runs }) => {
                worked.push(report(key, runs));
                match failure.code.as_str() {
                    "store.fenced" if self.is_lost(leased).await => Step::Lost,
                    // It may be done: the next turn finds out, for the replay's own place says so.
                    "store.commit_unknown" => Step::Stop(Passed { wait: Some(PAUSE), ..Passed::default() }),
                    code => self.after_failure(leased, code, failure.retryable),
                }
            }
        }
    }

    /// Whether somebody else has the replay by now, or nobody any more. (A handler that ends its transaction by itself
    /// is fenced too, and fails.)
    async fn is_lost(&self, leased: &Leased<Replay>) -> bool {
        matches!(self.hold(leased, Passed::default()).await, Ok(false))
    }

    fn after_failure(&self, leased: &Leased<Replay>, code: &str, retryable: bool) -> Step {
        let failures = leased.item.tries + 1;
        let failed = retry::Failed { code, retryable, failures, age: Duration::ZERO, asked: None };
        let policy =
            retry::Policy { max_attempts: TRIES, cap: self.settings.backoff_cap, ..self.settings.policy() };
        match retry::next(&policy, &failed, rand::random()) {
            Next::Retry { after } => Step::Stop(Passed { again: Some(after), ..Passed::default() }),
            Next::Review { .. } => Step::Over(code.to_owned()),
        }
    }

    /// Records that an event could not be worked on, and goes on behind it; `false` if the replay is no longer ours.
    async fn pass_over(
        &self,
        leased: &Leased<Replay>,
        key: &EventKey,
        cursor: EventCursor,
        code: String,
    ) -> Result<bool, StoreError> {
        let (endpoint, event_id) = (&*key.endpoint, &key.event_id);
        warn!(endpoint, event_id, replay = leased.item.id, code, "event.replay_failed");
        let failure = Some((key.clone(), code));
        self.hold(leased, Passed { cursor: Some(cursor), failure, ..Passed::default() }).await
    }

    /// Records something and keeps the claim; `false` if it was ours no longer.
    async fn hold(&self, leased: &Leased<Replay>, passed: Passed) -> Result<bool, StoreError> {
        let passed = Passed { hold: Some(self.settings.lease), ..passed };
        Ok(self.replays.pass(leased, &passed).await? == Settled::Written)
    }
}

/// The database let no work begin: that is no try of the event's.
fn not_begun(error: &StoreError) -> Step {
    error!(code = error.code(), %error, "store.failed");
    Step::Stop(Passed { wait: Some(PAUSE), ..Passed::default() })
}

fn report(key: &EventKey, runs: Vec<HandlerRun>) -> Worked {
    Worked { key: key.clone(), runs, lag: None, lease_lost: false }
}

#[async_trait]
impl Job for ReplayJob {
    type Claimed = Leased<Replay>;
    type Report = Vec<Worked>;

    fn queue(&self) -> &'static str {
        "replays"
    }

    async fn claim(&self, free: usize) -> Result<Vec<Leased<Replay>>, StoreError> {
        // Mostly there is none, and a claim would take SQLite's only writer.
        if self.next_due().await? != Some(Duration::ZERO) {
            return Ok(Vec::new());
        }
        let free = free.try_into().unwrap_or(u32::MAX);
        self.replays.claim_replays(free, &self.endpoints, self.settings.lease).await
    }

    async fn work(&self, mut leased: Leased<Replay>) -> Vec<Worked> {
        let mut worked = Vec::new();
        let ended = self.turn(&mut leased, &mut worked).await.unwrap_or_else(|error| {
            error!(replay = leased.item.id, code = error.code(), %error, "replay.turn_failed");
            Some(Passed { wait: Some(PAUSE), ..Passed::default() })
        });
        if let Some(passed) = ended
            && let Err(error) = self.replays.pass(&leased, &passed).await
        {
            // Its lease runs out by itself.
            error!(replay = leased.item.id, code = error.code(), %error, "replay.not_settled");
        }
        worked
    }

    async fn give_back(&self, leased: Leased<Replay>) -> Result<Settled, StoreError> {
        self.replays.pass(&leased, &Passed::default()).await
    }

    async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        self.replays.next_replay(&self.endpoints).await
    }
}
