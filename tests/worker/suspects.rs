//! Rows whose work was crashed more than once: each is worked on with no other beside it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use hookgate::store::{Settled, StoreError};
use hookgate::worker::{self, Job, Settings};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{HOUR, until};

/// A row: whether it is a suspect.
type Row = bool;

/// Rows in memory, claimed in their order and given back to the front.
struct Rows {
    waiting: Mutex<VecDeque<Row>>,
    at_work: AtomicUsize,
    done: AtomicUsize,
    /// How many were at work when each suspect began and ended.
    beside_suspects: Mutex<Vec<usize>>,
}

impl Rows {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Row>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_around(&self) {
        let at_work = self.at_work.load(SeqCst);
        self.beside_suspects.lock().unwrap_or_else(PoisonError::into_inner).push(at_work);
    }
}

#[async_trait]
impl Job for Rows {
    type Claimed = Row;
    type Report = ();

    fn queue(&self) -> &'static str {
        "test"
    }

    async fn claim(&self, free: usize) -> Result<Vec<Row>, StoreError> {
        let mut waiting = self.waiting();
        let take = free.min(waiting.len());
        Ok(waiting.drain(..take).collect())
    }

    fn is_suspect(&self, claimed: &Row) -> bool {
        *claimed
    }

    async fn work(&self, is_suspect: Row) {
        self.at_work.fetch_add(1, SeqCst);
        // Long enough for the loop to start others.
        for step in 0..50 {
            if is_suspect && step % 49 == 0 {
                self.look_around();
            }
            tokio::task::yield_now().await;
        }
        self.at_work.fetch_sub(1, SeqCst);
        self.done.fetch_add(1, SeqCst);
    }

    async fn give_back(&self, claimed: Row) -> Result<Settled, StoreError> {
        self.waiting().push_front(claimed);
        Ok(Settled::Written)
    }

    async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        Ok(None)
    }
}

#[tokio::test]
async fn a_suspect_is_worked_on_with_no_other_row_beside_it() {
    // At the front, among others, two in a row, at the end.
    let waiting = VecDeque::from([true, false, false, false, true, true, false, false, true]);
    let count = waiting.len();
    let rows = Arc::new(Rows {
        waiting: Mutex::new(waiting),
        at_work: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        beside_suspects: Mutex::default(),
    });
    let stop = CancellationToken::new();
    let settings = Settings { concurrency: 3, poll_interval: HOUR };
    let wake = Arc::new(Notify::new());
    let running =
        tokio::spawn(worker::run(Arc::clone(&rows), settings, Arc::clone(&wake), |()| {}, stop.clone()));
    until("all rows are done", || {
        // What is given back by a busy database's other reader would wake the loop as well.
        wake.notify_one();
        rows.done.load(SeqCst) == count
    })
    .await;
    stop.cancel();
    running.await.expect("the loop ends");
    let seen = rows.beside_suspects.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(*seen, [1; 8], "at work when a suspect was");
}
