//! What keeps a gateway from starting.

use std::io;
use std::net::SocketAddr;

use crate::dispatch::DestinationError;
use crate::handler::SetupError;
use crate::ingress::TlsError;
use crate::store::StoreError;

/// Why a gateway did not start, with what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database.
    #[error("the database: {0}")]
    Store(#[from] StoreError),
    /// Routes whose handlers cannot be used.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Handlers(Vec<SetupError>),
    /// A destination.
    #[error("{0}")]
    Destination(#[from] DestinationError),
    /// Certificate or key of the public listener.
    #[error("server.tls: {0}")]
    Tls(#[from] TlsError),
    /// A listener.
    #[error("{key} = \"{address}\" cannot be opened: {source}; is another gateway running?")]
    Bind {
        /// The key in the configuration.
        key: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The metric registry: a fault of ours.
    #[error("metrics: {0}")]
    Metrics(#[from] prometheus::Error),
}
