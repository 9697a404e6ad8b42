//! The comparison itself: every live key against every signature, in constant time, without an early exit.

use std::borrow::Cow;

use subtle::{Choice, ConstantTimeEq as _};

use super::keyring::Key;
use super::moment;
use super::place::Group;
use crate::clock::Timestamp;
use crate::model::{Reason, Rejection};
use crate::provider::{Algorithm, Scope, Source, Trouble, Variant, is_challenge};

/// A signature that fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// The position of the secret that made it.
    pub(super) position: usize,
    /// The group it stands in.
    pub(super) group: usize,
    /// When it was signed, where the scheme says so.
    pub(super) signed_at: Option<Timestamp>,
}

/// All signatures that fit. None is not an error here.
pub(super) fn fits<'a>(
    variant: &'a Variant,
    groups: &'a [Group],
    keys: &[&'a Key],
    scope: &mut Scope<'a>,
) -> Result<Vec<Fit>, Rejection> {
    let mut fits = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        scope.parts = &group.parts;
        let signed_at = signed_at(variant, scope)?;
        for key in keys {
            scope.secret = Some(key.bytes.expose());
            if bool::from(one(variant, key.bytes.expose(), scope, &group.signatures)?) {
                fits.push(Fit { position: key.position, group: at, signed_at });
            }
        }
    }
    scope.secret = None;
    Ok(fits)
}

/// Whether one of `signatures` is right for one of the variant's texts. All are compared.
fn one(
    variant: &Variant,
    key: &[u8],
    scope: &Scope<'_>,
    signatures: &[Vec<u8>],
) -> Result<Choice, Rejection> {
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

/// Whether one of `signatures` is right. All are compared.
fn matches(algorithm: Algorithm, key: &[u8], text: &[Cow<'_, [u8]>], signatures: &[Vec<u8>]) -> Choice {
    let expected = match algorithm {
        Algorithm::Hmac(hash) => hash.hmac(key, text),
        Algorithm::Digest(hash) => hash.digest(&text.concat()),
        Algorithm::Token => {
            return any(signatures, |token| {
                // Digests, so that the time does not tell how long the secret is.
                digest(token).ct_eq(&digest(key))
            });
        }
        Algorithm::Public(scheme) => {
            let text = text.concat();
            return any(signatures, |signature| {
                Choice::from(u8::from(scheme.verifies(key, &text, signature)))
            });
        }
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
