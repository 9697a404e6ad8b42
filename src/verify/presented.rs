//! How the credentials of a request look where the secret itself is sent: to know one again that was not stored.

use super::keyring::{self, Keyring};
use crate::clock::Timestamp;
use crate::model::Secret;
use crate::provider::{Grammar, Key, Provider, Source, Template, Variant};

/// One value of a header or a query parameter that is a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented {
    /// Whether it stands in a header, else in the query.
    pub in_header: bool,
    /// The name of the header (lower case) or the parameter.
    pub name: String,
    /// What a genuine request has there.
    pub value: Secret,
}

/// What genuine requests would carry, for every secret that counts at `now`.
pub fn presented(provider: &Provider, keyring: &Keyring, now: Timestamp) -> Vec<Presented> {
    let variants = provider.keyed().filter(|variant| variant.algorithm.sends_secret());
    let pairs = variants.flat_map(|variant| keyring.given(now).map(move |(_, secret)| (variant, secret)));
    pairs.flat_map(|(variant, secret)| of(variant, secret)).collect()
}

fn of(variant: &Variant, secret: &Secret) -> Vec<Presented> {
    let mut all = Vec::new();
    for key in keyring::decode(variant, secret).unwrap_or_default() {
        let Key::Shared(shared) = key else { continue };
        let texts =
            variant.signature.encodings.iter().filter_map(|encoding| encoding.encode(shared.expose()));
        for text in texts {
            let value = match &variant.signature.grammar {
                Grammar::Pattern(pattern) => {
                    pattern.write(|name| if name == "signature" { text.clone() } else { String::new() })
                }
                Grammar::Pairs { take, .. } => format!("{take}={text}"),
            };
            let places = variant.signature.from.iter().filter_map(Template::sole);
            for place in places.filter(|place| !place.reads_inside()) {
                let (in_header, name) = match &place.source {
                    Source::Header(name) => (true, name.clone()),
                    Source::Query(Some(name)) => (false, name.clone()),
                    _ => continue,
                };
                all.push(Presented { in_header, name, value: Secret::new(value.as_bytes()) });
            }
        }
    }
    all
}
