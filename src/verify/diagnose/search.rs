//! The trials: what may still be spent on them, and whether one fits.

use crate::clock::Timestamp;
use crate::model::{Reason, Request};
use crate::provider::{Provider, Source, Template, Variant};
use crate::verify::keyring::{Keyring, LiveKey};
use crate::verify::place::{self, Group};
use crate::verify::proof;

/// MACs that are made for one request.
const MAX_MACS: usize = 200;
/// Checks of a public key's signature, which cost far more.
const MAX_CHECKS: usize = 30;
/// Live secrets that each change is tried with.
pub(super) const MAX_KEYS: usize = 3;

/// One rejected request, and the trials that are left for it.
pub(super) struct Search<'a> {
    pub(super) request: &'a Request,
    pub(super) provider: &'a Provider,
    pub(super) keyring: &'a Keyring,
    pub(super) reason: Reason,
    pub(super) now: Timestamp,
    /// The variant that the request claims to be; without one, the first that is in use.
    pub(super) variant: Option<&'a Variant>,
    /// Whether the request claims to be that one.
    pub(super) claimed: bool,
    left: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        request: &'a Request,
        provider: &'a Provider,
        keyring: &'a Keyring,
        reason: Reason,
        now: Timestamp,
    ) -> Self {
        let usable = keyring.usable(provider);
        let claimed = place::choose(&usable, request);
        let variant = claimed.or_else(|| usable.first().copied());
        let symmetric = variant.is_none_or(Variant::is_symmetric);
        let left = if symmetric { MAX_MACS } else { MAX_CHECKS };
        Self { request, provider, keyring, reason, now, variant, claimed: claimed.is_some(), left }
    }

    /// The first live keys of a variant.
    pub(super) fn keys(&self, variant: &Variant) -> Vec<&'a LiveKey> {
        let mut keys = self.keyring.live(variant, self.now);
        keys.truncate(MAX_KEYS);
        keys.into_vec()
    }

    /// Whether the signature was never the trouble.
    pub(super) fn fits_as_it_is(&mut self) -> bool {
        self.variant.is_some_and(|variant| self.fits(variant, self.request))
    }

    /// Whether `request` is signed as `variant` says, with a live key.
    pub(super) fn fits(&mut self, variant: &Variant, request: &Request) -> bool {
        let keys = self.keys(variant);
        self.fits_with(variant, request, &keys)
    }

    /// Whether `request` is signed as `variant` says, with one of `keys`.
    pub(super) fn fits_with(&mut self, variant: &Variant, request: &Request, keys: &[&LiveKey]) -> bool {
        let found = place::in_first_item(variant, request, |scope| place::find(&variant.signature, &scope));
        found.is_ok_and(|groups| self.groups_fit(variant, request, &groups, keys))
    }

    /// Whether one of the signatures in `groups` is right. All that is spent is spent here.
    pub(super) fn groups_fit(
        &mut self,
        variant: &Variant,
        request: &Request,
        groups: &[Group],
        keys: &[&LiveKey],
    ) -> bool {
        let signatures: usize = groups.iter().map(|group| group.signatures.len()).sum();
        let compared = if variant.is_symmetric() { groups.len() } else { signatures };
        let cost = compared * keys.len() * variant.texts.len().max(1);
        if cost == 0 || cost > self.left {
            return false;
        }
        self.left -= cost;
        let (now, besides) = (self.now, self.reason == Reason::Precondition);
        place::in_first_item(variant, request, |scope| {
            let mut scope = scope;
            let Ok(fits) = proof::fits(variant, groups, keys, &mut scope, now) else { return false };
            fits.into_iter().any(|fit| {
                scope.parts = &groups[fit.group].parts;
                scope.token = fit.token;
                // The proof alone is what was missing, unless it was there from the start.
                !besides || variant.require.iter().all(|it| it.holds(&scope))
            })
        })
    }
}

/// The headers without which a variant cannot be judged, lower case.
pub(super) fn headers_of(variant: &Variant) -> Vec<&str> {
    let mut names = Vec::new();
    for value in templates(variant).flat_map(Template::values) {
        if let Source::Header(name) = &value.source
            && !names.contains(&name.as_str())
        {
            names.push(name.as_str());
        }
    }
    names
}

/// Whether what is signed has to do with the body.
pub(super) fn signs_body(variant: &Variant) -> bool {
    let required = variant.require.iter().flat_map(|condition| condition.templates());
    variant.texts.iter().chain(required).flat_map(Template::values).any(|value| {
        !matches!(
            value.source,
            Source::Method
                | Source::Url
                | Source::Path
                | Source::Query(_)
                | Source::Header(_)
                | Source::Part(_)
                | Source::Secret
                | Source::Peer
                | Source::Proxy(_)
        )
    })
}

fn templates(variant: &Variant) -> impl Iterator<Item = &Template> {
    let timestamp = variant.timestamp.as_ref().map(|freshness| &freshness.value);
    variant.signature.from.iter().chain(&variant.texts).chain(timestamp)
}
