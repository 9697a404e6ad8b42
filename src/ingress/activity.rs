//! Whether a connection has a request in flight, and since when it has none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tower::Service;

/// What one connection is doing.
pub(super) struct Activity {
    opened: Instant,
    in_flight: AtomicUsize,
    /// Milliseconds after `opened` at which the last request ended; 0 before the first one.
    last_end: AtomicU64,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self { opened: Instant::now(), in_flight: AtomicUsize::new(0), last_end: AtomicU64::new(0) }
    }

    /// For how long no request has been in flight; `None` while one is.
    pub(super) fn idle(&self) -> Option<Duration> {
        let since = self.opened + Duration::from_millis(self.last_end.load(SeqCst));
        (self.in_flight.load(SeqCst) == 0).then(|| since.elapsed())
    }
}

/// A service that keeps a connection's [`Activity`].
#[derive(Clone)]
pub(super) struct Watched<S> {
    inner: S,
    activity: Arc<Activity>,
}

impl<S> Watched<S> {
    pub(super) fn new(inner: S, activity: Arc<Activity>) -> Self {
        Self { inner, activity }
    }
}

impl<S, R> Service<R> for Watched<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let in_flight = InFlight::begin(&self.activity);
        let answer = self.inner.call(request);
        Box::pin(async move {
            let _in_flight = in_flight;
            answer.await
        })
    }
}

/// One request; it ends when this is dropped, also by a client that hangs up.
struct InFlight(Arc<Activity>);

impl InFlight {
    fn begin(activity: &Arc<Activity>) -> Self {
        activity.in_flight.fetch_add(1, SeqCst);
        Self(Arc::clone(activity))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last_end.store(now, SeqCst);
        self.0.in_flight.fetch_sub(1, SeqCst);
    }
}
