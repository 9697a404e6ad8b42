//! One request, from its headers to its reply.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use http::Request;
use http::request::Parts;
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;
use tracing::debug;

use super::body::{self, Bounds};
use super::limits::{PACE, REQUEST_MEMORY};
use super::memory::{Memory, Share};
use super::refusal::Refusal;
use super::reply::{self, HttpReply};
use super::{Limits, TlsError, convert, tls};
use crate::clock::Clock;
use crate::config::{Config, Endpoint, Server};
use crate::model;
use crate::observe::{Exchange, Metrics, request_line};
use crate::receive::{Receipt, Receiver};

/// Everything that a request needs.
pub struct IngressState {
    receiver: Arc<Receiver>,
    pub(super) metrics: Arc<Metrics>,
    clock: Arc<dyn Clock>,
    /// Every path of every endpoint, as it is written in the config.
    paths: HashMap<String, Arc<Endpoint>>,
    public_url: Option<String>,
    body_timeout: Duration,
    memory: Memory,
    slots: Arc<Semaphore>,
    pub(super) tasks: TaskTracker,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) server: Server,
}

impl IngressState {
    /// Prepares the endpoints of `config`.
    ///
    /// # Errors
    /// [`TlsError`], if `server.tls` names files that cannot be used.
    pub fn new(
        config: &Config,
        receiver: Arc<Receiver>,
        metrics: Arc<Metrics>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, TlsError> {
        let server = config.server.clone();
        let paths = config
            .endpoints
            .values()
            .flat_map(|endpoint| endpoint.paths.iter().map(|path| (path.clone(), Arc::clone(endpoint))));
        Ok(Arc::new(Self {
            receiver,
            metrics,
            clock,
            paths: paths.collect(),
            public_url: server.public_url.clone(),
            body_timeout: server.body_timeout,
            memory: Memory::new(REQUEST_MEMORY),
            slots: Arc::new(Semaphore::new(server.max_in_flight)),
            tasks: TaskTracker::new(),
            tls: server.tls.as_ref().map(tls::acceptor).transpose()?,
            server,
        }))
    }

    /// What a connection may do.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits::from(&self.server)
    }

    /// Answers one request. The future may be dropped at any moment, as hyper does when the client hangs up: what was
    /// handed to the receiver is finished, counted and logged all the same.
    pub(super) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> HttpReply {
        let began = Instant::now();
        let Some(endpoint) = self.paths.get(request.uri().path()).map(Arc::clone) else {
            self.metrics.unrouted("not_found");
            debug!(method = %request.method(), path = request.uri().path(), "webhook.not_found");
            return reply::not_found();
        };
        let (head, body) = request.into_parts();
        let visit = Visit { signature_present: carries_signature(&head, &endpoint), head, endpoint, began };
        match self.admit(&visit, body).await {
            Ok(admitted) => self.work(visit, admitted).await,
            Err(refusal) => self.refuse(&visit, refusal),
        }
    }

    /// The checks that cost least come first. A slot is taken only for a request that has come to its end: who sends
    /// slowly or not at all must not keep it from others. Until then memory is what is bounded.
    async fn admit(&self, visit: &Visit, body: Incoming) -> Result<Admitted, Refusal> {
        convert::check_host(&visit.head)?;
        if !visit.endpoint.provider.methods().iter().any(|method| method == visit.head.method.as_str()) {
            return Err(Refusal::Method);
        }
        let mut share = self.memory.share();
        share.take(convert::size(&visit.head))?;
        let bounds = Bounds { size: visit.endpoint.max_body, time: self.body_timeout, pace: PACE };
        let body = body::read(body, &bounds, &mut share).await?;
        let slot = Arc::clone(&self.slots).try_acquire_owned().map_err(|_| Refusal::Overloaded)?;
        debug!(
            endpoint = &*visit.endpoint.name,
            path = visit.head.uri.path(),
            bytes = body.len(),
            signature_present = visit.signature_present,
            "webhook.received"
        );
        let request =
            convert::request(&visit.head, body, self.public_url.as_deref(), &self.server.trusted_proxies);
        Ok(Admitted { request, slot, share })
    }

    /// Receives in a task of its own, which keeps the slot and the memory until the work is done.
    async fn work(self: Arc<Self>, visit: Visit, admitted: Admitted) -> HttpReply {
        let state = Arc::clone(&self);
        let Admitted { request, slot, share } = admitted;
        let work = self.tasks.spawn(async move {
            let bytes = request.body.len();
            let receipt =
                AssertUnwindSafe(state.receiver.receive(&visit.endpoint, request)).catch_unwind().await;
            drop((slot, share));
            let Ok(receipt) = receipt else { return state.refuse(&visit, Refusal::Crashed) };
            let reply = reply::to_receipt(&receipt, &visit.endpoint.provider);
            state.record(&visit, bytes, &receipt, &reply);
            reply
        });
        work.await.unwrap_or_else(|_| reply::crashed())
    }

    fn refuse(&self, visit: &Visit, refusal: Refusal) -> HttpReply {
        let receipt = refusal.receipt();
        let reply = reply::to_refusal(refusal, &receipt, &visit.endpoint.provider);
        self.record(visit, 0, &receipt, &reply);
        reply
    }

    fn record(&self, visit: &Visit, bytes: usize, receipt: &Receipt, reply: &HttpReply) {
        let elapsed = visit.began.elapsed();
        self.metrics.request(&visit.endpoint, receipt, elapsed, self.clock.now());
        let exchange = Exchange {
            endpoint: &visit.endpoint,
            path: visit.head.uri.path(),
            bytes,
            signature_present: visit.signature_present,
            status: reply.status().as_u16(),
            elapsed,
        };
        request_line(&exchange, receipt);
    }
}

/// A request whose path is an endpoint's.
struct Visit {
    head: Parts,
    endpoint: Arc<Endpoint>,
    began: Instant,
    signature_present: bool,
}

/// A request that was read to its end, and what it holds of the things that are bounded.
struct Admitted {
    request: model::Request,
    slot: OwnedSemaphorePermit,
    share: Share,
}

fn carries_signature(head: &Parts, endpoint: &Endpoint) -> bool {
    endpoint.provider.signature_headers().iter().any(|name| head.headers.contains_key(name))
}
