//! What the other side of a connection is doing: sending headers, waiting for us, or nothing.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tower::Service;

use super::Limits;

/// `Activity::heard` while nothing has been heard since the last request.
const NOTHING: u64 = u64::MAX;

/// What one connection is doing. Times are milliseconds after `opened`.
pub(super) struct Activity {
    opened: Instant,
    in_flight: AtomicUsize,
    /// When the last request ended; 0 before the first one.
    ended: AtomicU64,
    /// When the first byte came that belongs to no request yet; a new connection counts as having sent one.
    heard: AtomicU64,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            opened: Instant::now(),
            in_flight: AtomicUsize::new(0),
            ended: AtomicU64::new(0),
            heard: AtomicU64::new(0),
        }
    }

    /// For how long no request has been in flight; `None` while one is.
    pub(super) fn idle(&self) -> Option<Duration> {
        (self.in_flight.load(SeqCst) == 0).then(|| self.since(self.ended.load(SeqCst)))
    }

    /// How long the connection may stay as it is, zero if its time is over; `None` while a request is in flight.
    pub(super) fn time_left(&self, limits: &Limits) -> Option<Duration> {
        let idle = self.idle()?;
        Some(match self.heard.load(SeqCst) {
            NOTHING => limits.idle.saturating_sub(idle),
            heard => limits.headers.saturating_sub(self.since(heard)),
        })
    }

    fn hear(&self) {
        if self.in_flight.load(SeqCst) == 0 {
            let _ = self.heard.compare_exchange(NOTHING, self.now(), SeqCst, SeqCst);
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(NOTHING - 1)
    }

    fn since(&self, millis: u64) -> Duration {
        self.opened.elapsed().saturating_sub(Duration::from_millis(millis))
    }
}

/// One request; it ends when this is dropped, also by a client that hangs up.
struct InFlight(Arc<Activity>);

impl InFlight {
    fn begin(activity: &Arc<Activity>) -> Self {
        activity.in_flight.fetch_add(1, SeqCst);
        activity.heard.store(NOTHING, SeqCst);
        Self(Arc::clone(activity))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.ended.store(self.0.now(), SeqCst);
        self.0.in_flight.fetch_sub(1, SeqCst);
    }
}

/// A service or a stream that keeps a connection's [`Activity`].
#[derive(Clone)]
pub(super) struct Watched<T> {
    inner: T,
    activity: Arc<Activity>,
}

impl<T> Watched<T> {
    pub(super) fn new(inner: T, activity: &Arc<Activity>) -> Self {
        Self { inner, activity: Arc::clone(activity) }
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

impl<I: AsyncRead + Unpin> AsyncRead for Watched<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.activity.hear();
        }
        read
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Watched<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
