//! A destination made ready: everything that can be wrong with its config is found here, before anything is sent.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::{Uri, uri};

use super::headers;
use super::sign::SigningKey;
use crate::config::{Destination, DestinationKind};
use crate::egress::{self, Rule};

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
    Target::new(destination).map(drop)
}

/// A destination whose config was found good.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) url: Uri,
    pub(super) rule: Rule,
    pub(super) own: HeaderMap,
    pub(super) keys: Vec<SigningKey>,
    pub(super) drop_signature: bool,
    pub(super) timeout: Duration,
    pub(super) concurrency: usize,
}

impl Target {
    pub(super) fn new(destination: &Destination) -> Result<Self, DestinationError> {
        let wrong = |key, problem| DestinationError { destination: destination.name.clone(), key, problem };
        let DestinationKind::Http { url, allow_private } = &destination.kind else {
            return Err(wrong("type", "it is the gateway's own".into()));
        };
        let mut keys = Vec::new();
        for secret in &destination.sign {
            keys.push(SigningKey::parse(secret).map_err(|error| wrong("sign", error.to_string()))?);
        }
        Ok(Self {
            rule: egress::rule(url, *allow_private).map_err(|problem| wrong("url", problem))?,
            url: url.clone(),
            own: own_headers(destination).map_err(|problem| wrong("headers", problem))?,
            keys,
            drop_signature: destination.drop_signature,
            timeout: destination.timeout,
            concurrency: destination.concurrency,
        })
    }

    pub(super) fn is_https(&self) -> bool {
        self.url.scheme() == Some(&uri::Scheme::HTTPS)
    }
}

fn own_headers(destination: &Destination) -> Result<HeaderMap, String> {
    match destination.headers.keys().find(|name| headers::is_reserved(name.as_str())) {
        Some(name) => Err(format!("{name} is set by hookgate or belongs to the connection: leave it out")),
        None => Ok(destination.headers.clone()),
    }
}
