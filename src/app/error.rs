//! What keeps a gateway from starting.

use std::io;
use std::net::SocketAddr;

use crate::dispatch::DestinationError;
use crate::handler::SetupError;
use crate::ingress::TlsError;
use crate::store::StoreError;

/// Why a gateway did not start, with what to do about it. The text holds the cause, so that no cause hangs below it as a
/// `source` too: whoever prints the whole chain would say it twice.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Routes whose handlers cannot be used.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Handlers(Vec<SetupError>),
    /// A destination.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// Certificate or key of the public listener.
    #[error("server.tls: {0}")]
    Tls(TlsError),
    /// A listener.
    #[error("{key} = \"{address}\" cannot be opened: {why}; is another gateway running?")]
    Bind {
        /// The key in the configuration.
        key: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why not.
        why: io::Error,
    },
    /// The metric registry: a fault of ours.
    #[error("metrics: {0}")]
    Metrics(prometheus::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_chain_says_each_cause_once() {
        let store = || StoreError::Unavailable("MARKER".into());
        let sql = || StoreError::Sql { code: None, source: sqlx::Error::Protocol("MARKER".into()) };
        let errors = [
            StartError::from(store()),
            StartError::from(sql()),
            StartError::Tls(TlsError::Pair {
                certificate: "a".into(),
                key: "b".into(),
                why: rustls::Error::General("MARKER".into()),
            }),
            StartError::Bind {
                key: "server.listen",
                address: ([127, 0, 0, 1], 1).into(),
                why: io::Error::other("MARKER"),
            },
            StartError::Metrics(prometheus::Error::Msg("MARKER".into())),
        ];
        for error in errors {
            let chain = format!("{:#}", anyhow::Error::new(error));
            assert_eq!(chain.matches("MARKER").count(), 1, "{chain}");
        }
    }
}
