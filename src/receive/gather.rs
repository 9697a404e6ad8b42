//! Group commit: the requests that arrived while the last commit ran are committed together.
//!
//! No timer gathers them: a batch is whatever waits when the writer is free, so that a lone request waits for nothing.
//! Each is answered after its own commit. If the database refuses a statement, every request is tried by itself, so
//! that a poisoned event costs only itself; a lost connection is an error for all of them, for nobody knows.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tracing::error;

use crate::model::NewEvent;
use crate::store::{Inbox, Insertion, StoreError};

/// Requests that may wait for the writer; more are answered 503.
const QUEUE: usize = 1024;
/// Events of one commit.
const MAX_EVENTS: usize = 256;
/// Body bytes of one commit.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The waiting end: hands events to the writer.
pub(super) struct Gatherer {
    waiting: mpsc::Sender<Submission>,
}

struct Submission {
    events: Arc<[NewEvent]>,
    answer: oneshot::Sender<Result<Vec<Insertion>, String>>,
}

impl Submission {
    fn bytes(&self) -> usize {
        let request = self.events.first().and_then(|event| event.request.as_ref());
        let events = self.events.iter().map(|event| event.body.len());
        events.sum::<usize>() + request.map_or(0, |request| request.body.len())
    }
}

impl Gatherer {
    /// Starts the writer task. It ends when the last `Gatherer` is dropped and all that waited is answered.
    pub(super) fn start(inbox: Arc<dyn Inbox>) -> Self {
        let (waiting, queue) = mpsc::channel(QUEUE);
        tokio::spawn(write(inbox, queue));
        Self { waiting }
    }

    /// Waits until the events are durable; an error is a code for the log, and means that nothing may be assumed.
    pub(super) async fn accept(&self, events: Arc<[NewEvent]>) -> Result<Vec<Insertion>, String> {
        let (answer, answered) = oneshot::channel();
        self.waiting.try_send(Submission { events, answer }).map_err(|_| "inbox.queue_full".to_owned())?;
        answered.await.unwrap_or_else(|_| Err("inbox.writer_gone".into()))
    }
}

async fn write(inbox: Arc<dyn Inbox>, mut queue: mpsc::Receiver<Submission>) {
    let mut left_over = None;
    while let Some(first) = match left_over.take() {
        Some(submission) => Some(submission),
        None => queue.recv().await,
    } {
        let mut batch = vec![first];
        let (mut events, mut bytes) = (batch[0].events.len(), batch[0].bytes());
        while let Ok(next) = queue.try_recv() {
            events += next.events.len();
            bytes += next.bytes();
            if events > MAX_EVENTS || bytes > MAX_BYTES {
                left_over = Some(next);
                break;
            }
            batch.push(next);
        }
        commit(inbox.as_ref(), batch).await;
    }
}

async fn commit(inbox: &dyn Inbox, batch: Vec<Submission>) {
    let events: Vec<NewEvent> = batch.iter().flat_map(|one| one.events.iter().cloned()).collect();
    match inbox.accept(&events).await {
        Ok(insertions) => {
            let mut insertions = insertions.into_iter();
            for one in batch {
                let own = insertions.by_ref().take(one.events.len()).collect();
                one.answer.send(Ok(own)).ok(); // a receiver that is gone needs no answer: the rows are durable
            }
        }
        Err(StoreError::Sql { .. }) if batch.len() > 1 => {
            for one in batch {
                let result = inbox.accept(&one.events).await;
                one.answer.send(result.map_err(|error| report(&error))).ok();
            }
        }
        Err(error) => {
            let code = report(&error);
            for one in batch {
                one.answer.send(Err(code.clone())).ok();
            }
        }
    }
}

fn report(error: &StoreError) -> String {
    error!(code = error.code(), %error, "store.failed");
    error.code()
}
