//! Secrets that are written otherwise than the provider means them, and those that have passed their end.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::Hint;
use super::search::Search;
use crate::model::Secret;
use crate::provider::{Algorithm, Key, Variant};
use crate::verify::keyring::{self, LiveKey};

/// A shorter key is what a careless decoding leaves over.
const MIN_BYTES: usize = 4;
/// What stands before a secret is at most this long, for example `whsec_`.
const MAX_PREFIX: usize = 8;

type Rewrite = fn(&[u8]) -> Option<Vec<u8>>;

/// Another text of the secret, which the definition then reads as always.
const TEXTS: [(&str, Rewrite); 9] = [
    ("without the white space around it", |text| Some(text.trim_ascii().to_vec())),
    ("without the quotes around it", |text| Some(unquoted(text)?.to_vec())),
    ("without the prefix that ends with `_`", |text| Some(unprefixed(text)?.to_vec())),
    ("with `whsec_` before it", |text| Some([b"whsec_", text].concat())),
    ("with a line break at its end", |text| Some([text, b"\n"].concat())),
    ("with CR LF at its end", |text| Some([text, b"\r\n"].concat())),
    ("once it is percent-decoded", |text| {
        text.contains(&b'%').then(|| percent_encoding::percent_decode(text).collect())
    }),
    ("in lower case", |text| Some(text.to_ascii_lowercase())),
    ("in capitals", |text| Some(text.to_ascii_uppercase())),
];

/// The key itself, whatever the definition makes of the secret's text.
const KEYS: [(&str, Rewrite); 5] = [
    ("taken as the text that it is, not decoded", |text| Some(text.to_vec())),
    ("taken as text without its prefix, not decoded", |text| Some(unprefixed(text)?.to_vec())),
    ("decoded from base64", |text| unbase64(text.trim_ascii())),
    ("decoded from base64 without its prefix", |text| unbase64(unprefixed(text.trim_ascii())?)),
    ("decoded from hex", |text| hex::decode(text.trim_ascii()).ok()),
];

/// A secret that was in use until lately.
pub(super) fn expired(search: &mut Search<'_>) -> Option<Hint> {
    let variant = search.variant?;
    for (key, until) in search.keyring.expired(variant, search.now) {
        if search.fits_with(variant, search.request, &[key]) {
            let (position, until) = (key.position, until.to_rfc3339());
            return Some(Hint::proven(format!(
                "signed with secret {position}, which counted until {until} only: the provider still uses it"
            )));
        }
    }
    None
}

/// A live secret fits once it is read in another way.
pub(super) fn written_otherwise(search: &mut Search<'_>) -> Option<Hint> {
    let variant = search.variant.filter(|variant| variant.is_symmetric())?;
    let mut tried: Vec<Vec<u8>> =
        search.keys(variant).into_iter().filter_map(|key| Some(key.shared()?.expose().to_vec())).collect();
    for (position, secret) in search.keyring.given(search.now).take(super::search::MAX_KEYS) {
        for (what, bytes) in readings(variant, secret) {
            if bytes.expose().len() < MIN_BYTES || tried.iter().any(|known| known == bytes.expose()) {
                continue;
            }
            tried.push(bytes.expose().to_vec());
            if search.fits_with(variant, search.request, &[&LiveKey::guessed(position, Key::Shared(bytes))]) {
                return Some(Hint::proven(format!("the signature fits secret {position} {what}")));
            }
        }
    }
    None
}

fn readings(variant: &Variant, secret: &Secret) -> Vec<(&'static str, Secret)> {
    let text = secret.expose();
    let mut out = Vec::new();
    for (what, rewrite) in TEXTS {
        let keys = rewrite(text).map(Secret::new).map(|text| keyring::decode(variant, &text));
        let shared = keys.into_iter().flatten().flatten().filter_map(|key| match key {
            Key::Shared(bytes) => Some((what, bytes)),
            Key::Public(_) | Key::Root(_) => None,
        });
        out.extend(shared);
    }
    // A token is sent as it is: what it could be decoded to is nobody's.
    if variant.algorithm != Algorithm::Token {
        let keys = KEYS.iter().filter_map(|(what, rewrite)| Some((*what, Secret::new(rewrite(text)?))));
        out.extend(keys);
    }
    out
}

fn unquoted(text: &[u8]) -> Option<&[u8]> {
    match text.trim_ascii() {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => Some(inner),
        _ => None,
    }
}

fn unprefixed(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().take(MAX_PREFIX).position(|byte| *byte == b'_')?;
    text.get(end + 1..)
}

fn unbase64(text: &[u8]) -> Option<Vec<u8>> {
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().find_map(|form| form.decode(text).ok())
}
