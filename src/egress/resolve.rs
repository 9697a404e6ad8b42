//! From a name to addresses that may be connected to. The connector gets no address that was not checked here, so
//! that a name cannot mean one thing to the guard and another to the socket.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use hyper_util::client::legacy::connect::dns::Name;
use tower::Service;

use super::address::Rule;

/// Where addresses come from.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of a name.
    ///
    /// # Errors
    /// The resolver's own.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Why a name led nowhere.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    /// It has addresses, and none of them may be reached.
    #[error("resolves to {0} only, which deliveries may not reach; `allow_private` opens private networks")]
    Blocked(IpAddr),
    /// It has no address.
    #[error("the name has no address")]
    Nothing,
    /// The resolver failed.
    #[error("{0}")]
    Failed(io::Error),
}

/// A resolver that hands out only what a rule admits.
#[derive(Clone)]
pub(crate) struct Guarded {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) rule: Rule,
}

impl Service<Name> for Guarded {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = ResolveError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ResolveError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ResolveError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { resolver, rule } = self.clone();
        Box::pin(async move {
            let found = resolver.resolve(name.as_str()).await.map_err(ResolveError::Failed)?;
            // Port 0 stands for the URL's own: the connector puts it in.
            let admitted: Vec<SocketAddr> =
                found.iter().filter(|ip| rule.admits(**ip)).map(|ip| SocketAddr::new(*ip, 0)).collect();
            match (admitted.is_empty(), found.first()) {
                (false, _) => Ok(admitted.into_iter()),
                (true, Some(refused)) => Err(ResolveError::Blocked(*refused)),
                (true, None) => Err(ResolveError::Nothing),
            }
        })
    }
}
