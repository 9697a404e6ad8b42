//! The inbox's job against a database that lets no work begin.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use async_trait::async_trait;
use hookgate::config;
use hookgate::model::{DueEvent, EventKey, Failure, Leased, NewEvent, Next};
use hookgate::process::Processor;
use hookgate::routing::Router;
use hookgate::store::{Confirm, Inbox, Insertion, Kept, Lane, Quarantined, Queue, Settled, StoreError, Unit};
use hookgate::worker::{InboxJob, Job as _, Shares};
use tokio::sync::Notify;

/// Every transaction is refused; what becomes of the claim is counted.
#[derive(Default)]
struct Down {
    given_back: AtomicUsize,
    failed: AtomicUsize,
}

#[async_trait]
impl Inbox for Down {
    async fn accept(&self, _: &[NewEvent]) -> Result<Vec<Insertion>, StoreError> {
        Err(StoreError::Timeout)
    }

    async fn begin(&self, _: Duration) -> Result<Unit, StoreError> {
        Err(StoreError::Unavailable("no connection came free".into()))
    }

    async fn quarantine(&self, _: &Quarantined) -> Result<(), StoreError> {
        Err(StoreError::Timeout)
    }

    async fn quarantine_rejected(
        &self,
        _: &[Quarantined],
        _: &config::Quarantine,
    ) -> Result<Vec<Kept>, StoreError> {
        Err(StoreError::Timeout)
    }

    async fn confirm(&self, _: &Confirm) -> Result<(), StoreError> {
        Err(StoreError::Timeout)
    }
}

#[async_trait]
impl Queue<DueEvent> for Down {
    async fn claim(&self, _: u32, _: &[Lane]) -> Result<Vec<Leased<DueEvent>>, StoreError> {
        Ok(Vec::new())
    }

    async fn extend(&self, _: &Leased<DueEvent>, _: Duration) -> Result<Settled, StoreError> {
        Ok(Settled::Written)
    }

    async fn give_back(&self, _: Leased<DueEvent>) -> Result<Settled, StoreError> {
        self.given_back.fetch_add(1, SeqCst);
        Ok(Settled::Written)
    }

    async fn fail(&self, _: Leased<DueEvent>, _: &Failure, _: &Next) -> Result<Settled, StoreError> {
        self.failed.fetch_add(1, SeqCst);
        Ok(Settled::Written)
    }

    async fn next_due(&self, _: &[Lane]) -> Result<Option<Duration>, StoreError> {
        Ok(None)
    }
}

#[tokio::test]
async fn a_database_that_lets_no_work_begin_costs_the_event_no_attempt() {
    let down = Arc::new(Down::default());
    let processor = Processor::new(Router::new::<config::Route>(&[]), Vec::new(), Duration::from_secs(1));
    let settings = config::load(&config::Sources::default()).expect("defaults are valid").config.inbox;
    let shares = Shares::new([(&"billing".into(), None, false)], &[], &BTreeMap::new());
    let (inbox, queue) = (Arc::clone(&down), Arc::clone(&down));
    let job = InboxJob::new(inbox, queue, Arc::new(processor), shares, settings, Arc::new(Notify::new()));
    let key = EventKey { provider: "stripe".into(), endpoint: "billing".into(), event_id: "evt_1".into() };
    let item = DueEvent { key, event_type: "invoice.paid".into() };
    let worked = job.work((Leased { item, epoch: 1, attempts: 1, crash_attempts: 0 }, Vec::new())).await;
    assert_eq!((down.given_back.load(SeqCst), down.failed.load(SeqCst)), (1, 0));
    assert!(worked.runs.is_empty() && !worked.lease_lost);
}
