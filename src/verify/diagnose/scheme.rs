//! Signed in another of the provider's ways, with another hash, or over another text.

use super::Hint;
use super::search::Search;
use crate::provider::{Algorithm, Hash, Template};
use crate::verify::keyring::{self, LiveKey};

/// Hashes that senders choose among.
const HASHES: [Hash; 5] = [Hash::Sha256, Hash::Sha1, Hash::Sha512, Hash::Sha384, Hash::Md5];

/// A variant that was not the one to be tried fits.
pub(super) fn another_variant(search: &mut Search<'_>) -> Option<Hint> {
    let claimed = search.variant?;
    let provider = search.provider;
    for variant in provider.every_variant().iter().filter(|variant| variant.name != claimed.name) {
        let secrets = search.keyring.given(search.now).take(super::search::MAX_KEYS);
        let keys: Vec<LiveKey> = secrets
            .filter_map(|(position, secret)| Some((position, keyring::decode(variant, secret).ok()?)))
            .flat_map(|(position, keys)| keys.into_iter().map(move |key| LiveKey::guessed(position, key)))
            .collect();
        if search.fits_with(variant, search.request, &keys.iter().collect::<Vec<_>>()) {
            let in_use = provider.candidates().any(|candidate| candidate.name == variant.name);
            return Some(Hint::proven(if in_use {
                format!(
                    "signed as variant `{}`, but the request looks like `{}`, which is the one that counts",
                    variant.name, claimed.name
                )
            } else {
                format!(
                    "signed as variant `{}`, which counts only where it is named as `variant`",
                    variant.name
                )
            }));
        }
    }
    None
}

/// The same with another hash, or over the body alone.
pub(super) fn another_text(search: &mut Search<'_>) -> Option<Hint> {
    let variant = search.variant?;
    let mut tried = variant.clone();
    if let Algorithm::Hmac(own) = variant.algorithm {
        for hash in HASHES.into_iter().filter(|hash| *hash != own) {
            tried.algorithm = Algorithm::Hmac(hash);
            if search.fits(&tried, search.request) {
                let (used, own) = (tried.algorithm.name(), variant.algorithm.name());
                return Some(Hint::proven(format!("the signature is made with {used}, not with {own}")));
            }
        }
        tried.algorithm = variant.algorithm;
    }
    let body = Template::parse("{body}").ok()?;
    if variant.texts.is_empty() || variant.texts.contains(&body) {
        return None;
    }
    tried.texts = vec![body];
    search.fits(&tried, search.request).then(|| {
        Hint::proven(
            "the signature is made over the body alone; this provider signs more than that beside it",
        )
    })
}
