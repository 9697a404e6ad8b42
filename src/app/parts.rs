//! The parts of a gateway, built and connected but not yet running.

use std::sync::Arc;
use std::time::Duration;

use super::StartError;
use crate::clock::{Clock, SystemClock};
use crate::config::{Config, Destination, Matching, OnDead, Route};
use crate::dispatch::{Asker, Dispatcher};
use crate::egress::Network;
use crate::handler::{Registry, Resolved, SetupError};
use crate::ingress::IngressState;
use crate::jq::Runner;
use crate::keys::{Keys, LearnedKeys};
use crate::model::DueEvent;
use crate::observe::{Measured, Metrics};
use crate::process::{Processor, Selection, Step};
use crate::receive::{Keeper, KeeperTask, Receiver, Wake, Watch};
use crate::routing::Router;
use crate::store::{Inbox, Outbox, Queue, Store};
use crate::worker::{InboxJob, OutboxJob, ReplayJob, Shares};

/// How long the check of one handler's statements may take.
const PREPARE: Duration = Duration::from_secs(30);

/// Everything that runs.
pub(super) struct Parts {
    pub(super) metrics: Arc<Metrics>,
    pub(super) wake: Wake,
    pub(super) ingress: Arc<IngressState>,
    pub(super) keeping: KeeperTask,
    pub(super) inbox_job: Arc<InboxJob>,
    pub(super) outbox_job: Arc<OutboxJob>,
    pub(super) replay_job: Arc<ReplayJob>,
}

impl Parts {
    pub(super) async fn build(
        config: &Config,
        handlers: &Registry,
        store: &Store,
    ) -> Result<Self, StartError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let metrics = Metrics::new(config).map_err(StartError::Metrics)?;
        let wake = Wake::default();
        let processor = Arc::new(processor(config, handlers, store).await?);
        let inbox: Arc<dyn Inbox> =
            Arc::new(Measured::new(Arc::clone(&store.inbox), "inbox", Arc::clone(&metrics)));
        let events: Arc<dyn Queue<DueEvent>> =
            Arc::new(Measured::new(Arc::clone(&store.events), "inbox", Arc::clone(&metrics)));
        let outbox: Arc<dyn Outbox> =
            Arc::new(Measured::new(Arc::clone(&store.outbox), "outbox", Arc::clone(&metrics)));
        let watch: Arc<dyn Watch> = Arc::<Metrics>::clone(&metrics);
        let (keeper, keeping) = Keeper::new(Arc::clone(&inbox), config.quarantine, watch);
        let receiver = Receiver::new(
            config,
            Arc::clone(&inbox),
            Arc::clone(&processor),
            (Arc::new(Keys::new(&Network::default())), LearnedKeys::new(Arc::clone(&store.learned))),
            (keeper, Arc::new(Asker::new(config, Arc::clone(&clock))?)),
            Arc::clone(&clock),
            wake.clone(),
        );
        let ingress = IngressState::new(config, Arc::new(receiver), Arc::clone(&metrics), Arc::clone(&clock))
            .map_err(StartError::Tls)?;
        // What another mode left at a proxy endpoint has no route any more: it stays in the backlog, where it is seen.
        let served = config.endpoints.values().filter(|endpoint| endpoint.proxied().is_none());
        let shares = Shares::new(
            served.clone().map(|of| (&of.name, of.concurrency, of.ordered == Some(OnDead::Skip))),
            &config.routes,
            &config.handlers,
        );
        let served: Vec<Arc<str>> = served.map(|endpoint| Arc::clone(&endpoint.name)).collect();
        let replay_job = ReplayJob::new(
            Arc::clone(&inbox),
            Arc::clone(&store.replays),
            Arc::clone(&processor),
            served,
            config.inbox.clone(),
            Arc::clone(&wake.dispatcher),
        );
        let inbox_job = InboxJob::new(
            inbox,
            events,
            processor,
            shares,
            config.inbox.clone(),
            Arc::clone(&wake.dispatcher),
        );
        let confirmations = Arc::new(Destination::confirmations(&config.outbox));
        let destinations = config.destinations.values().chain([&confirmations]);
        let outbox_job = OutboxJob::new(
            outbox,
            Dispatcher::new(config)?,
            destinations,
            config.outbox.concurrency,
            clock,
            Arc::clone(&wake.dispatcher),
        );
        Ok(Self {
            metrics,
            wake,
            ingress,
            keeping,
            inbox_job: Arc::new(inbox_job),
            outbox_job: Arc::new(outbox_job),
            replay_job: Arc::new(replay_job),
        })
    }
}

/// Checks every handler against the database's schema, in transactions that are rolled back.
///
/// # Errors
/// Everything that is wrong, not only the first thing.
pub async fn prepare(config: &Config, handlers: &Registry, store: &Store) -> Result<(), StartError> {
    processor(config, handlers, store).await.map(drop)
}

async fn processor(config: &Config, handlers: &Registry, store: &Store) -> Result<Processor, StartError> {
    let resolved =
        handlers.resolve(&config.routes, (&config.database.url).into()).map_err(StartError::Handlers)?;
    let mut errors = Vec::new();
    for (handler, route) in resolved.iter().zip(&config.routes) {
        let Some(handler) = handler else { continue };
        let mut tx = store.inbox.begin(PREPARE).await?;
        if let Err(error) = handler.handler.prepare(&mut tx).await {
            errors.push(SetupError { place: route.origin.clone(), problem: error.to_string() });
        }
        tx.rollback().await;
    }
    if !errors.is_empty() {
        return Err(StartError::Handlers(errors));
    }
    let steps =
        resolved.into_iter().zip(&config.routes).map(|(handler, route)| step(handler, route)).collect();
    let providers = config.endpoints.values();
    let providers = providers.map(|endpoint| (Arc::clone(&endpoint.name), Arc::clone(&endpoint.provider)));
    let processor = Processor::new(Router::new(&config.routes), steps, config.inbox.statement_timeout);
    Ok(processor.reading(providers.collect()).selecting(selection(config)))
}

/// What the routes ask of events, and the endpoints where the first answer counts.
fn selection(config: &Config) -> Selection {
    let first = config.endpoints.values().filter(|endpoint| endpoint.matching == Matching::First);
    Selection {
        questions: config.routes.iter().map(Route::question).collect(),
        origins: config.routes.iter().map(|route| route.origin.clone()).collect(),
        first: first.map(|endpoint| Arc::clone(&endpoint.name)).collect(),
        runner: Runner::default(),
    }
}

fn step(handler: Option<Resolved>, route: &Route) -> Step {
    match handler {
        Some(Resolved { name, handler }) => Step::Handle { name, handler, emit: route.destinations.clone() },
        None => Step::Forward { destinations: route.destinations.clone() },
    }
}
