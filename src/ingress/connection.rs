//! One connection: TLS if configured, HTTP/1.1 or HTTP/2, and its end.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::{BoxError, Service};
use tracing::debug;

use super::activity::{Activity, Watched};
use super::limits::{GRACE, Limits, MAX_HEADER_BYTES, MAX_HEADERS, MAX_STREAMS};

/// How all connections of a listener are served.
pub(super) struct Connection {
    tls: Option<TlsAcceptor>,
    http: auto::Builder<TokioExecutor>,
    limits: Limits,
}

/// How a connection is told to end.
#[derive(Clone, Default)]
pub(super) struct End {
    /// Finish what is in flight and take no more.
    pub(super) please: CancellationToken,
    /// Drop everything.
    pub(super) now: CancellationToken,
}

impl Connection {
    pub(super) fn new(tls: Option<TlsAcceptor>, limits: Limits) -> Self {
        Self { tls, http: http_limits(limits), limits }
    }

    /// Serves one connection to its end.
    pub(super) async fn serve<S, B>(&self, stream: TcpStream, service: S, end: End)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%error, "connection.nodelay_failed");
        }
        let Some(tls) = &self.tls else { return self.drive(stream, service, end).await };
        let handshake = tokio::select! {
            handshake = tls.accept(stream) => handshake,
            () = tokio::time::sleep(self.limits.headers) => return,
            () = end.please.cancelled() => return,
        };
        match handshake {
            Ok(stream) => self.drive(stream, service, end).await,
            Err(error) => debug!(%error, "connection.tls_failed"),
        }
    }

    /// Runs the protocol. hyper's own time limit for headers is of no use here: it also ends idle connections, it knows
    /// only HTTP/1, and begins only when hyper knows which protocol is spoken; and a graceful end waits for all of that
    /// without a bound. So a connection without a request is looked at now and then, asked to end when its time is
    /// over, and dropped if it does not.
    async fn drive<I, S, B>(&self, io: I, service: S, end: End)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let activity = Arc::new(Activity::new());
        let service = TowerToHyperService::new(Watched::new(service, &activity));
        let io = TokioIo::new(Watched::new(io, &activity));
        let mut protocol = pin!(self.http.serve_connection(io, service));
        let mut look = pin!(tokio::time::sleep(self.limits.headers));
        let mut ending = false;
        loop {
            tokio::select! {
                ended = protocol.as_mut() => {
                    if let Err(error) = ended {
                        debug!(error, "connection.failed");
                    }
                    return;
                }
                () = end.now.cancelled() => return,
                () = end.please.cancelled(), if !ending => {}
                () = look.as_mut() => {
                    let left = if ending {
                        activity.idle().map(|idle| GRACE.saturating_sub(idle))
                    } else {
                        activity.time_left(&self.limits)
                    };
                    if left != Some(Duration::ZERO) {
                        let longest = if ending { GRACE } else { self.limits.headers };
                        look.as_mut().reset(Instant::now() + left.map_or(longest, |left| left.min(longest)));
                        continue;
                    }
                    if ending {
                        return;
                    }
                }
            }
            ending = true;
            protocol.as_mut().graceful_shutdown();
            look.as_mut().reset(Instant::now() + GRACE);
        }
    }
}

fn http_limits(limits: Limits) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None) // see `Connection::drive`
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES as usize);
    http.http2()
        .timer(TokioTimer::new())
        .max_header_list_size(MAX_HEADER_BYTES)
        .max_concurrent_streams(MAX_STREAMS)
        // Pings find peers that vanished while a reply is on its way to them.
        .keep_alive_interval(limits.headers)
        .keep_alive_timeout(limits.headers);
    http
}
