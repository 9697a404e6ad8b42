//! Retention in the background.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::config::Retention;
use crate::observe::Metrics;
use crate::store::{Ledger, PRUNE_BATCH, Pruned, StoreError};

/// Between two batches of one round: others write too.
const PAUSE: Duration = Duration::from_millis(20);

/// The background task. Any number of gateways may run one on the same database.
pub struct Pruner {
    ledger: Arc<dyn Ledger>,
    metrics: Arc<Metrics>,
    retention: Retention,
    interval: Duration,
}

impl Pruner {
    /// One that prunes about every `interval`.
    #[must_use]
    pub fn new(
        ledger: Arc<dyn Ledger>,
        metrics: Arc<Metrics>,
        retention: Retention,
        interval: Duration,
    ) -> Self {
        Self { ledger, metrics, retention, interval }
    }

    /// Prunes until nothing is left to prune, then waits, until `stop`. A batch that has begun is finished.
    pub async fn run(self, stop: CancellationToken) {
        // Gateways that were started together do not prune together.
        while !stopped_within(self.interval.mul_f64(0.5 + rand::random::<f64>()), &stop).await {
            let mut total = Pruned::default();
            let ended = self.round(&mut total, &stop).await;
            if total != Pruned::default() {
                info!(
                    deleted = total.deleted,
                    emptied = total.emptied,
                    outbox = total.outbox,
                    attempts = total.attempts,
                    quarantine = total.quarantine,
                    audit = total.audit,
                    replays = total.replays,
                    "store.pruned"
                );
            }
            if total.unsent > 0 {
                warn!(rows = total.unsent, "outbox.pruned_unsent");
            }
            if let Err(error) = ended {
                warn!(code = error.code(), %error, "store.prune_failed");
            }
        }
    }

    async fn round(&self, total: &mut Pruned, stop: &CancellationToken) -> Result<(), StoreError> {
        loop {
            let pruned = self.ledger.prune(&self.retention, PRUNE_BATCH).await?;
            self.metrics.pruned(pruned);
            *total += pruned;
            if !pruned.fills(PRUNE_BATCH) || stopped_within(PAUSE, stop).await {
                return Ok(());
            }
        }
    }
}

async fn stopped_within(time: Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = tokio::time::sleep(time) => false,
        () = stop.cancelled() => true,
    }
}
