//! Which values may stand where, and what a signature covers.

use crate::provider::algorithm::Algorithm;
use crate::provider::plan::Variant;
use crate::provider::template::{Condition, Filter, Source, Template, Value};

/// Where a template stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// How a secret's text becomes a key: the secret alone, so that keys are made once.
    Key,
    /// What is signed.
    Signed,
    /// Before verification: the request, and bounded reading of its body.
    Request,
    /// Besides the signature: the request and the parts beside the signature.
    Beside,
    /// What is asked for a key: the request and what stands beside the signature.
    Fetch,
    /// What is asked about one request: the secret besides, which is the key to the provider's API.
    Ask,
    /// Of an answer: that, and the request.
    Fetched,
    /// Of a genuine request: all but secrets and signatures.
    Event,
    /// In a reply to a handshake.
    Handshake,
    /// In a reply to an event: the request and its document.
    Reply,
}

/// Whether a template's values may stand at its place.
pub(super) fn allowed(template: &Template, place: Place) -> Result<(), String> {
    for value in template.values() {
        let fits = match &value.source {
            Source::Secret => matches!(place, Place::Key | Place::Signed | Place::Ask),
            Source::Fetched => matches!(place, Place::Fetched | Place::Beside | Place::Event),
            Source::Part(_) => {
                matches!(place, Place::Signed | Place::Beside | Place::Fetch | Place::Ask | Place::Fetched)
            }
            Source::Claim(_) | Source::ClaimRaw(_) | Source::Jose(_) => matches!(
                place,
                Place::Beside
                    | Place::Event
                    | Place::Handshake
                    | Place::Reply
                    | Place::Fetch
                    | Place::Fetched
            ),
            // Before the proof only where every item is proved: `each` sees to that.
            Source::Root(_) if matches!(place, Place::Signed | Place::Beside) => true,
            Source::Root(_) | Source::Parent(_) | Source::Index | Source::Unique | Source::Received(_) => {
                place == Place::Event
            }
            Source::Challenge => place == Place::Handshake,
            // How a request came is not stored with it.
            Source::Peer | Source::Proxy(_) => matches!(place, Place::Request | Place::Beside),
            _ => place != Place::Key,
        };
        if !fits {
            return Err(format!("{} cannot be used here", value.source));
        }
        if place != Place::Handshake && value.filters.iter().any(|filter| matches!(filter, Filter::Hmac(_))) {
            return Err("an HMAC is made in the answer to a handshake only".into());
        }
    }
    Ok(())
}

/// Whether the signature of `variant` covers a value from `source`.
pub(super) fn covers(variant: &Variant, source: &Source) -> bool {
    if variant.algorithm == Algorithm::Jws {
        return match source {
            Source::Claim(_) | Source::ClaimRaw(_) | Source::Jose(_) => true,
            _ => is_of_body(source) && hashes_body(variant),
        };
    }
    let within = |text: &Template| {
        text.values().iter().any(|value| {
            value.source == *source
                || match source {
                    Source::Query(_) => matches!(value.source, Source::Url | Source::Query(None)),
                    Source::Path => value.source == Source::Url,
                    Source::Secret => true,
                    _ => is_of_body(source) && is_whole_body(value),
                }
        })
    };
    !variant.texts.is_empty() && variant.texts.iter().all(within)
}

fn is_of_body(source: &Source) -> bool {
    matches!(
        source,
        Source::Body
            | Source::Json(_)
            | Source::Raw(_)
            | Source::Root(_)
            | Source::Parent(_)
            | Source::Form(_)
            | Source::File(_)
            | Source::Xml(_)
            | Source::Index
    )
}

/// The body, or what only the whole of it can lead to.
fn is_whole_body(value: &Value) -> bool {
    let part = |filter: &Filter| {
        matches!(
            filter,
            Filter::First(_)
                | Filter::Last(_)
                | Filter::Before(_)
                | Filter::After(_)
                | Filter::Then(_)
                | Filter::Json(_)
        )
    };
    value.source == Source::Body && !value.filters.iter().any(part)
}

/// Whether a claim is the body's digest, always.
fn hashes_body(variant: &Variant) -> bool {
    let is_claim = |template: &Template| {
        template.sole().is_some_and(|value| matches!(value.source, Source::Claim(_) | Source::ClaimRaw(_)))
    };
    let is_digest = |template: &Template| {
        template.sole().is_some_and(|value| {
            let hashed = value.filters.iter().any(|filter| matches!(filter, Filter::Hash(_)));
            hashed && is_whole_body(value)
        })
    };
    variant.require.iter().any(|condition| match condition {
        Condition::Equal(left, right) => {
            (is_claim(left) && is_digest(right)) || (is_digest(left) && is_claim(right))
        }
        _ => false,
    })
}

/// Whether every value of `template` is covered by every variant that is in use by itself.
pub(super) fn is_signed(variants: &[Variant], templates: &[Template], document: &[Template]) -> bool {
    let mut sources = templates.iter().flat_map(Template::values).map(|value| &value.source);
    let covered = |variant: &Variant, source: &Source| {
        covers(variant, source) || (is_read_from_document(source) && covers_document(variant, document))
    };
    sources.all(|source| variants.iter().filter(|v| !v.opt_in).all(|variant| covered(variant, source)))
}

fn is_read_from_document(source: &Source) -> bool {
    matches!(
        source,
        Source::Json(_)
            | Source::Raw(_)
            | Source::Xml(_)
            | Source::Root(_)
            | Source::Parent(_)
            | Source::Index
    )
}

/// Whether the variant signs the document itself, such as a form's only field, or a token's claims.
fn covers_document(variant: &Variant, document: &[Template]) -> bool {
    let is_claims = |document: &Template| {
        let source = document.sole().map(|value| &value.source);
        matches!(source, Some(Source::Claim(_) | Source::ClaimRaw(_)))
    };
    if variant.algorithm == Algorithm::Jws {
        return !document.is_empty() && document.iter().all(is_claims);
    }
    let signs = |text: &Template| {
        text.values().iter().any(|value| {
            // Signed as it stands there, and read after some more filters.
            let made_of = |document: &Value| {
                document.source == value.source && document.filters.starts_with(&value.filters)
            };
            document.iter().any(|document| document.sole().is_some_and(made_of))
        })
    };
    !variant.texts.is_empty() && variant.texts.iter().all(signs)
}
