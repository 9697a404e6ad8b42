//! The live secrets of one endpoint, decoded once.

use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::clock::Timestamp;
use crate::model::{Headers, Request, Secret};
use crate::provider::{Algorithm, Key, Provider, Scope, SettingsError, Variant, certificates};

/// A key with fewer bytes can be found by trying.
const MIN_KEY_BYTES: usize = 16;

/// An endpoint's secrets, in the form in which its provider uses them. Built once per endpoint and provider.
#[derive(Debug)]
pub struct Keyring {
    variants: Vec<(Arc<str>, Vec<LiveKey>)>,
    /// The secrets as they were given: only to say what is wrong with one.
    given: Vec<(Secret, Option<Timestamp>)>,
}

/// One key of one variant.
#[derive(Debug)]
pub(super) struct LiveKey {
    /// The position of its secret, from 1; 0 where it was fetched.
    pub(super) position: usize,
    /// From this moment on it counts no more.
    until: Option<Timestamp>,
    pub(super) key: Key,
}

impl Keyring {
    /// Prepares `secrets` (with the moment from which each counts no more) for `provider`, which must come from
    /// [`Provider::configure`]. Positions count from 1, in the order given.
    ///
    /// # Errors
    /// A secret that is not in the provider's form, or a provider whose required settings are not set.
    pub fn new(
        provider: &Provider,
        secrets: impl IntoIterator<Item = (Secret, Option<Timestamp>)>,
    ) -> Result<Self, SettingsError> {
        provider.usable()?;
        let mut variants: Vec<(Arc<str>, Vec<LiveKey>)> =
            provider.keyed().map(|variant| (Arc::clone(&variant.name), Vec::new())).collect();
        let given: Vec<(Secret, Option<Timestamp>)> = secrets.into_iter().collect();
        for (at, (secret, until)) in given.iter().enumerate() {
            let until = *until;
            let position = at + 1;
            let mut problem = None;
            let mut used = false;
            for (variant, (_, keys)) in provider.keyed().zip(&mut variants) {
                match decode(variant, secret) {
                    Ok(decoded) => {
                        used = true;
                        keys.extend(decoded.into_iter().map(|key| LiveKey { position, until, key }));
                    }
                    Err(why) => problem = Some(why),
                }
            }
            if !used {
                let problem = problem.unwrap_or_else(|| "this provider has no use for it".into());
                return Err(SettingsError::Secret { position, problem });
            }
        }
        Ok(Self { variants, given })
    }

    /// Positions of shared secrets with fewer than 16 bytes: such a key can be found by trying.
    pub fn weak(&self) -> Vec<usize> {
        let keys = self.variants.iter().flat_map(|(_, keys)| keys);
        let short = |key: &&LiveKey| key.shared().is_some_and(|secret| secret.expose().len() < MIN_KEY_BYTES);
        let mut weak: Vec<usize> = keys.filter(short).map(|key| key.position).collect();
        weak.sort_unstable();
        weak.dedup();
        weak
    }

    /// The variants for which there is a key, in order of preference; all of them where there is none at all.
    pub(super) fn usable<'a>(&self, provider: &'a Provider) -> SmallVec<[&'a Variant; 4]> {
        let has_key = |variant: &Variant| {
            self.variants.iter().any(|(name, keys)| *name == variant.name && !keys.is_empty())
        };
        let usable: SmallVec<[&Variant; 4]> =
            provider.candidates().filter(|variant| has_key(variant)).collect();
        if usable.is_empty() { provider.candidates().collect() } else { usable }
    }

    /// What an answer to a handshake is signed with: the first live secret, or the one at `position`.
    pub(super) fn answering(&self, position: Option<usize>, now: Timestamp) -> Option<&Secret> {
        let keys = self.variants.iter().flat_map(|(_, keys)| keys);
        let live = keys.filter(|key| key.until.is_none_or(|until| now < until));
        let mut chosen = live.filter(|key| position.is_none_or(|position| key.position == position));
        chosen.find_map(LiveKey::shared)
    }

    /// The keys of one variant that count at `now`.
    pub(super) fn live(&self, variant: &Variant, now: Timestamp) -> SmallVec<[&LiveKey; 4]> {
        let keys = self.variants.iter().filter(|(name, _)| *name == variant.name).flat_map(|(_, keys)| keys);
        keys.filter(|key| key.until.is_none_or(|until| now < until)).collect()
    }
}

/// What is tried when none fits, and never believed.
impl Keyring {
    /// The secrets that count at `now` as they were given, with their positions.
    pub(super) fn given(&self, now: Timestamp) -> impl Iterator<Item = (usize, &Secret)> {
        let live = move |until: &Option<Timestamp>| until.is_none_or(|until| now < until);
        let given = self.given.iter().enumerate().filter(move |(_, (_, until))| live(until));
        given.map(|(at, (secret, _))| (at + 1, secret))
    }

    /// The keys of one variant that counted before `now` and count no more, with the moment of their end.
    pub(super) fn expired(&self, variant: &Variant, now: Timestamp) -> Vec<(&LiveKey, Timestamp)> {
        let keys = self.variants.iter().filter(|(name, _)| *name == variant.name).flat_map(|(_, keys)| keys);
        keys.filter_map(|key| Some((key, key.until?))).filter(|(_, until)| *until <= now).collect()
    }
}

impl LiveKey {
    /// A key that nobody configured.
    pub(super) fn guessed(position: usize, key: Key) -> Self {
        Self { position, until: None, key }
    }

    /// A key that is none of the operator's: its position is 0.
    pub(super) fn fetched(key: Key) -> Self {
        Self { position: 0, until: None, key }
    }

    pub(super) fn shared(&self) -> Option<&Secret> {
        match &self.key {
            Key::Shared(secret) => Some(secret),
            Key::Public(_) | Key::Root(_) => None,
        }
    }
}

/// All readings of a secret that a variant allows; at least one must succeed.
pub(super) fn decode(variant: &Variant, secret: &Secret) -> Result<Vec<Key>, String> {
    if secret.expose().is_empty() {
        return Err("it is empty".into());
    }
    if variant.algorithm == Algorithm::None {
        return Err("this variant has no use for it".into());
    }
    // The operator's own certificates are the roots, in place of the definition's.
    if variant.chain.is_some() {
        let roots = certificates(secret.expose()).ok_or("it is no root certificate (PEM or base64 DER)")?;
        return Ok(roots.into_iter().map(Key::Root).collect());
    }
    let nothing = Request::bare(Headers::new(), Bytes::new());
    let mut scope = Scope::new(&nothing);
    scope.secret = Some(secret.expose());
    let mut keys = Vec::new();
    let mut problem = String::new();
    for template in &variant.keys {
        match variant.keys_by(template, &scope) {
            Ok(made) => keys.extend(made),
            Err(why) => problem = why,
        }
    }
    if keys.is_empty() { Err(problem) } else { Ok(keys) }
}
