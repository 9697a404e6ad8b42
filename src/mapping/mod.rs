//! A genuine request becomes the events it holds: id, type, time, account, ordering key.
//!
//! Takes a [`Verified`] and nothing else, so unverified bytes cannot be mapped. Reads the body without building a
//! tree; the event keeps its own bytes. Anything the provider's definition cannot read is a [`Rejection`].

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::model::{Headers, NewEvent, Reason, Rejection, Request};
use crate::provider::Provider;
use crate::verify::Verified;

/// The events of one request, in their order; none for an empty batch.
///
/// `expect` are the endpoint's JSON pointers and the values they must have, else `wrong_environment`.
///
/// # Errors
/// Genuine but unusable: `malformed_body`, `no_event_id`, `wrong_environment`.
pub fn map(
    verified: &Verified,
    provider: &Provider,
    endpoint: &Arc<str>,
    expect: &[(String, serde_json::Value)],
    request_id: Uuid,
) -> Result<Vec<NewEvent>, Rejection> {
    let _ = (verified, provider, endpoint, expect, request_id);
    Err(Rejection::new(Reason::NoEventId, "not written yet"))
}

/// Whether two bodies under one event id are the same event: equal but for what the provider declares volatile.
pub fn same_event(first: &[u8], second: &[u8], provider: &Provider) -> bool {
    let _ = provider;
    first == second
}

/// The request's headers as they may be stored: those that are themselves a secret say `[removed]`.
pub fn storable_headers(request: &Request, provider: &Provider) -> Headers {
    let mut headers = request.headers.clone();
    for name in provider.credential_headers() {
        headers.replace(name, b"[removed]");
    }
    headers
}

/// SHA-256 of a body.
pub fn sha256(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}
