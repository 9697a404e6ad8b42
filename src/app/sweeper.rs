//! Exchanges that nobody ended: their process died, or the database did.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::model::EventKey;
use crate::store::{Inbox, StoreError};

/// Events of one look.
const BATCH: u32 = 200;
/// How long one look may take.
const LIMIT: Duration = Duration::from_secs(5);

/// The background task that puts them aside for a person. Any number of gateways may run one on the same database, also
/// without a proxy endpoint in their own configuration.
pub(super) struct Sweeper {
    inbox: Arc<dyn Inbox>,
    interval: Duration,
}

impl Sweeper {
    /// One that looks every `interval`.
    pub(super) fn new(inbox: Arc<dyn Inbox>, interval: Duration) -> Self {
        Self { inbox, interval }
    }

    /// Looks now and every interval, until `stop`.
    pub(super) async fn run(self, stop: CancellationToken) {
        loop {
            match self.look().await {
                Ok(lost) => {
                    for EventKey { endpoint, event_id, .. } in lost {
                        let reason = "the end of its exchange with the destination was not recorded";
                        warn!(endpoint = &*endpoint, event_id, reason, "event.needs_review");
                    }
                }
                Err(error) => warn!(code = error.code(), %error, "store.sweep_failed"),
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    async fn look(&self) -> Result<Vec<EventKey>, StoreError> {
        let mut tx = self.inbox.begin(LIMIT).await?;
        match tx.abandon_exchanges(BATCH).await {
            Ok(lost) => tx.commit().await.map(|()| lost),
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }
}
