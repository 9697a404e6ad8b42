//! A running gateway: every part, built in the order of the data's way and ended in the same order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::StartError;
use super::parts::Parts;
use super::pruner::Pruner;
use super::signals::Signals;
use super::sweeper::Sweeper;
use crate::admin::{self, AdminState};
use crate::config::{self, Config};
use crate::handler::Registry;
use crate::ingress::{self, Drain, Limits};
use crate::observe::{INTERVAL, Metrics, Monitor};
use crate::store::{self, ServeLock, Store};
use crate::worker::{self, Job, Settings};

/// For what is left when requests and workers have ended: the last batch of retention, the last counts, open pages, the database's connections.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// Replays worked off at once by one process: they share it with the events of today.
const REPLAYS: usize = 2;

/// How often retention is looked to.
const PRUNE_INTERVAL: Duration = Duration::from_mins(1);

/// How often lost exchanges of proxy endpoints are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(2);

/// Builds a gateway. A program of your own registers its handlers here.
pub struct Builder {
    config: Config,
    handlers: Registry,
}

impl Builder {
    /// A gateway for this configuration and these handlers.
    #[must_use]
    pub fn new(config: Config, handlers: Registry) -> Self {
        Self { config, handlers }
    }

    /// Migrates the schema (unless the configuration says not to), checks every handler against it, and starts to
    /// serve. When it returns, both listeners are open.
    ///
    /// # Errors
    /// [`StartError`]: what is wrong and what to do. Nothing is left running.
    pub async fn start(self) -> Result<Gateway, StartError> {
        let Self { config, handlers } = self;
        let lock = store::lock_for_serving(&config.database)?;
        if config.database.migrate {
            store::migrate(&config.database).await?;
        }
        let store = store::connect(&config.database).await?;
        let parts = Parts::build(&config, &handlers, &store).await?;
        let public = bind("server.listen", config.server.listen).await?;
        let operators = bind("admin.listen", config.admin.listen).await?;
        Ok(Gateway::launch(&config, parts, store, lock, public, operators))
    }
}

/// A gateway that serves.
pub struct Gateway {
    ingress: SocketAddr,
    admin: SocketAddr,
    store: Store,
    tasks: Tasks,
    /// From the order to stop to the moment when work is cut.
    drain: Duration,
    _lock: ServeLock,
}

/// What runs, in the order in which it ends.
struct Tasks {
    stop: Stop,
    ingress: JoinHandle<bool>,
    workers: [JoinHandle<()>; 3],
    pruner: JoinHandle<()>,
    sweeper: JoinHandle<()>,
    keeping: JoinHandle<()>,
    monitor: JoinHandle<()>,
    admin: JoinHandle<()>,
}

/// One token for each step of the way down.
#[derive(Default)]
struct Stop {
    ingress: CancellationToken,
    workers: CancellationToken,
    keeping: CancellationToken,
    monitor: CancellationToken,
    admin: CancellationToken,
}

impl Gateway {
    fn launch(
        config: &Config,
        parts: Parts,
        store: Store,
        lock: ServeLock,
        (public, ingress): (TcpListener, SocketAddr),
        (operators, admin): (TcpListener, SocketAddr),
    ) -> Self {
        let stop = Stop::default();
        let monitor = Monitor::new(Arc::clone(&store.ledger), Arc::clone(&parts.metrics), INTERVAL);
        let pruner = Pruner::new(
            Arc::clone(&store.ledger),
            Arc::clone(&parts.metrics),
            config.retention.clone(),
            PRUNE_INTERVAL,
        );
        let sweeper = Sweeper::new(Arc::clone(&store.inbox), SWEEP_INTERVAL);
        let pages = AdminState {
            admin: config.admin.clone(),
            metrics: Arc::clone(&parts.metrics),
            store: monitor.health(),
            draining: stop.ingress.clone(),
        };
        let tasks = Tasks {
            ingress: tokio::spawn(ingress::serve(public, Arc::clone(&parts.ingress), stop.ingress.clone())),
            workers: [
                work(
                    &parts,
                    &parts.inbox_job,
                    &config.inbox,
                    &parts.wake.worker,
                    Metrics::worked,
                    &stop.workers,
                ),
                work(
                    &parts,
                    &parts.outbox_job,
                    &config::Queue { concurrency: parts.outbox_job.hands(), ..config.outbox.clone() },
                    &parts.wake.dispatcher,
                    |_, ()| {},
                    &stop.workers,
                ),
                work(
                    &parts,
                    &parts.replay_job,
                    &config::Queue { concurrency: REPLAYS, ..config.inbox.clone() },
                    &Arc::default(), // nothing wakes it: an order may wait for the next look
                    |metrics, events| events.iter().for_each(|worked| metrics.worked(worked)),
                    &stop.workers,
                ),
            ],
            keeping: tokio::spawn(parts.keeping.run(stop.keeping.clone())),
            pruner: tokio::spawn(pruner.run(stop.workers.clone())),
            sweeper: tokio::spawn(sweeper.run(stop.workers.clone())),
            monitor: tokio::spawn(monitor.run(stop.monitor.clone())),
            admin: tokio::spawn(serve_operators(operators, pages, config.server.clone(), stop.admin.clone())),
            stop,
        };
        let (database, transaction_pooler) = (&config.database.url, store.is_pooled());
        info!(ingress = %ingress, admin = %admin, ?database, transaction_pooler, "listening");
        let drain = config.server.drain_delay + config.server.drain_timeout;
        Self { ingress, admin, store, tasks, drain, _lock: lock }
    }

    /// Where providers' requests arrive: the real port, also where the configuration says 0.
    #[must_use]
    pub fn ingress(&self) -> SocketAddr {
        self.ingress
    }

    /// Where operators look.
    #[must_use]
    pub fn admin(&self) -> SocketAddr {
        self.admin
    }

    /// The database, for an embedding program's own questions.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Serves until SIGTERM or SIGINT, then drains. A second signal cuts what is left; `true` if nothing was cut.
    pub async fn run(self) -> bool {
        let mut signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => {
                warn!(%error, "signals.unavailable");
                return self.drain().await;
            }
        };
        let name = signals.next().await;
        info!(signal = name, "draining");
        tokio::select! {
            clean = self.drain() => clean,
            name = signals.next() => {
                warn!(signal = name, "aborted");
                false
            }
        }
    }

    /// Ends the listener and the workers, which finish what is in hand, then the last counts, the operators' pages and
    /// the database. It takes `drain_delay` and `drain_timeout` at most, and a second. `true` if nothing was cut.
    pub async fn drain(self) -> bool {
        let Self { store, tasks, drain, _lock, .. } = self;
        let Tasks { stop, ingress, workers, pruner, sweeper, keeping, monitor, admin } = tasks;
        // One end for requests and workers together, so that the time a supervisor must allow is known.
        let end = Instant::now() + drain;
        stop.ingress.cancel();
        stop.workers.cancel();
        let mut clean = ingress.await.unwrap_or(false);
        for worker in workers {
            clean &= until(end, "worker", worker).await;
        }
        let end = end.max(Instant::now() + LAST_GRACE);
        clean &= until(end, "pruner", pruner).await;
        clean &= until(end, "sweeper", sweeper).await;
        stop.keeping.cancel();
        clean &= until(end, "keeping", keeping).await;
        stop.monitor.cancel();
        clean &= until(end, "monitor", monitor).await;
        stop.admin.cancel();
        clean &= until(end, "admin", admin).await;
        let closing = tokio::spawn(async move { store.close().await });
        clean &= until(end, "store", closing).await;
        info!(clean, "stopped");
        clean
    }
}

async fn bind(key: &'static str, address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let taken = |why| StartError::Bind { key, address, why };
    let listener = ingress::bind(address).await.map_err(taken)?;
    let bound = listener.local_addr().map_err(taken)?;
    Ok((listener, bound))
}

/// Starts the loop over one queue.
fn work<J: Job>(
    parts: &Parts,
    job: &Arc<J>,
    queue: &config::Queue,
    wake: &Arc<Notify>,
    watch: fn(&Metrics, &J::Report),
    stop: &CancellationToken,
) -> JoinHandle<()> {
    let settings = Settings { concurrency: queue.concurrency, poll_interval: queue.poll_interval };
    let (job, wake, stop, metrics) =
        (Arc::clone(job), Arc::clone(wake), stop.clone(), Arc::clone(&parts.metrics));
    tokio::spawn(async move {
        let _alive = metrics.worker_alive(job.queue());
        let watched = Arc::clone(&metrics);
        worker::run(job, settings, wake, move |report| watch(&watched, report), stop).await;
    })
}

/// The operators' pages are served until the very end, so that a drain can be watched.
async fn serve_operators(
    listener: TcpListener,
    state: AdminState,
    server: config::Server,
    stop: CancellationToken,
) {
    let drain = Drain { signal: stop, delay: Duration::ZERO, timeout: LAST_GRACE };
    ingress::listen(listener, None, Limits::from(&server), admin::router(state), &drain).await;
}

/// Waits for one part to end; one that does not is cut.
async fn until(end: Instant, part: &str, task: JoinHandle<()>) -> bool {
    let cut = task.abort_handle();
    // A worker that is cut loses its lease, and its transaction its connection.
    let ended = tokio::time::timeout_at(end, task).await;
    if ended.is_err() {
        warn!(part, "cut");
        cut.abort();
    }
    matches!(ended, Ok(Ok(())))
}
