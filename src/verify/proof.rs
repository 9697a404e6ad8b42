//! The comparison itself: every live key against every signature, in constant time, without an early exit.

use std::borrow::Cow;
use std::sync::Arc;

use subtle::{Choice, ConstantTimeEq as _};

use super::keyring::LiveKey;
use super::place::Group;
use super::{moment, token};
use crate::clock::Timestamp;
use crate::model::{Reason, Rejection};
use crate::provider::{Algorithm, Key, Scope, Source, Token, Trouble, Variant, is_challenge};

/// A signature that fits.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The position of the secret that made it; none where a certificate of the definition's own roots did.
    pub(super) position: Option<usize>,
    /// The group it stands in.
    pub(super) group: usize,
    /// When it was signed, where the scheme says so.
    pub(super) signed_at: Option<Timestamp>,
    /// The token, where it is one.
    pub(super) token: Option<Arc<Token>>,
}

/// All signatures that fit. None is not an error here.
pub(super) fn fits<'a>(
    variant: &'a Variant,
    groups: &'a [Group],
    keys: &[&'a LiveKey],
    scope: &mut Scope<'a>,
    now: Timestamp,
) -> Result<Vec<Fit>, Rejection> {
    let mut fits = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        scope.parts = &group.parts;
        if let Some(rules) = &variant.token {
            for found in token::fits(variant, rules, group, keys, now)? {
                scope.token = Some(Arc::clone(&found.token));
                let signed_at = signed_at(variant, scope)?;
                fits.push(Fit { position: found.position, group: at, signed_at, token: Some(found.token) });
            }
            continue;
        }
        let signed_at = signed_at(variant, scope)?;
        for key in keys {
            scope.secret = match &key.key {
                Key::Shared(secret) => Some(secret.expose()),
                Key::Public(_) | Key::Root(_) => None,
            };
            if bool::from(one(variant, &key.key, scope, &group.signatures)?) {
                fits.push(Fit { position: Some(key.position), group: at, signed_at, token: None });
            }
        }
    }
    scope.secret = None;
    Ok(fits)
}

/// The token in a group, believed by nobody.
pub(super) fn token_in(variant: &Variant, group: &Group) -> Option<Arc<Token>> {
    variant.token.as_ref()?;
    let text = std::str::from_utf8(group.signatures.first()?).ok()?;
    Token::parse(text).ok().map(Arc::new)
}

/// Whether one of `signatures` is right for one of the variant's texts. All are compared.
fn one(variant: &Variant, key: &Key, scope: &Scope<'_>, signatures: &[Vec<u8>]) -> Result<Choice, Rejection> {
    if variant.texts.is_empty() {
        return Ok(matches(variant.algorithm, key, &[], signatures));
    }
    let mut found = Choice::from(0);
    let mut unreadable = None;
    for text in &variant.texts {
        match text.pieces(scope) {
            // Anyone can have a challenge signed: it proves nothing.
            Ok(pieces) if variant.signs_challenges && is_challenge(&pieces.concat()) => {}
            Ok(pieces) => found |= matches(variant.algorithm, key, &pieces, signatures),
            Err(trouble) => unreadable = Some(trouble),
        }
    }
    match unreadable {
        Some(trouble) if !bool::from(found) => Err(unsigned(trouble)),
        _ => Ok(found),
    }
}

/// When the parts in `scope` say that they were signed.
pub(super) fn signed_at(variant: &Variant, scope: &Scope<'_>) -> Result<Option<Timestamp>, Rejection> {
    let Some(freshness) = &variant.timestamp else { return Ok(None) };
    let text = freshness.value.text(scope).map_err(unsigned)?;
    let read = moment::read(&text, &freshness.units);
    read.map(Some).map_err(|why| {
        let place =
            freshness.value.values().first().map_or_else(String::new, |value| value.source.to_string());
        Rejection::new(Reason::MalformedSignature, format!("{place} {why}"))
    })
}

/// Whether one of `signatures` is right. All are compared. A key of another kind than the algorithm's fits nothing.
fn matches(algorithm: Algorithm, key: &Key, text: &[Cow<'_, [u8]>], signatures: &[Vec<u8>]) -> Choice {
    let expected = match (algorithm, key) {
        (Algorithm::Hmac(hash), Key::Shared(secret)) => hash.hmac(secret.expose(), text),
        (Algorithm::Digest(hash), Key::Shared(_)) => hash.digest(&text.concat()).into(),
        (Algorithm::Token, Key::Shared(secret)) => {
            return any(signatures, |token| {
                // Digests, so that the time does not tell how long the secret is.
                digest(token).ct_eq(&digest(secret.expose()))
            });
        }
        (Algorithm::Public(scheme), Key::Public(key)) => {
            let text = text.concat();
            return any(signatures, |signature| {
                Choice::from(u8::from(scheme.verifies(key, &text, signature)))
            });
        }
        _ => return Choice::from(0),
    };
    any(signatures, |signature| signature.ct_eq(&expected))
}

fn any(signatures: &[Vec<u8>], equal: impl Fn(&[u8]) -> Choice) -> Choice {
    signatures.iter().fold(Choice::from(0), |found, signature| found | equal(signature))
}

fn digest(value: &[u8]) -> [u8; 32] {
    use sha2::Digest as _;
    sha2::Sha256::digest(value).into()
}

/// Something that is signed is not there, or twice.
pub(super) fn unsigned(trouble: Trouble) -> Rejection {
    match trouble {
        Trouble::Absent(what) if what == Source::Url.to_string() => Rejection::new(
            Reason::MissingSignature,
            "the public URL is part of what is signed, and is not known: set `server.public_url` (or `--url`)",
        ),
        Trouble::Absent(_) => Rejection::new(Reason::MissingSignature, trouble.to_string()),
        _ => Rejection::new(Reason::MalformedSignature, trouble.to_string()),
    }
}
