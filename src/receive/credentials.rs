//! Credentials of a request that is kept: they are taken out before it is stored, and known again by a digest.
//!
//! Where the secret itself is sent, what was sent may be the provider's real secret, which only the configuration does
//! not know yet. So neither it nor a digest that can be tried quickly is stored. A release makes what a genuine request
//! would carry from each secret of today, and puts that in where its digest is the one that was kept.

use std::collections::HashMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use crate::mapping;
use crate::model::{Headers, Request, Secret, stretched};
use crate::provider::Provider;
use crate::verify::Presented;

/// So many values of one name are known again: a genuine request has one.
const MOST: usize = 2;

/// What stands in place of a credential, in headers and in the query.
const REMOVED: &str = "[removed]";

/// Headers that carry credentials whatever the definition says; where it signs with one, that one stays.
const ALWAYS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "x-hook-secret"];

/// A request without its credentials.
pub(super) struct Stripped {
    pub(super) headers: Headers,
    /// Path and query.
    pub(super) url: String,
    /// JSON, if there was a credential.
    pub(super) digests: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct Digests {
    salt: String,
    removed: Vec<Removed>,
}

#[derive(Serialize, Deserialize)]
struct Removed {
    header: bool,
    name: String,
    digest: String,
}

/// Takes the credentials out. It takes milliseconds for each: not for a thread that serves connections.
pub(super) fn strip(request: &Request, provider: &Provider, salt: &[u8]) -> Stripped {
    let mut digests = Digests { salt: hex::encode(salt), removed: Vec::new() };
    let mut note = |header: bool, name: &str, value: &[u8]| {
        let noted = digests.removed.iter().filter(|one| one.header == header && one.name == name);
        if noted.count() >= MOST {
            return; // each costs milliseconds, and a stranger could send thousands
        }
        let digest = hex::encode(stretched(salt, &comparable(value)));
        digests.removed.push(Removed { header, name: name.to_owned(), digest });
    };
    for name in provider.credential_headers() {
        request.headers.all(name).for_each(|value| note(true, name, value));
    }
    let query = request.query.as_deref().map(|query| {
        let pairs = query.split('&').map(|pair| match credential(pair, provider) {
            Some((raw, name, value)) => {
                note(false, &name, value.as_bytes());
                format!("{raw}={REMOVED}")
            }
            None => pair.to_owned(),
        });
        pairs.collect::<Vec<_>>().join("&")
    });
    let mut headers = mapping::storable_headers(request, provider);
    let signs = |name: &str| provider.signature_headers().iter().any(|signed| signed == name);
    for name in ALWAYS.into_iter().filter(|name| !signs(name)) {
        headers.replace(name, REMOVED.as_bytes());
    }
    let url = query.map_or_else(|| request.path.clone(), |query| format!("{}?{query}", request.path));
    let digests = (!digests.removed.is_empty()).then(|| serde_json::to_string(&digests).unwrap_or_default());
    Stripped { headers, url, digests }
}

/// The name as it stands there, the name and the value of a parameter that is a credential.
fn credential<'a>(pair: &'a str, provider: &Provider) -> Option<(&'a str, String, String)> {
    let (raw, _) = pair.split_once('=')?;
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(pair).ok()?;
    let (name, value) = pairs.into_iter().next()?;
    provider.credential_queries().contains(&name).then_some((raw, name, value))
}

/// The words `Basic` and `Bearer` are written in any case.
fn comparable(value: &[u8]) -> Vec<u8> {
    let mut value = value.to_vec();
    if let Some(at) = value.iter().position(|byte| *byte == b' ') {
        let scheme = value[..at].to_ascii_lowercase();
        if scheme == b"basic" || scheme == b"bearer" {
            value[..at].copy_from_slice(&scheme);
        }
    }
    value
}

/// Digests that were made before, since one takes milliseconds and a release asks for the same ones again and again.
#[derive(Default)]
pub(super) struct Known(HashMap<(String, Vec<u8>), String>);

impl Known {
    fn digest(&mut self, salt: &str, value: &Secret) -> Option<String> {
        let value = comparable(value.expose());
        let fast = mapping::sha256(&value).to_vec();
        if let Some(known) = self.0.get(&(salt.to_owned(), fast.clone())) {
            return Some(known.clone());
        }
        let digest = hex::encode(stretched(&hex::decode(salt).ok()?, &value));
        self.0.insert((salt.to_owned(), fast), digest.clone());
        Some(digest)
    }
}

/// Puts those credentials back that are one of `candidates`; the others stay out, and prove nothing.
pub(super) fn restore(request: &mut Request, digests: &str, candidates: &[Presented], known: &mut Known) {
    let Ok(digests) = serde_json::from_str::<Digests>(digests) else { return };
    for removed in &digests.removed {
        let at_place =
            |candidate: &&Presented| candidate.in_header == removed.header && candidate.name == removed.name;
        let mut fits = candidates.iter().filter(at_place);
        let fits = fits.find(|one| known.digest(&digests.salt, &one.value).as_ref() == Some(&removed.digest));
        let Some(found) = fits else { continue };
        if removed.header {
            request.headers.replace_next(&removed.name, REMOVED.as_bytes(), found.value.expose());
        } else if let (Some(query), Ok(value)) = (&request.query, std::str::from_utf8(found.value.expose())) {
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
            request.query = Some(put_back(query, &removed.name, &value));
        }
    }
}

fn put_back(query: &str, name: &str, value: &str) -> String {
    let mut done = false;
    let pairs = query.split('&').map(|pair| {
        let is_it = !done
            && pair.strip_suffix(REMOVED).and_then(|raw| raw.strip_suffix('=')).is_some_and(|raw| {
                let named = serde_urlencoded::from_str::<Vec<(String, String)>>(&format!("{raw}=")).ok();
                named.is_some_and(|pairs| pairs.first().is_some_and(|(known, _)| known == name))
            });
        if is_it {
            done = true;
            pair.replace(REMOVED, value)
        } else {
            pair.to_owned()
        }
    });
    pairs.collect::<Vec<_>>().join("&")
}
