//! Is this request genuine? Bytes, a compiled definition, keys and the time go in; proof or a reason comes out.
//!
//! Pure: no I/O, no clock, no log. Constant-time: every live secret is tried against every signature, without an
//! early exit. The body is not parsed before the proof, but where the scheme itself signs a value in it.
//! [`Verified`] can be made only here, and mapping takes nothing else.

mod decision;
mod diagnose;
mod fetch;
mod fetched;
mod handshake;
mod keyring;
pub(crate) mod moment;
mod pen;
mod place;
mod presented;
mod proof;
mod prove;
mod sign;
mod token;

pub use decision::{Confirmation, Decision, Verified};
pub use diagnose::{Hint, diagnose};
pub use fetched::{Answer, Fetched, Identity, KeyRequest, MAX_FETCHED, OAuth};
pub use keyring::Keyring;
pub use presented::{Presented, presented};
pub use sign::{Signed, sign};

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::model::{Reason, Rejection, Request};
use crate::provider::{Algorithm, Provider, Token};
use fetch::Stop;

/// Judges one request. `provider` comes from [`Provider::configure`], `keyring` from [`Keyring::new`] with it, `fetched`
/// holds the answers to what [`Decision::Needs`] asked for before.
pub fn verify(
    request: &Request,
    provider: &Provider,
    keyring: &Keyring,
    fetched: &Fetched,
    now: Timestamp,
) -> Decision {
    if !provider.methods().contains(&request.method) {
        let detail = format!("this provider uses {} only", provider.methods().join(", "));
        return Decision::Rejected(Rejection::new(Reason::Method, detail));
    }
    if let Some(decision) = handshake::answer(request, provider, keyring.answering(None, now), None) {
        return decision;
    }
    match prove::prove(request, provider, keyring, fetched, now) {
        Ok(verified) => {
            let secret = keyring.answering(verified.secret_position(), now);
            handshake::answer(request, provider, secret, Some(&verified))
                .unwrap_or(Decision::Verified(verified))
        }
        Err(Stop::Rejected(rejection)) => Decision::Rejected(rejection),
        Err(Stop::Needs(key)) => Decision::Needs(*key),
    }
}

/// The token in a request that was proved before, such as a stored one: where an event is what the token says.
pub(crate) fn carried_token(request: &Request, provider: &Provider) -> Option<Arc<Token>> {
    let tokens = provider.candidates().filter(|variant| variant.algorithm == Algorithm::Jws);
    tokens.into_iter().find_map(|variant| {
        place::in_first_item(variant, request, |scope| {
            let groups = place::find(&variant.signature, &scope).ok()?;
            groups.iter().find_map(|group| proof::token_in(variant, group))
        })
    })
}

/// Whether one of `keyring`'s live secrets made the signature, whatever its timestamp: only for a hint to the
/// operator ("signed with the secret of endpoint `billing-test`"). False for asymmetric schemes.
pub fn fits(request: &Request, provider: &Provider, keyring: &Keyring, now: Timestamp) -> bool {
    let Some(variant) = place::choose(&keyring.usable(provider), request) else { return false };
    variant.is_symmetric()
        && place::in_first_item(variant, request, |scope| {
            let Ok(groups) = place::find(&variant.signature, &scope) else { return false };
            let mut scope = scope;
            let fits = proof::fits(variant, &groups, &keyring.live(variant, now), &mut scope, now);
            fits.is_ok_and(|fits| !fits.is_empty())
        })
}

/// The signed time that a request claims to have been made at, believed by nobody: for `hookgate verify --at request`.
pub fn claimed_time(request: &Request, provider: &Provider, keyring: &Keyring) -> Option<Timestamp> {
    let variant = place::choose(&keyring.usable(provider), request)?;
    place::in_first_item(variant, request, |scope| {
        let groups = place::find(&variant.signature, &scope).ok()?;
        let mut scope = scope;
        groups.iter().find_map(|group| {
            scope.parts = &group.parts;
            scope.token = proof::token_in(variant, group);
            proof::signed_at(variant, &scope).ok().flatten()
        })
    })
}
