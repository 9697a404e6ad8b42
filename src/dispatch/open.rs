//! From a destination's config to what sends: everything that can be wrong with it is found here, before anything is
//! sent. No connection is made.

use std::cell::LazyCell;
use std::sync::Arc;

use http::uri;
use rustls::ClientConfig;

use super::brokers;
use super::http::Http;
use super::letterhead::Letterhead;
use super::stdout::Stdout;
use super::transport::Transport;
use crate::config::{Broker, Destination, DestinationKind};
use crate::egress::{self, Network};

/// What is wrong with a destination, and where. It holds no secret and no part of the URL but its host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("destinations.{destination}.{key}: {problem}")]
pub struct DestinationError {
    /// The destination's name.
    pub destination: Arc<str>,
    /// The key below it.
    pub key: &'static str,
    /// What was found and what to do.
    pub problem: String,
}

/// Looks for everything that [`super::Dispatcher::new`] would refuse in one destination.
///
/// # Errors
/// [`DestinationError`]
pub fn check(destination: &Destination) -> Result<(), DestinationError> {
    Letterhead::new(destination)?;
    match &destination.kind {
        DestinationKind::Http { url, allow_private, .. } => {
            egress::rule(url, *allow_private).map(drop).map_err(|problem| wrong(destination, "url", problem))
        }
        DestinationKind::Stdout => Ok(()),
        DestinationKind::Broker(broker) if broker.is_built_in() => Ok(()),
        DestinationKind::Broker(broker) => Err(not_built_in(destination, broker)),
        DestinationKind::Confirmations => Err(own(destination)),
    }
}

/// Opens destinations over one network.
pub(super) struct Opener<'a> {
    network: &'a Network,
    plain: Result<ClientConfig, String>,
    /// Reading the machine's root certificates takes long: once, and only if they are needed.
    machine: LazyCell<Result<ClientConfig, String>>,
}

impl<'a> Opener<'a> {
    pub(super) fn new(network: &'a Network) -> Self {
        Self {
            network,
            plain: egress::tls_over(network.roots.clone().unwrap_or_else(rustls::RootCertStore::empty)),
            machine: LazyCell::new(egress::tls_of_this_machine),
        }
    }

    /// Makes one destination ready.
    pub(super) fn open(&self, destination: &Destination) -> Result<Box<dyn Transport>, DestinationError> {
        match &destination.kind {
            DestinationKind::Http { .. } => Ok(Box::new(self.http(destination)?)),
            DestinationKind::Stdout => Ok(Box::new(Stdout::new(destination.timeout))),
            DestinationKind::Broker(broker) => {
                brokers::open(broker, destination.timeout).ok_or_else(|| not_built_in(destination, broker))
            }
            DestinationKind::Confirmations => Err(own(destination)),
        }
    }

    /// The same for one that answers.
    pub(super) fn http(&self, destination: &Destination) -> Result<Http, DestinationError> {
        let DestinationKind::Http { url, allow_private, credentials } = &destination.kind else {
            return Err(wrong(destination, "type", "it gives no answer".into()));
        };
        let problem = |problem| wrong(destination, "url", problem);
        let rule = egress::rule(url, *allow_private).map_err(problem)?;
        let tls = match credentials {
            Some(credentials) => credentials.tls(self.network.roots.as_ref()),
            None => self.tls(url.scheme() == Some(&uri::Scheme::HTTPS)),
        };
        let tls = tls.map_err(problem)?;
        Ok(Http::new(url, destination, rule, self.network, tls))
    }

    fn tls(&self, is_https: bool) -> Result<ClientConfig, String> {
        if self.network.roots.is_none() && is_https { self.machine.clone() } else { self.plain.clone() }
    }
}

fn not_built_in(destination: &Destination, broker: &Broker) -> DestinationError {
    wrong(destination, "type", format!("this hookgate was built without {}", broker.name()))
}

fn own(destination: &Destination) -> DestinationError {
    wrong(destination, "type", "it is the gateway's own".into())
}

fn wrong(destination: &Destination, key: &'static str, problem: String) -> DestinationError {
    DestinationError { destination: destination.name.clone(), key, problem }
}
