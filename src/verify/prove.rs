//! The proof of a request: of the whole, or of each of its items; and of another variant besides, where one must hold.

use std::sync::Arc;

use bytes::Bytes;

use super::decision::Verified;
use super::fetch::{self, Stop};
use super::fetched::Fetched;
use super::keyring::{Keyring, LiveKey};
use super::proof::{self, Fit};
use super::{moment, place, token};
use crate::clock::Timestamp;
use crate::model::{Reason, Rejection, Request};
use crate::provider::{Algorithm, Each, Fetch, Provider, Scope, Template, Token, Variant, json_items};

/// What a variant proved.
struct Proof {
    position: Option<usize>,
    token: Option<Arc<Token>>,
    fetched: Option<Bytes>,
}

/// What requests are judged by.
#[derive(Clone, Copy)]
struct Means<'a> {
    keyring: &'a Keyring,
    fetched: &'a Fetched,
    now: Timestamp,
}

pub(super) fn prove(
    request: &Request,
    provider: &Provider,
    keyring: &Keyring,
    fetched: &Fetched,
    now: Timestamp,
) -> Result<Verified, Stop> {
    let means = Means { keyring, fetched, now };
    let variant = place::choose(&keyring.usable(provider), request).ok_or_else(|| no_signature(provider))?;
    let proof = by(variant, request, means)?;
    let beside = match &variant.with {
        Some(name) => {
            let other = provider.keyed().find(|other| other.name == *name);
            Some(by(other.ok_or_else(|| no_signature(provider))?, request, means)?)
        }
        None => None,
    };
    let (token, body) = beside.map_or((None, None), |beside| (beside.token, beside.fetched));
    let found = (proof.token.or(token), proof.fetched.or(body));
    Ok(Verified::new(request, proof.position, &variant.name, found, now))
}

/// The proof by one variant.
fn by(variant: &Variant, request: &Request, means: Means<'_>) -> Result<Proof, Stop> {
    let keys = means.keyring.live(variant, means.now);
    if keys.is_empty() && variant.needs_secret() {
        let detail = "no secret is live for this scheme: none is set, or all have passed their `until`";
        return Err(Rejection::new(Reason::SignatureMismatch, detail).into());
    }
    match &variant.each {
        Some(each) => of_each(each, variant, request, &keys, means),
        None => of(variant, Scope::new(request), request, &keys, means),
    }
}

/// Every item must hold; where there is none, nothing was proved.
fn of_each(
    each: &Each,
    variant: &Variant,
    request: &Request,
    keys: &[&LiveKey],
    means: Means<'_>,
) -> Result<Proof, Stop> {
    let items = json_items(&request.body, &each.items);
    let items = items
        .map_err(|why| Rejection::new(Reason::MalformedSignature, format!("the body {why}, to be proved")))?;
    let root = each.root.pick(&request.body).ok();
    let mut first = None;
    for (index, item) in items.iter().enumerate() {
        let mut scope = Scope::of_item(request, item, index);
        scope.root_picked = root.as_ref();
        let proof = of(variant, scope, request, keys, means).map_err(|stop| match stop {
            Stop::Rejected(rejection) => {
                let detail = format!("item {}: {}", index + 1, rejection.detail);
                Rejection::new(rejection.reason, detail).into()
            }
            needs @ Stop::Needs(_) => needs,
        })?;
        first = first.or(Some(proof));
    }
    first.ok_or_else(|| {
        let detail = format!("`{}` of the body is empty, so nothing is proved", each.path);
        Rejection::new(Reason::MissingSignature, detail).into()
    })
}

fn of(
    variant: &Variant,
    scope: Scope<'_>,
    request: &Request,
    keys: &[&LiveKey],
    means: Means<'_>,
) -> Result<Proof, Stop> {
    match (variant.algorithm, &variant.fetch) {
        (Algorithm::None, _) => {
            require(variant, &scope)?;
            Ok(Proof { position: None, token: None, fetched: None })
        }
        (Algorithm::FetchBack, Some(fetch)) => {
            let (position, body) = fetch::ask(fetch, &scope, keys, means.fetched)?;
            let mut scope = scope;
            scope.fetched = Some(body);
            require(variant, &scope)?;
            Ok(Proof { position, token: None, fetched: Some(Bytes::copy_from_slice(body)) })
        }
        (_, Some(fetch)) => of_fetched(fetch, variant, scope, request, keys, means),
        (_, None) => {
            let groups = place::find(&variant.signature, &scope)?;
            of_signature(variant, &groups, scope, request, keys, means.now)
        }
    }
}

/// A signature whose key the provider publishes. Configured keys count instead, and then nothing is fetched.
fn of_fetched(
    fetch: &Fetch,
    variant: &Variant,
    scope: Scope<'_>,
    request: &Request,
    keys: &[&LiveKey],
    means: Means<'_>,
) -> Result<Proof, Stop> {
    let groups = place::find(&variant.signature, &scope)?;
    let mut naming = scope.beside();
    if let Some(first) = groups.first() {
        naming.parts = &first.parts;
        naming.token = named_token(variant, first)?;
    }
    fetch::judge(fetch, &naming)?;
    if !keys.is_empty() {
        return of_signature(variant, &groups, scope, request, keys, means.now);
    }
    let found = fetch::keys(variant, fetch, &naming, means.fetched, means.now)?;
    let live: Vec<&LiveKey> = found.keys.iter().collect();
    let mut scope = scope;
    scope.fetched = Some(found.body);
    match (of_signature(variant, &groups, scope, request, &live, means.now), found.renewal) {
        (Err(Stop::Rejected(no)), Some(renewal)) if no.reason == Reason::SignatureMismatch => {
            Err(Stop::Needs(renewal.into()))
        }
        (Ok(proof), _) => Ok(Proof {
            position: proof.position.filter(|position| *position > 0),
            fetched: Some(Bytes::copy_from_slice(found.body)),
            ..proof
        }),
        (no, _) => no,
    }
}

/// The token that names its key: one that cannot be taken costs no fetch.
fn named_token(variant: &Variant, group: &place::Group) -> Result<Option<Arc<Token>>, Rejection> {
    let Some(rules) = &variant.token else { return Ok(None) };
    let malformed = |why| Rejection::new(Reason::MalformedSignature, format!("the signature {why}"));
    let token = proof::token_in(variant, group).ok_or_else(|| malformed("is no token".into()))?;
    token.algorithm(&rules.allow).map_err(malformed)?;
    Ok(Some(token))
}

fn of_signature<'a>(
    variant: &'a Variant,
    groups: &'a [place::Group],
    mut scope: Scope<'a>,
    request: &Request,
    keys: &[&'a LiveKey],
    now: Timestamp,
) -> Result<Proof, Stop> {
    let fits = proof::fits(variant, groups, keys, &mut scope, now)?;
    let fit = freshest(variant, &fits, now)
        .unwrap_or_else(|| Err(mismatch(variant, groups, keys.len(), request)))?;
    scope.parts = &groups[fit.group].parts;
    scope.token.clone_from(&fit.token);
    require(variant, &scope)?;
    Ok(Proof { position: fit.position, token: fit.token, fetched: None })
}

/// The first fitting signature that is fresh, or why none is; `None` if none fits.
fn freshest(variant: &Variant, fits: &[Fit], now: Timestamp) -> Option<Result<Fit, Rejection>> {
    let judged = fits.iter().map(|fit| is_fresh(variant, fit, now).map(|()| fit.clone()));
    let mut judged: Vec<Result<Fit, Rejection>> = judged.collect();
    let best = judged.iter().position(Result::is_ok).unwrap_or(0);
    if judged.is_empty() { None } else { Some(judged.swap_remove(best)) }
}

fn is_fresh(variant: &Variant, fit: &Fit, now: Timestamp) -> Result<(), Rejection> {
    if let (Some(rules), Some(token)) = (&variant.token, &fit.token) {
        token::judge(token, rules, now)?;
    }
    match (&variant.timestamp, fit.signed_at) {
        (Some(freshness), Some(signed_at)) => moment::judge(signed_at, freshness, now),
        _ => Ok(()),
    }
}

/// What must hold besides.
fn require(variant: &Variant, scope: &Scope<'_>) -> Result<(), Rejection> {
    for condition in &variant.require {
        if !condition.holds(scope) {
            let what = condition.templates().into_iter().flat_map(Template::values).next();
            let what = what.map_or_else(|| "a value".into(), |value| value.source.to_string());
            let detail = format!("{what} is not what the definition or the endpoint's settings require");
            return Err(Rejection::new(Reason::Precondition, detail));
        }
    }
    Ok(())
}

fn no_signature(provider: &Provider) -> Rejection {
    let places = provider.candidates().map(|variant| place::place(&variant.signature));
    // A provider that is asked signs nothing anywhere.
    let places: Vec<String> = places.filter(|place| !place.is_empty()).collect();
    let detail = match places.as_slice() {
        [] => "this request is none that the provider sends: no variant's `when` holds".to_owned(),
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
