//! The accept loop: connections come in here, bounded in number, and end here, bounded in time.
//!
//! It is our own because the limits and the drain of hyper's connections cannot be reached through a ready-made one.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;
use tower::{BoxError, Service, ServiceExt as _};
use tracing::{info, warn};

use super::connection::{Connection, End};
use super::limits::{ACCEPT_PAUSE, Drain, Limits};
use super::peer::Peer;

/// How a listener ended.
#[derive(Clone, Copy, Debug)]
pub struct Drained {
    /// Every connection ended by itself; none was cut.
    pub clean: bool,
    /// When `drain_timeout` is (or was) over.
    pub deadline: Instant,
}

/// Serves `service` on `tcp` until `drain` has run its course.
///
/// `service` is cloned for each request. It must be quick to be dropped: a client that hangs up drops its future.
pub async fn listen<S, B>(
    tcp: TcpListener,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    service: S,
    drain: &Drain,
) -> Drained
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let connection = Arc::new(Connection::new(tls, limits));
    let slots = Arc::new(Semaphore::new(limits.connections));
    let connections = TaskTracker::new();
    let end = End::default();
    let mut closing = pin!(drain.stop_accepting());
    loop {
        // The slot comes before the connection, so that surplus ones wait in the kernel and cost us no descriptor.
        let (slot, (stream, address)) = tokio::select! {
            () = &mut closing => break,
            accepted = async { (Arc::clone(&slots).acquire_owned().await, accept(&tcp).await) } => accepted,
        };
        let peer = Peer(address.ip());
        let service = service.clone().map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request
        });
        let (connection, end) = (Arc::clone(&connection), end.clone());
        connections.spawn(async move {
            connection.serve(stream, service, end).await;
            drop(slot);
        });
    }
    drop(tcp);
    connections.close();
    end.please.cancel();
    info!(connections = connections.len(), "listener.draining");
    let deadline = Instant::now() + drain.timeout;
    let clean = tokio::select! {
        () = connections.wait() => true,
        () = tokio::time::sleep_until(deadline) => false,
    };
    if !clean {
        warn!(connections = connections.len(), "listener.cut");
        end.now.cancel();
        connections.wait().await;
    }
    Drained { clean, deadline }
}

/// The next connection. Without file descriptors it waits a little: the error would come back at once, and turn the
/// loop into a busy one.
async fn accept(tcp: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match tcp.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                warn!(%error, "listener.accept_failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn concerns_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Opens a listening socket; the error names the address.
///
/// # Errors
/// The address is in use, is not ours, or needs a privilege.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))
}
