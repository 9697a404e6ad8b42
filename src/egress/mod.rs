//! Requests that leave the gateway: which addresses they may reach, and the client that makes them.
//!
//! Who acts: `keys` and `dispatch`. What holds: a connection is only ever made to an address that was checked after it
//! was resolved; redirects are not followed, proxy variables of the environment are not read; a reply is read up to a
//! bound. What is absent: what a request says, what its answer means, retries.

mod address;
mod credentials;
mod fault;
mod http;
mod resolve;

use std::sync::Arc;
use std::time::Duration;

pub use address::{Reach, reach};
pub use credentials::Credentials;
pub use http::MAX_REPLY;
pub use resolve::{Resolve, SystemResolver};

pub(crate) use address::{Rule, rule};
pub(crate) use fault::{Fault, fault};
pub(crate) use http::{Client, drain, tls_of_this_machine, tls_over, within};
pub(crate) use resolve::Guarded;

/// What the world is reached with.
#[derive(Clone)]
pub struct Network {
    /// Where addresses come from.
    pub resolver: Arc<dyn Resolve>,
    /// The certificates that are believed; `None` for those of this machine.
    pub roots: Option<rustls::RootCertStore>,
    /// From the look-up of the name to the end of the TLS handshake.
    pub connect_timeout: Duration,
}

impl Default for Network {
    fn default() -> Self {
        Self { resolver: Arc::new(SystemResolver), roots: None, connect_timeout: Duration::from_secs(10) }
    }
}
