//! How verification ends.

use std::sync::Arc;

use crate::model::{Rejection, Reply, Request};

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
    },
    /// Not genuine.
    Rejected(Rejection),
}

/// Proof that a request is genuine. Only [`super::verify()`] makes one.
#[derive(Debug)]
pub struct Verified {
    request: Request,
    secret: Option<usize>,
    variant: Arc<str>,
}

impl Verified {
    pub(super) fn new(request: &Request, secret: Option<usize>, variant: &Arc<str>) -> Self {
        Self { request: request.clone(), secret, variant: Arc::clone(variant) }
    }

    /// The genuine request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The position (from 1) of the secret that fits; `None` where the scheme has no secret.
    pub fn secret_position(&self) -> Option<usize> {
        self.secret
    }

    /// The variant of the provider's scheme that was used.
    pub fn variant(&self) -> &Arc<str> {
        &self.variant
    }
}
