//! The loop that works a queue off, over a queue in memory. What it does to real queues is shown in `store` and
//! `end_to_end`.

mod inbox;
mod suspects;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use async_trait::async_trait;
use hookgate::store::{Settled, StoreError};
use hookgate::worker::{self, Job, Settings};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::wait;

/// Rows are numbers; work on each waits for a permit of `gate`.
struct Rows {
    waiting: AtomicUsize,
    at_work: AtomicUsize,
    most_at_work: AtomicUsize,
    done: AtomicUsize,
    given_back: AtomicUsize,
    claims: AtomicUsize,
    failing_claims: AtomicUsize,
    gate: Semaphore,
    stop_in_claim: Option<CancellationToken>,
}

impl Rows {
    fn new(waiting: usize) -> Self {
        Self {
            waiting: AtomicUsize::new(waiting),
            at_work: AtomicUsize::new(0),
            most_at_work: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            given_back: AtomicUsize::new(0),
            claims: AtomicUsize::new(0),
            failing_claims: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            stop_in_claim: None,
        }
    }
}

#[async_trait]
impl Job for Rows {
    type Claimed = ();
    type Report = ();

    fn queue(&self) -> &'static str {
        "test"
    }

    async fn claim(&self, free: usize) -> Result<Vec<()>, StoreError> {
        self.claims.fetch_add(1, SeqCst);
        if let Some(stop) = &self.stop_in_claim {
            stop.cancel();
        }
        if self.failing_claims.load(SeqCst) > 0 {
            self.failing_claims.fetch_sub(1, SeqCst);
            return Err(StoreError::Timeout);
        }
        let take = self.waiting.load(SeqCst).min(free);
        self.waiting.fetch_sub(take, SeqCst);
        Ok(vec![(); take])
    }

    async fn work(&self, (): ()) {
        let now = self.at_work.fetch_add(1, SeqCst) + 1;
        self.most_at_work.fetch_max(now, SeqCst);
        self.gate.acquire().await.expect("open").forget();
        self.at_work.fetch_sub(1, SeqCst);
        self.done.fetch_add(1, SeqCst);
    }

    async fn give_back(&self, (): ()) -> Result<Settled, StoreError> {
        self.given_back.fetch_add(1, SeqCst);
        Ok(Settled::Written)
    }

    async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        Ok(None)
    }
}

/// The loop over `rows` with three hands, which looks by itself only every `poll_interval`.
fn start(rows: &Arc<Rows>, poll_interval: Duration) -> (JoinHandle<()>, Arc<Notify>, CancellationToken) {
    let (wake, stop) = (Arc::new(Notify::new()), CancellationToken::new());
    let settings = Settings { concurrency: 3, poll_interval };
    let running = worker::run(Arc::clone(rows), settings, Arc::clone(&wake), |()| {}, stop.clone());
    (tokio::spawn(running), wake, stop)
}

const HOUR: Duration = Duration::from_hours(1);

async fn until(what: &str, holds: impl Fn() -> bool) {
    wait::until(what, async || holds().then_some(())).await;
}

#[tokio::test]
async fn no_more_rows_are_at_work_than_there_are_hands() {
    let rows = Arc::new(Rows::new(10));
    let (_, _, stop) = start(&rows, HOUR);
    until("three at work", || rows.at_work.load(SeqCst) == 3).await;
    assert_eq!(rows.waiting.load(SeqCst), 7, "a row is claimed only when a hand is free for it");
    rows.gate.add_permits(10);
    until("all done", || rows.done.load(SeqCst) == 10).await;
    assert_eq!(rows.most_at_work.load(SeqCst), 3);
    stop.cancel();
}

#[tokio::test]
async fn a_wake_up_brings_the_next_look_at_once() {
    let rows = Arc::new(Rows::new(0));
    rows.gate.add_permits(1);
    let (_, wake, stop) = start(&rows, HOUR);
    until("the first look", || rows.claims.load(SeqCst) >= 1).await;
    rows.waiting.store(1, SeqCst);
    wake.notify_one();
    until("the row is done", || rows.done.load(SeqCst) == 1).await;
    stop.cancel();
}

#[tokio::test]
async fn rows_are_found_without_a_wake_up() {
    let rows = Arc::new(Rows::new(0));
    rows.gate.add_permits(1);
    let (_, _, stop) = start(&rows, Duration::from_millis(5));
    until("the first look", || rows.claims.load(SeqCst) >= 1).await;
    rows.waiting.store(1, SeqCst);
    until("the row is done", || rows.done.load(SeqCst) == 1).await;
    stop.cancel();
}

#[tokio::test]
async fn a_claim_that_fails_is_tried_again() {
    let rows = Arc::new(Rows::new(1));
    rows.failing_claims.store(2, SeqCst);
    rows.gate.add_permits(1);
    let (_, _, stop) = start(&rows, Duration::from_millis(5));
    until("the row is done", || rows.done.load(SeqCst) == 1).await;
    stop.cancel();
}

#[tokio::test]
async fn told_to_stop_it_finishes_what_is_in_hand_and_claims_no_more() {
    let rows = Arc::new(Rows::new(10));
    let (running, _, stop) = start(&rows, HOUR);
    until("three at work", || rows.at_work.load(SeqCst) == 3).await;
    stop.cancel();
    rows.gate.add_permits(10);
    running.await.expect("the loop ends");
    assert_eq!((rows.done.load(SeqCst), rows.waiting.load(SeqCst)), (3, 7));
}

#[tokio::test]
async fn what_was_claimed_while_it_was_told_to_stop_is_given_back() {
    let stop_early = CancellationToken::new();
    let rows = Arc::new(Rows { stop_in_claim: Some(stop_early.clone()), ..Rows::new(2) });
    let settings = Settings { concurrency: 3, poll_interval: HOUR };
    worker::run(Arc::clone(&rows), settings, Arc::new(Notify::new()), |()| {}, stop_early).await;
    assert_eq!((rows.given_back.load(SeqCst), rows.done.load(SeqCst)), (2, 0));
}
