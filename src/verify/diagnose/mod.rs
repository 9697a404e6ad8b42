//! Why a request is not genuine, as far as trying can tell: for the operator, never for the sender.
//!
//! Pure, and outside the decision: it is asked after the verdict and cannot change it. One thing at a time is changed
//! (the body's form, the public URL, the secret, the place of the signature), and where the signature fits then, that is
//! the mistake. Each trial costs a MAC, and there is a bound to them. What it says never holds a secret, a signature or
//! anything of the body.

mod body;
mod clue;
mod headers;
mod json;
mod key;
mod scheme;
mod search;
mod spelling;
mod url;

use std::fmt;

use super::Keyring;
use crate::clock::Timestamp;
use crate::model::{Reason, Rejection, Request};
use crate::provider::Provider;
use search::Search;

/// Larger bodies are not looked into.
const MAX_BODY: usize = 1 << 20;

/// The likely cause of a rejection, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    sentence: String,
    proven: bool,
}

impl Hint {
    fn proven(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), proven: true }
    }

    fn likely(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), proven: false }
    }

    /// Whether the signature fits once the mistake is undone; otherwise it is only what catches the eye.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.proven
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What probably went wrong with a request that [`super::verify()`] rejected with `rejection`; the likeliest first, and
/// none where nothing fits. At most 200 MACs are made, or 30 signatures of public keys checked.
pub fn diagnose(
    request: &Request,
    provider: &Provider,
    keyring: &Keyring,
    rejection: &Rejection,
    now: Timestamp,
) -> Vec<Hint> {
    if !can_be_explained(rejection.reason) || request.body.len() > MAX_BODY {
        return Vec::new();
    }
    if let Some(hint) = clue::time(request, provider, keyring, rejection, now) {
        return vec![hint];
    }
    let mut search = Search::new(request, provider, keyring, rejection.reason, now);
    match by_trying(&mut search) {
        Some(hint) => vec![hint],
        None => clue::all(&search),
    }
}

/// Whether the reason is one that a mistake of the set-up can lead to.
fn can_be_explained(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::MissingSignature
            | Reason::MalformedSignature
            | Reason::SignatureMismatch
            | Reason::StaleTimestamp
            | Reason::FutureTimestamp
            | Reason::Precondition
    )
}

/// The first mistake with which the signature fits. The commonest and cheapest ones come first.
fn by_trying(search: &mut Search<'_>) -> Option<Hint> {
    if search.reason == Reason::Precondition {
        // The signature fits; what does not is a digest of the body beside it.
        return body::another(search);
    }
    if search.fits_as_it_is() {
        // What is wrong is something beside the signature, and any change of the request would seem to mend it.
        return None;
    }
    let finders = [
        headers::renamed,
        headers::repaired,
        key::expired,
        key::written_otherwise,
        spelling::of_the_signature,
        scheme::another_variant,
        scheme::another_text,
        url::another,
        body::another,
    ];
    finders.into_iter().find_map(|find| find(search))
}
