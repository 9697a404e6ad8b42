//! Evaluates the expressions of one event on a thread of its own, of which there are few.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::expression::{EvaluationError, Expression, Input};
use super::meter::STACK;

/// So many evaluations run at a time.
const THREADS: usize = 4;
/// So long the expressions of one event may take, all together.
const TIME: Duration = Duration::from_secs(2);
/// So long they wait for a thread: a transaction is open meanwhile.
const WAIT: Duration = Duration::from_millis(250);

/// What a route asks of an event.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Whether it wants the event.
    pub filter: Option<Arc<Expression>>,
    /// What becomes of it.
    pub transform: Option<Arc<Expression>>,
}

/// The routes that want the event, by their place among the questions, with what became of it.
pub type Answer = Vec<(usize, Option<Bytes>)>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// An expression has no result: the place of its question, whether it is the transform, and why.
    Failed(usize, bool, EvaluationError),
    /// All threads are taken, or the system has none.
    Busy,
}

/// Threads for evaluations. One that overruns its time keeps its place until it returns, so that they cannot pile up.
#[derive(Debug)]
pub struct Runner {
    free: Arc<Semaphore>,
    time: Duration,
}

impl Default for Runner {
    fn default() -> Self {
        Self::new(THREADS, TIME)
    }
}

impl Runner {
    /// With so many threads at a time, and so much time for an event.
    #[must_use]
    pub fn new(threads: usize, time: Duration) -> Self {
        Self { free: Arc::new(Semaphore::new(threads)), time }
    }

    /// Asks the questions in order, over an event's JSON and that of `$event`. With `first`, the first route that
    /// wants the event is the only one.
    ///
    /// # Errors
    /// [`RunError`]
    pub async fn ask(
        &self,
        body: Bytes,
        event: Bytes,
        questions: Vec<Question>,
        first: bool,
    ) -> Result<Answer, RunError> {
        let place = tokio::select! {
            place = Arc::clone(&self.free).acquire_owned() => place.map_err(|_| RunError::Busy)?,
            () = tokio::time::sleep(self.time.min(WAIT)) => return Err(RunError::Busy),
        };
        let (late, current) = (Arc::new(AtomicBool::new(false)), Arc::new(Current::default()));
        let (send, answer) = oneshot::channel();
        let work =
            Work { body, event, questions, first, late: Arc::clone(&late), current: Arc::clone(&current) };
        start(work, place, send)?;
        tokio::select! {
            answer = answer => answer.map_err(|_| RunError::Busy)?,
            () = tokio::time::sleep(self.time) => {
                late.store(true, Ordering::Relaxed);
                Err(current.failed(EvaluationError::Budget("time (2 s)")))
            }
        }
    }
}

fn start(
    work: Work,
    place: OwnedSemaphorePermit,
    send: oneshot::Sender<Result<Answer, RunError>>,
) -> Result<(), RunError> {
    let thread = std::thread::Builder::new().name("jq".into()).stack_size(STACK).spawn(move || {
        let answer = work.run();
        drop((work, place));
        // Nobody waits any more if it came too late.
        let _ = send.send(answer);
    });
    thread.map(drop).map_err(|error| {
        tracing::error!(%error, "jq.no_thread");
        RunError::Busy
    })
}

struct Work {
    body: Bytes,
    event: Bytes,
    questions: Vec<Question>,
    first: bool,
    late: Arc<AtomicBool>,
    current: Arc<Current>,
}

impl Work {
    fn run(&self) -> Result<Answer, RunError> {
        let asked = |question: &Question| question.filter.is_some() || question.transform.is_some();
        let mut input = None;
        let mut answer = Vec::new();
        for (at, question) in self.questions.iter().enumerate() {
            self.current.set(at, question.filter.is_none());
            if asked(question) && input.is_none() {
                let read =
                    Input::read(&self.body, &self.event).map_err(|error| self.current.failed(error))?;
                input = Some(read);
            }
            if let (Some(filter), Some(input)) = (&question.filter, &input)
                && !filter.holds(input, &self.late).map_err(|error| self.current.failed(error))?
            {
                continue;
            }
            self.current.set(at, true);
            let output = match (&question.transform, &input) {
                (Some(transform), Some(input)) => {
                    let output = transform.output(input, &self.late);
                    Some(Bytes::from(output.map_err(|error| self.current.failed(error))?))
                }
                _ => None,
            };
            answer.push((at, output));
            if self.first {
                break;
            }
        }
        Ok(answer)
    }
}

/// The expression that is evaluated now.
#[derive(Debug, Default)]
struct Current {
    question: std::sync::atomic::AtomicUsize,
    is_transform: AtomicBool,
}

impl Current {
    fn set(&self, question: usize, is_transform: bool) {
        self.question.store(question, Ordering::Relaxed);
        self.is_transform.store(is_transform, Ordering::Relaxed);
    }

    fn failed(&self, why: EvaluationError) -> RunError {
        let question = self.question.load(Ordering::Relaxed);
        RunError::Failed(question, self.is_transform.load(Ordering::Relaxed), why)
    }
}
