//! The end of a unit of work: the event's row is done, or a replay steps behind it.

use std::time::Duration;

use tokio::time::Instant;
use tracing::info;

use super::plan::Plan;
use super::{Failed, Processor, Work};
use crate::model::{Event, Leased};
use crate::store::{EventCursor, Finish, Replay, StoreError, Unit};

/// One event of a replay.
pub struct Replaying<'a> {
    /// The replay, claimed.
    pub leased: &'a Leased<Replay>,
    /// The place behind this event.
    pub cursor: EventCursor,
    /// How long the claim goes on when the event is done.
    pub lease: Duration,
}

/// How a unit of work ends.
pub(super) enum Close<'a> {
    /// `processed_at` is set.
    Finish,
    /// It was set long ago, and stays. With what makes the replay's messages other messages, if they are to be.
    Replay(&'a Replaying<'a>, Option<String>),
}

impl Close<'_> {
    /// The part of the work that is asked for.
    pub(super) fn plan<'p>(&self, plan: Plan<'p>) -> Plan<'p> {
        match self {
            Self::Replay(Replaying { leased, .. }, _) => match &leased.item.route {
                Some(route) => plan.only(route),
                None => plan,
            },
            Self::Finish => plan,
        }
    }

    pub(super) fn edition(&self) -> Option<&str> {
        match self {
            Self::Replay(_, edition) => edition.as_deref(),
            Self::Finish => None,
        }
    }

    /// Whether events that are too old are passed over. A replay is meant to repeat the past.
    pub(super) fn is_guarded(&self) -> bool {
        matches!(self, Self::Finish)
    }

    pub(super) fn failpoint(&self) -> &'static str {
        match self {
            Self::Finish => "process.before_commit",
            Self::Replay(..) => "replay.before_commit",
        }
    }

    /// The last statement before COMMIT, which must touch exactly one row.
    pub(super) async fn write(
        &self,
        tx: &mut Unit,
        event: &Event,
        finish: &Finish,
    ) -> Result<Duration, StoreError> {
        match self {
            Self::Finish => tx.finish(&event.key, finish).await,
            Self::Replay(Replaying { leased, cursor, lease }, _) => {
                if let Some(reason) = &finish.review_reason {
                    tx.flag(&event.key, reason).await?;
                }
                tx.advance(leased, *cursor, *lease).await
            }
        }
    }
}

impl Processor {
    /// Works once more on an event that is done: its handlers or one of them, its messages, and the replay's step
    /// behind it, in one transaction. The event's row stays as it is, unless a handler flags it.
    ///
    /// # Errors
    /// [`Failed`], as for [`Processor::run`]; `store.fenced` if the replay was cancelled or claimed anew meanwhile.
    pub async fn replay(
        &self,
        tx: Unit,
        event: &Event,
        deadline: Instant,
        replaying: &Replaying<'_>,
    ) -> Result<Work, Failed> {
        let Replay { id, new_ids, .. } = replaying.leased.item;
        let edition = new_ids.then(|| format!("replay:{id}"));
        let (work, _, took) = self.unit(tx, event, deadline, &Close::Replay(replaying, edition)).await?;
        info!(
            event_id = event.key.event_id,
            endpoint = &*event.key.endpoint,
            event_type = event.event_type,
            replay = id,
            handlers = work.runs.iter().map(|run| &*run.handler).collect::<Vec<_>>().join(","),
            result = work.outcome,
            duration_ms = took.as_secs_f64() * 1e3,
            "event.replayed"
        );
        Ok(work)
    }

    /// Whether a replay's route is one of this gateway's; all routes are.
    #[must_use]
    pub fn knows(&self, replay: &Replay) -> bool {
        replay.route.as_ref().is_none_or(|route| self.has_route(&replay.endpoint, route))
    }
}
