//! Is this request genuine? Bytes, a compiled definition, keys and the time go in; proof or a reason comes out.
//!
//! Pure: no I/O, no clock, no log. Constant-time: every live secret is tried against every signature, without an
//! early exit. The body is not parsed before the proof, but where the scheme itself signs a value in it.
//! [`Verified`] can be made only here, and mapping takes nothing else.

mod decision;
mod fetched;
mod handshake;
mod keyring;
pub(crate) mod moment;
mod place;
mod proof;
mod sign;

pub use decision::{Confirmation, Decision, Verified};
pub use fetched::{Answer, Fetched, Identity, KeyRequest, MAX_FETCHED};
pub use keyring::Keyring;
pub use sign::{Signed, sign};

use crate::clock::Timestamp;
use crate::model::{Reason, Rejection, Request};
use crate::provider::{Provider, Scope, Variant};
use proof::Fit;

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
    if let Some(decision) = handshake::answer(request, provider, keyring.answering(None, now), false) {
        return decision;
    }
    let _ = fetched;
    match prove(request, provider, keyring, now) {
        Ok(verified) => {
            let secret = keyring.answering(verified.secret_position(), now);
            handshake::answer(request, provider, secret, true).unwrap_or(Decision::Verified(verified))
        }
        Err(rejection) => Decision::Rejected(rejection),
    }
}

/// Whether one of `keyring`'s live secrets made the signature, whatever its timestamp: only for a hint to the
/// operator ("signed with the secret of endpoint `billing-test`"). False for asymmetric schemes.
pub fn fits(request: &Request, provider: &Provider, keyring: &Keyring, now: Timestamp) -> bool {
    let mut scope = Scope::new(request);
    let Some(variant) = place::choose(&keyring.usable(provider), &scope) else { return false };
    let Ok(groups) = place::find(&variant.signature, &scope) else { return false };
    let fits = proof::fits(variant, &groups, &keyring.live(variant, now), &mut scope);
    variant.algorithm.is_symmetric() && fits.is_ok_and(|fits| !fits.is_empty())
}

fn prove(
    request: &Request,
    provider: &Provider,
    keyring: &Keyring,
    now: Timestamp,
) -> Result<Verified, Rejection> {
    let mut scope = Scope::new(request);
    let variant = place::choose(&keyring.usable(provider), &scope).ok_or_else(|| no_signature(provider))?;
    let groups = place::find(&variant.signature, &scope)?;
    let keys = keyring.live(variant, now);
    if keys.is_empty() {
        let detail = "no secret is live for this scheme: none is set, or all have passed their `until`";
        return Err(Rejection::new(Reason::SignatureMismatch, detail));
    }
    let fits = proof::fits(variant, &groups, &keys, &mut scope)?;
    let fit = freshest(variant, &fits, now)
        .unwrap_or_else(|| Err(mismatch(variant, &groups, keys.len(), request)))?;
    scope.parts = &groups[fit.group].parts;
    for condition in &variant.require {
        if !condition.holds(&scope) {
            let what = condition.templates().into_iter().flat_map(crate::provider::Template::values).next();
            let what = what.map_or_else(|| "a value".into(), |value| value.source.to_string());
            let detail = format!("{what} is not what this endpoint's settings say");
            return Err(Rejection::new(Reason::Precondition, detail));
        }
    }
    Ok(Verified::new(request, Some(fit.position), &variant.name, now))
}

/// The first fitting signature that is fresh, or why none is; `None` if none fits.
fn freshest(variant: &Variant, fits: &[Fit], now: Timestamp) -> Option<Result<Fit, Rejection>> {
    let judged = fits.iter().map(|fit| match (&variant.timestamp, fit.signed_at) {
        (Some(freshness), Some(signed_at)) => moment::judge(signed_at, freshness, now).map(|()| *fit),
        _ => Ok(*fit),
    });
    let mut judged: Vec<Result<Fit, Rejection>> = judged.collect();
    let best = judged.iter().position(Result::is_ok).unwrap_or(0);
    if judged.is_empty() { None } else { Some(judged.swap_remove(best)) }
}

fn no_signature(provider: &Provider) -> Rejection {
    let places: Vec<String> = provider.candidates().map(|variant| place::place(&variant.signature)).collect();
    let detail = match places.as_slice() {
        [only] => format!("{only} is missing"),
        _ => format!("none of these is there: {}", places.join(", ")),
    };
    Rejection::new(Reason::MissingSignature, detail)
}

fn mismatch(variant: &Variant, groups: &[place::Group], keys: usize, request: &Request) -> Rejection {
    let signatures: usize = groups.iter().map(|group| group.signatures.len()).sum();
    let detail = format!(
        "{} live secret{} tried against {signatures} signature{} in {} over a body of {} bytes: none fits",
        keys,
        if keys == 1 { "" } else { "s" },
        if signatures == 1 { "" } else { "s" },
        place::place(&variant.signature),
        request.body.len(),
    );
    Rejection::new(Reason::SignatureMismatch, detail)
}

/// The signed time that a request claims to have been made at, believed by nobody: for `hookgate verify --at request`.
pub fn claimed_time(request: &Request, provider: &Provider, keyring: &Keyring) -> Option<Timestamp> {
    let mut scope = Scope::new(request);
    let variant = place::choose(&keyring.usable(provider), &scope)?;
    let groups = place::find(&variant.signature, &scope).ok()?;
    groups.iter().find_map(|group| {
        scope.parts = &group.parts;
        proof::signed_at(variant, &scope).ok().flatten()
    })
}
