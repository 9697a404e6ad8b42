//! Is this request genuine? Bytes, a compiled definition, keys and the time go in; proof or a reason comes out.
//!
//! Pure: no I/O, no clock, no log. Constant-time: every live secret is tried against every signature, without an
//! early exit. The body is not parsed before the proof. [`Verified`] can be made only here, and mapping takes
//! nothing else.

mod decision;
mod keyring;

use bytes::Bytes;

pub use decision::{Decision, Verified};
pub use keyring::Keyring;

use crate::clock::Timestamp;
use crate::model::{Reason, Rejection, Request, Secret};
use crate::provider::Provider;

/// Judges one request.
pub fn verify(request: &Request, provider: &Provider, keyring: &Keyring, now: Timestamp) -> Decision {
    let _ = (request, provider, keyring, now);
    Decision::Rejected(Rejection::new(Reason::SignatureMismatch, "not written yet"))
}

/// Whether one of `keyring`'s live secrets made the signature, whatever its timestamp: only for a hint to the
/// operator ("signed with the secret of endpoint `billing-test`"). False for asymmetric schemes.
pub fn fits(request: &Request, provider: &Provider, keyring: &Keyring, now: Timestamp) -> bool {
    let _ = (request, provider, keyring, now);
    false
}

/// What makes a request genuine: set these headers (replacing those of the same name), and the URL and body where
/// they are given.
#[derive(Clone, Debug, Default)]
pub struct Signed {
    /// Headers to set, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The path and query to send to, where the signature goes into the query.
    pub path_and_query: Option<String>,
    /// The body to send, where the signature goes into the body.
    pub body: Option<Bytes>,
}

/// Signs `request` as the provider would: the mirror of [`verify()`], for symmetric schemes.
///
/// # Errors
/// A sentence for the user: what is missing or why this provider cannot be signed for.
pub fn sign(
    provider: &Provider,
    secret: &Secret,
    request: &Request,
    now: Timestamp,
) -> Result<Signed, String> {
    let _ = (provider, secret, request, now);
    Err("not written yet".into())
}
