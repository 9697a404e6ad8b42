//! The inbox with measuring around it, so that neither the store nor its callers name a metric.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::Metrics;
use crate::model::NewEvent;
use crate::store::{Inbox, Insertion, Quarantined, StoreError, Tx};

/// An inbox that records how long units of work wait for their transaction.
pub struct Measured<I: ?Sized> {
    metrics: Arc<Metrics>,
    inbox: Arc<I>,
}

impl<I: ?Sized> Measured<I> {
    /// Measures what goes through `inbox`.
    #[must_use]
    pub fn new(inbox: Arc<I>, metrics: Arc<Metrics>) -> Self {
        Self { metrics, inbox }
    }
}

#[async_trait]
impl<I: Inbox + ?Sized> Inbox for Measured<I> {
    async fn accept(&self, events: &[NewEvent]) -> Result<Vec<Insertion>, StoreError> {
        self.inbox.accept(events).await
    }

    async fn begin(&self, limit: Duration) -> Result<Tx, StoreError> {
        let asked = Instant::now();
        let tx = self.inbox.begin(limit).await;
        self.metrics.store_wait(asked.elapsed());
        tx
    }

    async fn quarantine(&self, request: &Quarantined) -> Result<(), StoreError> {
        self.inbox.quarantine(request).await
    }
}
