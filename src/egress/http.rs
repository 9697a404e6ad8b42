//! The HTTP client of one set of rules. Each destination has its own, so that none rides on a connection that another
//! one's rules allowed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::crypto::ring;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use tokio::net::TcpStream;
use tower::Service;

use super::resolve::Guarded;

/// Of a reply's body no more than this many bytes are read; a longer one costs the connection.
pub const MAX_REPLY: usize = 64 * 1024;

/// Most bytes of a reply's head.
const MAX_HEAD: u32 = 64 * 1024;

/// An idle connection is closed after this: before servers that close theirs after 5 s (Node.js, Apache), so that a
/// delivery seldom meets a connection that is being closed.
const IDLE: Duration = Duration::from_secs(4);

/// A client that connects only where its resolver lets it.
#[derive(Clone)]
pub(crate) struct Client(legacy::Client<Bounded, Full<Bytes>>);

impl Client {
    pub(crate) fn new(resolver: Guarded, tls: ClientConfig, connect: Duration, idle: usize) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let tls = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_all_versions();
        let connector = Bounded { inner: tls.wrap_connector(tcp), limit: connect };
        Self(
            legacy::Client::builder(TokioExecutor::new())
                .timer(TokioTimer::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE)
                .pool_max_idle_per_host(idle)
                .http1_max_buf_size(MAX_HEAD as usize)
                .http2_max_header_list_size(MAX_HEAD)
                .build(connector),
        )
    }

    /// Sends one request and returns the reply's head; the body is still to be read.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, legacy::Error> {
        self.0.request(request).await
    }
}

/// Reads what is left of a reply, so that the connection can serve again. Whatever happens here changes nothing: the
/// status has been read.
pub(crate) async fn drain(mut body: Incoming) {
    let mut read = 0;
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > MAX_REPLY {
            return;
        }
    }
}

/// The connection was not there in time.
#[derive(Debug, thiserror::Error)]
#[error("no connection within {0:?}")]
pub(crate) struct ConnectTimeout(Duration);

/// A connector with one limit over all of it: name, address, TLS. The client may go on connecting in the background
/// after the request that asked for it is gone, so a limit around the request would not end it.
#[derive(Clone)]
struct Bounded {
    inner: HttpsConnector<HttpConnector<Guarded>>,
    limit: Duration,
}

impl Service<Uri> for Bounded {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let limit = self.limit;
        let connecting = self.inner.call(uri);
        Box::pin(async move {
            within(limit, connecting).await.unwrap_or_else(|| Err(ConnectTimeout(limit).into()))
        })
    }
}

/// Waits for at most `limit`; `None` if that was not enough.
#[expect(
    clippy::disallowed_methods,
    reason = "a cut HTTP exchange is an unknown outcome, and no transaction is open"
)]
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

/// TLS as deliveries use it: ring, TLS 1.2 and 1.3, the given roots, no client certificate.
pub(crate) fn tls_over(roots: RootCertStore) -> Result<ClientConfig, String> {
    let builder = tls().map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The same with the machine's own roots.
pub(crate) fn tls_of_this_machine() -> Result<ClientConfig, String> {
    let builder = tls().map_err(|error| error.to_string())?;
    Ok(builder.with_native_roots().map_err(|error| no_roots(&error))?.with_no_client_auth())
}

pub(super) fn no_roots(error: &std::io::Error) -> String {
    format!("https needs root certificates: {error}; install ca-certificates or set SSL_CERT_FILE")
}

pub(super) fn tls() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
}
