//! What one listener allows, and how it ends.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::config::Server;

/// Headers of one request, their names and values together, and with HTTP/2 also their list. Providers send a few KiB.
pub(super) const MAX_HEADER_BYTES: u32 = 64 * 1024;
/// Headers of one request.
pub(super) const MAX_HEADERS: usize = 100;
/// Requests at once on one HTTP/2 connection.
pub(super) const MAX_STREAMS: u32 = 128;
/// How long a connection that was asked to end may stay without a request before it is dropped.
pub(super) const GRACE: Duration = Duration::from_secs(1);
/// How long to wait after `accept` failed for want of file descriptors or memory.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(250);

/// What one listener allows.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections open at once; more wait in the kernel's queue.
    pub connections: usize,
    /// How long a connection may stay without a request: the TLS handshake, the headers of the next request and idle
    /// keep-alive each end it after this time.
    pub idle: Duration,
}

impl From<&Server> for Limits {
    fn from(server: &Server) -> Self {
        Self { connections: server.max_connections, idle: server.header_timeout }
    }
}

/// How a listener ends.
#[derive(Clone, Debug)]
pub struct Drain {
    /// Cancelled when the process is told to stop.
    pub signal: CancellationToken,
    /// From then on the listener stays open for this time, so that load balancers notice.
    pub delay: Duration,
    /// After that, requests in flight have this time before they are cut.
    pub timeout: Duration,
}

impl Drain {
    /// The end that `server` describes, begun by `signal`.
    #[must_use]
    pub fn new(server: &Server, signal: CancellationToken) -> Self {
        Self { signal, delay: server.drain_delay, timeout: server.drain_timeout }
    }

    /// Waits until no further connection is to be accepted.
    pub(super) async fn stop_accepting(&self) {
        self.signal.cancelled().await;
        tokio::time::sleep(self.delay).await;
    }
}
