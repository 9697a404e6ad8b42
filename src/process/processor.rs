//! Runs units of work.

use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::time::Instant;
use tracing::{error, info, warn};

use super::plan::{Handling, Plan, Taken};
use super::replay::Close;
use super::select::{Selection, Undecided};
use super::{HandlerRun, Step, deliver};
use crate::failpoint;
use crate::handler::{HandlerError, Outcome};
use crate::mapping;
use crate::model::{Event, Failure};
use crate::provider::Provider;
use crate::routing::Router;
use crate::store::{Finish, StoreError, Unit};

/// A unit of work that is committed.
#[derive(Debug)]
pub struct Work {
    /// `processed`, `ignored`, `flagged` or `superseded`, as `webhook_inbox.outcome` has it.
    pub outcome: &'static str,
    /// The handlers that ran.
    pub runs: Vec<HandlerRun>,
    /// From receipt to the end of the work (the database's clock). Of a replay: until its next event may begin.
    pub lag: Duration,
}

/// A unit of work of which nothing is committed (or, after `store.commit_unknown`, nobody knows).
#[derive(Debug)]
pub struct Failed {
    /// Its code, and whether another attempt can help.
    pub failure: Failure,
    /// The handlers that ran, the failed one last.
    pub runs: Vec<HandlerRun>,
}

/// Runs units of work.
pub struct Processor {
    router: Router,
    steps: Vec<Step>,
    statement_timeout: Duration,
    providers: HashMap<Arc<str>, Arc<Provider>>,
    selection: Selection,
}

impl Processor {
    /// `steps` has one entry for each route that `router` was made from, in the same order. No statement of a handler
    /// may take longer than `statement_timeout`.
    #[must_use]
    pub fn new(router: Router, steps: Vec<Step>, statement_timeout: Duration) -> Self {
        Self { router, steps, statement_timeout, providers: HashMap::new(), selection: Selection::default() }
    }

    /// With the providers of the endpoints, by whose definitions events that are no JSON are read as JSON.
    #[must_use]
    pub fn reading(mut self, providers: HashMap<Arc<str>, Arc<Provider>>) -> Self {
        self.providers = providers;
        self
    }

    /// With what the routes ask of events beyond their type.
    #[must_use]
    pub fn selecting(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Does all the work of one event in `tx`, in which its row is inserted or locked, and commits.
    ///
    /// # Errors
    /// [`Failed`]: the transaction is rolled back. Only `store.commit_unknown` leaves open what happened.
    pub async fn run(&self, tx: Unit, event: &Event, deadline: Instant) -> Result<Work, Failed> {
        let (work, finish, took) = self.unit(tx, event, deadline, &Close::Finish).await?;
        report(event, &finish, &work.runs, took);
        Ok(work)
    }

    /// Everything from BEGIN to the answer of COMMIT, with the time it took.
    pub(super) async fn unit(
        &self,
        mut tx: Unit,
        event: &Event,
        deadline: Instant,
        close: &Close<'_>,
    ) -> Result<(Work, Finish, Duration), Failed> {
        let started = Instant::now();
        let mut runs = Vec::new();
        let (finish, lag) = match self.work(&mut tx, event, deadline, &mut runs, close).await {
            Ok(done) => done,
            Err(broken) => {
                broken.log(event, &runs);
                if broken.connection_is_whole {
                    tx.rollback().await;
                } // else dropping it closes the connection
                return Err(Failed { failure: broken.failure, runs });
            }
        };
        failpoint::reach(close.failpoint());
        if let Err(error) = tx.commit().await {
            error!(event_id = event.key.event_id, endpoint = &*event.key.endpoint, code = error.code(), %error, "event.failed");
            return Err(Failed { failure: failure_of(&error), runs });
        }
        Ok((Work { outcome: finish.outcome, runs, lag }, finish, started.elapsed()))
    }

    /// Everything between BEGIN and COMMIT.
    async fn work(
        &self,
        tx: &mut Unit,
        event: &Event,
        deadline: Instant,
        runs: &mut Vec<HandlerRun>,
        close: &Close<'_>,
    ) -> Result<(Finish, Duration), Broken> {
        failpoint::reach_with("process.handlers", &event.event_type);
        let routes: Vec<usize> = self.router.matching(&event.key.endpoint, &event.event_type).collect();
        let read = if self.is_read(&routes) { self.read(event) } else { None };
        let event = read.as_ref().unwrap_or(event);
        if close.is_guarded() && !tx.is_current(event).await? {
            return superseded(tx, event, &close.plan(self.plan_of(event)), runs, close).await;
        }
        let taken = self.selection.select(event, routes).await?;
        let plan = close.plan(self.plan(taken));
        let mut verdict = Verdict { taken: !plan.forward.is_empty(), ..Verdict::default() };
        for handling in &plan.handlers {
            let name = handling.name;
            let outcome = handle(tx, event, handling, deadline, self.statement_timeout).await;
            runs.push(HandlerRun { handler: Arc::clone(name), outcome: word(&outcome) });
            verdict.add(event, name, outcome?);
        }
        let edition = close.edition();
        if !runs.is_empty() {
            deliver::address_emitted(tx, event, edition, |route| plan.emit_of(route)).await?;
        }
        let provider = self.providers.get(&event.key.endpoint).map(AsRef::as_ref);
        deliver::forward(tx, event, edition, provider, &plan.forward).await?;
        let finish = verdict.finish();
        let time = close.write(tx, event, &finish).await?;
        Ok((finish, time))
    }

    /// The event with its document, where that is not its body.
    fn read(&self, event: &Event) -> Option<Event> {
        let provider = self.providers.get(&event.key.endpoint)?;
        let document = mapping::as_json(provider, &event.headers, &event.body)?;
        Some(Event { document: Some(document), ..event.clone() })
    }

    /// Whether any of these routes reads the event as JSON.
    fn is_read(&self, routes: &[usize]) -> bool {
        let handles = |at: &usize| matches!(self.steps.get(*at), Some(Step::Handle { .. }));
        routes.iter().any(handles) || self.selection.reads(routes)
    }

    fn plan(&self, taken: Vec<(usize, Option<Bytes>)>) -> Plan<'_> {
        Plan::new(taken.into_iter().filter_map(|(at, body)| {
            let changed = self.selection.transform(at).zip(body);
            Some(Taken { step: self.steps.get(at)?, changed })
        }))
    }

    /// What all routes ask for that an event's type fits.
    fn plan_of(&self, event: &Event) -> Plan<'_> {
        let matching = self.router.matching(&event.key.endpoint, &event.event_type);
        self.plan(matching.map(|at| (at, None)).collect())
    }

    /// The handlers that may work on this event: filters are not asked.
    pub(super) fn handlers_of(&self, event: &Event) -> Vec<&Arc<str>> {
        self.plan_of(event).handlers.iter().map(|handling| handling.name).collect()
    }

    /// Whether an endpoint has a route of this name, for whatever types.
    pub(super) fn has_route(&self, endpoint: &str, route: &str) -> bool {
        let all = self.router.of(endpoint).map(|at| (at, None)).collect();
        !self.plan(all).only(route).is_empty()
    }
}

/// A newer event of its key was applied: it is recorded, and nothing is done.
async fn superseded(
    tx: &mut Unit,
    event: &Event,
    plan: &Plan<'_>,
    runs: &mut Vec<HandlerRun>,
    close: &Close<'_>,
) -> Result<(Finish, Duration), Broken> {
    let finish = Finish { outcome: "superseded", review_reason: None };
    let time = close.write(tx, event, &finish).await?;
    let run = |name: &Arc<str>| HandlerRun { handler: Arc::clone(name), outcome: "superseded" };
    runs.extend(plan.handlers.iter().map(|handling| run(handling.name)));
    Ok((finish, time))
}

/// Runs one handler under its savepoint and within the time left. Its future is the only one that may be cut.
async fn handle(
    tx: &mut Unit,
    event: &Event,
    Handling { name, handler, route, .. }: &Handling<'_>,
    deadline: Instant,
    statement_timeout: Duration,
) -> Result<Outcome, Broken> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Broken::whole(Failure { code: "timeout".into(), retryable: true }, name));
    }
    tx.enter(event, route, left.min(statement_timeout)).await?;
    let work = AssertUnwindSafe(handler.handle(tx, event)).catch_unwind();
    #[expect(clippy::disallowed_methods, reason = "the connection of a cut handler is closed, never pooled")]
    let outcome = tokio::time::timeout(left, work).await;
    match outcome {
        Ok(Ok(Ok(outcome))) => {
            tx.leave().await.map_err(|error| Broken::from(error).by(name))?;
            Ok(outcome)
        }
        Ok(Ok(Err(error))) => Err(Broken::handler(&error, name)),
        Ok(Err(panic)) => Err(Broken::cut("handler.panic", name, &panic_text(panic.as_ref()))),
        Err(_) => Err(Broken::cut("timeout", name, "the handler did not finish in the time allowed")),
    }
}

/// What the handlers of one event said, taken together.
#[derive(Default)]
struct Verdict {
    taken: bool,
    review: Option<String>,
}

impl Verdict {
    fn add(&mut self, event: &Event, handler: &str, outcome: Outcome) {
        match outcome {
            Outcome::Ignored => return,
            Outcome::Done => {}
            Outcome::Idempotent { key } => info!(
                handler,
                business_key = key,
                event_id = event.key.event_id,
                endpoint = &*event.key.endpoint,
                event_type = event.event_type,
                "handler.idempotent"
            ),
            Outcome::Flagged { reason } => {
                let reason = format!("{handler}: {reason}");
                self.review = Some(match self.review.take() {
                    Some(before) => format!("{before}; {reason}"),
                    None => reason,
                });
            }
        }
        self.taken = true;
    }

    fn finish(self) -> Finish {
        let outcome = match (&self.review, self.taken) {
            (Some(_), _) => "flagged",
            (None, true) => "processed",
            (None, false) => "ignored",
        };
        Finish { outcome, review_reason: self.review }
    }
}

/// Why the work broke off, and whether its connection can still be used for a ROLLBACK.
struct Broken {
    failure: Failure,
    handler: Option<Arc<str>>,
    connection_is_whole: bool,
    text: String,
}

impl Broken {
    fn whole(failure: Failure, handler: &Arc<str>) -> Self {
        let text = failure.code.clone();
        Self { failure, handler: Some(Arc::clone(handler)), connection_is_whole: true, text }
    }

    fn handler(error: &HandlerError, handler: &Arc<str>) -> Self {
        let failure = Failure { code: error.code.clone(), retryable: error.retryable };
        Self { text: error.to_string(), ..Self::whole(failure, handler) }
    }

    fn cut(code: &str, handler: &Arc<str>, text: &str) -> Self {
        let failure = Failure { code: code.into(), retryable: true };
        Self { connection_is_whole: false, text: text.into(), ..Self::whole(failure, handler) }
    }

    fn by(self, handler: &Arc<str>) -> Self {
        Self { handler: Some(Arc::clone(handler)), ..self }
    }

    fn log(&self, event: &Event, runs: &[HandlerRun]) {
        warn!(
            event_id = event.key.event_id,
            endpoint = &*event.key.endpoint,
            event_type = event.event_type,
            handler = self.handler.as_deref(),
            handlers_run = runs.len(),
            code = self.failure.code,
            retryable = self.failure.retryable,
            error = self.text,
            "event.failed"
        );
    }
}

impl From<Undecided> for Broken {
    fn from(Undecided { failure, text }: Undecided) -> Self {
        Self { failure, handler: None, connection_is_whole: true, text }
    }
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self {
            failure: failure_of(&error),
            handler: None,
            connection_is_whole: true,
            text: error.to_string(),
        }
    }
}

/// A failure of our own statements is never the event's fault.
fn failure_of(error: &StoreError) -> Failure {
    Failure { code: error.code(), retryable: true }
}

fn word(outcome: &Result<Outcome, Broken>) -> &'static str {
    match outcome {
        Ok(Outcome::Done | Outcome::Idempotent { .. }) => "processed",
        Ok(Outcome::Ignored) => "ignored",
        Ok(Outcome::Flagged { .. }) => "flagged",
        Err(broken) if broken.failure.retryable => "failed",
        Err(_) => "permanent",
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the handler panicked: {}", text.unwrap_or("no text"))
}

/// One line for each committed unit of work.
fn report(event: &Event, finish: &Finish, runs: &[HandlerRun], took: Duration) {
    let handlers = runs.iter().map(|run| &*run.handler).collect::<Vec<_>>().join(",");
    let (event_id, endpoint, event_type) = (&event.key.event_id, &*event.key.endpoint, &event.event_type);
    let duration_ms = took.as_secs_f64() * 1e3;
    match finish.outcome {
        "ignored" => info!(event_id, endpoint, event_type, handlers, duration_ms, "event.ignored"),
        "superseded" => {
            let (ordering_key, version) = (event.ordering_key.as_deref(), event.version);
            info!(event_id, endpoint, event_type, handlers, ordering_key, version, "event.superseded");
        }
        "flagged" => {
            let reason = finish.review_reason.as_deref();
            warn!(event_id, endpoint, event_type, handlers, duration_ms, reason, "event.flagged");
        }
        result => info!(event_id, endpoint, event_type, handlers, result, duration_ms, "event.processed"),
    }
}
