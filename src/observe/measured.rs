//! The store's ports with measuring around them, so that neither the store nor its callers name a metric.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::Metrics;
use crate::config;
use crate::model::{Attempt, Circuit, Failure, Leased, Message, NewEvent, Next};
use crate::store::{
    Confirm, Inbox, Insertion, Kept, Lane, Outbox, Quarantined, Queue, Settled, StoreError, Unit,
};

/// A port of the store, measured: an inbox records how long units of work wait for their transaction, a queue counts
/// settlements that came after the lease had passed on, an outbox also the tries to deliver.
pub struct Measured<P: ?Sized> {
    metrics: Arc<Metrics>,
    queue: &'static str,
    port: Arc<P>,
}

impl<P: ?Sized> Measured<P> {
    /// Measures what goes through `port`, which belongs to `queue` (`inbox` or `outbox`).
    #[must_use]
    pub fn new(port: Arc<P>, queue: &'static str, metrics: Arc<Metrics>) -> Self {
        Self { metrics, queue, port }
    }

    fn count_lost(&self, settled: Result<Settled, StoreError>) -> Result<Settled, StoreError> {
        if matches!(settled, Ok(Settled::LeaseLost)) {
            self.metrics.lease_lost(self.queue);
        }
        settled
    }
}

#[async_trait]
impl<P: Inbox + ?Sized> Inbox for Measured<P> {
    async fn accept(&self, events: &[NewEvent]) -> Result<Vec<Insertion>, StoreError> {
        self.port.accept(events).await
    }

    async fn begin(&self, limit: Duration) -> Result<Unit, StoreError> {
        let asked = Instant::now();
        let tx = self.port.begin(limit).await;
        self.metrics.store_wait(asked.elapsed());
        tx
    }

    async fn quarantine(&self, request: &Quarantined) -> Result<(), StoreError> {
        self.port.quarantine(request).await
    }

    async fn quarantine_rejected(
        &self,
        requests: &[Quarantined],
        bounds: &config::Quarantine,
    ) -> Result<Vec<Kept>, StoreError> {
        self.port.quarantine_rejected(requests, bounds).await
    }

    async fn confirm(&self, confirmation: &Confirm) -> Result<(), StoreError> {
        self.port.confirm(confirmation).await
    }
}

#[async_trait]
impl<T: Send + Sync + 'static, P: Queue<T> + ?Sized> Queue<T> for Measured<P> {
    async fn claim(&self, limit: u32, lanes: &[Lane]) -> Result<Vec<Leased<T>>, StoreError> {
        self.port.claim(limit, lanes).await
    }

    async fn extend(&self, leased: &Leased<T>, lease: Duration) -> Result<Settled, StoreError> {
        self.count_lost(self.port.extend(leased, lease).await)
    }

    async fn give_back(&self, leased: Leased<T>) -> Result<Settled, StoreError> {
        self.count_lost(self.port.give_back(leased).await)
    }

    async fn fail(&self, leased: Leased<T>, failure: &Failure, next: &Next) -> Result<Settled, StoreError> {
        self.count_lost(self.port.fail(leased, failure, next).await)
    }

    async fn next_due(&self, lanes: &[Lane]) -> Result<Option<Duration>, StoreError> {
        self.port.next_due(lanes).await
    }
}

#[async_trait]
impl<P: Outbox + ?Sized> Outbox for Measured<P> {
    async fn publish(&self, leased: Leased<Message>, attempt: &Attempt) -> Result<Settled, StoreError> {
        self.metrics.delivery(&leased.item.destination, attempt);
        self.count_lost(self.port.publish(leased, attempt).await)
    }

    async fn fail_attempt(
        &self,
        leased: Leased<Message>,
        attempt: &Attempt,
        next: &Next,
    ) -> Result<Settled, StoreError> {
        self.metrics.delivery(&leased.item.destination, attempt);
        self.count_lost(self.port.fail_attempt(leased, attempt, next).await)
    }

    async fn note_failure(
        &self,
        destination: &str,
        attempt: &Attempt,
        circuit: &Circuit,
        probe: bool,
    ) -> Result<(), StoreError> {
        self.port.note_failure(destination, attempt, circuit, probe).await
    }
}
