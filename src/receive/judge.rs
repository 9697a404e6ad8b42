//! Verification with what it needs fetched in between: for requests that come, and for those that are released.

use crate::clock::Timestamp;
use crate::config::Endpoint;
use crate::keys::Keys;
use crate::model::Request;
use crate::verify::{self, Decision, Fetched, Keyring};

/// How often one request may make the gateway fetch: a set of keys and its renewal, or one question for each live secret.
const MAX_FETCHES: usize = 8;

/// Judges as of `received_at`; what has to be fetched is fetched `now`.
pub(super) async fn judge(
    keys: &Keys,
    endpoint: &Endpoint,
    request: &Request,
    keyring: &Keyring,
    (received_at, now): (Timestamp, Timestamp),
) -> Decision {
    let mut fetched = Fetched::nothing();
    let mut decision = verify::verify(request, &endpoint.provider, keyring, &fetched, received_at);
    for _ in 0..MAX_FETCHES {
        let Decision::Needs(key) = &decision else { break };
        let answer = keys.answer(&endpoint.name, key, now).await;
        fetched.insert(key, answer);
        decision = verify::verify(request, &endpoint.provider, keyring, &fetched, received_at);
    }
    decision
}
