//! How verification ends.

use std::sync::Arc;

use bytes::Bytes;

use super::KeyRequest;
use crate::clock::Timestamp;
use crate::model::{Rejection, Reply, Request, Secret};
use crate::provider::Token;

/// The outcome of verification.
#[derive(Debug)]
pub enum Decision {
    /// Genuine: map it.
    Verified(Verified),
    /// A handshake of the provider: answer it, there is no event.
    Handshake {
        /// The answer.
        reply: Reply,
        /// Whether the handshake itself was signed.
        verified: bool,
        /// A secret that the provider hands over with it: kept only where an operator waits for it.
        learn: Option<Secret>,
        /// What the provider waits for besides the reply.
        confirm: Option<Confirmation>,
    },
    /// It cannot be judged without this: fetch it and ask again.
    Needs(KeyRequest),
    /// Not genuine.
    Rejected(Rejection),
}

/// A call that confirms a subscription, to be made after the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// Its URL, whose host is one that the definition names.
    pub url: String,
    /// The method, in capitals.
    pub method: String,
}

/// Proof that a request is genuine. Only [`super::verify()`] makes one.
#[derive(Debug)]
pub struct Verified {
    request: Request,
    secret: Option<usize>,
    variant: Arc<str>,
    token: Option<Arc<Token>>,
    fetched: Option<Bytes>,
    received_at: Timestamp,
}

impl Verified {
    pub(super) fn new(
        request: &Request,
        secret: Option<usize>,
        variant: &Arc<str>,
        (token, fetched): (Option<Arc<Token>>, Option<Bytes>),
        received_at: Timestamp,
    ) -> Self {
        let variant = Arc::clone(variant);
        Self { request: request.clone(), secret, variant, token, fetched, received_at }
    }

    /// The genuine request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The position (from 1) of the secret that fits; `None` where the scheme has no secret.
    pub fn secret_position(&self) -> Option<usize> {
        self.secret
    }

    /// The token that proved it, where the scheme has one.
    pub(crate) fn token(&self) -> Option<&Arc<Token>> {
        self.token.as_ref()
    }

    /// What was fetched for it, where the scheme fetches.
    pub(crate) fn fetched(&self) -> Option<&[u8]> {
        self.fetched.as_deref()
    }

    /// When it was judged.
    pub fn received_at(&self) -> Timestamp {
        self.received_at
    }

    /// The variant of the provider's scheme that was used.
    pub fn variant(&self) -> &Arc<str> {
        &self.variant
    }
}
