//! What one listener allows, and how it ends.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::config::Server;

/// Headers of one request, their names and values together, and with HTTP/2 also their list. Providers send a few KiB.
pub(super) const MAX_HEADER_BYTES: u32 = 64 * 1024;
/// Headers of one request.
pub(super) const MAX_HEADERS: usize = 100;
/// Requests at once on one HTTP/2 connection.
pub(super) const MAX_STREAMS: u32 = 32;
/// Memory for the headers and bodies of all requests together, from their arrival to the end of the work on them; a
/// request that finds none left is answered 503 with `Retry-After`.
pub(super) const REQUEST_MEMORY: usize = 256 * 1024 * 1024;
/// 1 KiB/s after a grace of 5 s, for as long as the body lasts: a fast beginning earns no slow end.
pub(super) const PACE: Pace = Pace { period: Duration::from_secs(5), bytes: 5 * 1024 };
/// How long a connection that was asked to end may stay without a request before it is dropped.
pub(super) const GRACE: Duration = Duration::from_secs(1);
/// How long to wait after `accept` failed for want of file descriptors or memory.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(250);

/// How long a connection may be kept without a request. Load balancers keep theirs for 60 s, and a request that they
/// send into a connection that is just being closed is lost.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How fast a body must come; one that does not is answered 408.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// A body that has not ended is looked at each time this has passed.
    pub(super) period: Duration,
    /// What must have come since the last look.
    pub(super) bytes: usize,
}

/// What one listener allows.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections open at once; more wait in the kernel's queue.
    pub connections: usize,
    /// From the first byte of a request to the end of its headers. The TLS handshake has the same time, and so has a
    /// new connection to its first request. Looked at only every so often: up to twice as long may pass.
    pub headers: Duration,
    /// How long a connection may stay between two requests.
    pub idle: Duration,
}

impl From<&Server> for Limits {
    fn from(server: &Server) -> Self {
        let headers = server.header_timeout;
        Self { connections: server.max_connections, headers, idle: KEEP_ALIVE.max(headers) }
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
