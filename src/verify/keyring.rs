//! The live secrets of one endpoint, decoded once.

use std::sync::Arc;

use bytes::Bytes;

use crate::clock::Timestamp;
use crate::model::{Headers, Request, Secret};
use crate::provider::{Provider, Scope, SettingsError, Trouble, Variant};

/// A key with fewer bytes can be found by trying.
const MIN_KEY_BYTES: usize = 16;

/// An endpoint's secrets, in the form in which its provider uses them. Built once per endpoint and provider.
#[derive(Debug)]
pub struct Keyring {
    variants: Vec<(Arc<str>, Vec<Key>)>,
}

/// One key of one variant.
#[derive(Debug)]
pub(super) struct Key {
    /// The position of its secret, from 1.
    pub(super) position: usize,
    /// From this moment on it counts no more.
    until: Option<Timestamp>,
    pub(super) bytes: Secret,
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
        let mut variants: Vec<(Arc<str>, Vec<Key>)> =
            provider.candidates().map(|variant| (Arc::clone(&variant.name), Vec::new())).collect();
        for (at, (secret, until)) in secrets.into_iter().enumerate() {
            let position = at + 1;
            let mut problem = None;
            let mut used = false;
            for (variant, (_, keys)) in provider.candidates().zip(&mut variants) {
                match decode(variant, &secret) {
                    Ok(decoded) => {
                        used = true;
                        keys.extend(decoded.into_iter().map(|bytes| Key { position, until, bytes }));
                    }
                    Err(why) => problem = Some(why),
                }
            }
            if !used {
                let problem = problem.unwrap_or_else(|| "this provider has no use for it".into());
                return Err(SettingsError::Secret { position, problem });
            }
        }
        Ok(Self { variants })
    }

    /// Positions of secrets whose key has fewer than 16 bytes: it can be found by trying.
    pub fn weak(&self) -> Vec<usize> {
        let keys = self.variants.iter().flat_map(|(_, keys)| keys);
        let mut weak: Vec<usize> =
            keys.filter(|key| key.bytes.expose().len() < MIN_KEY_BYTES).map(|key| key.position).collect();
        weak.sort_unstable();
        weak.dedup();
        weak
    }

    /// The variants for which there is a key, in order of preference; all of them where there is none at all.
    pub(super) fn usable<'a>(&self, provider: &'a Provider) -> Vec<&'a Variant> {
        let has_key = |variant: &Variant| {
            self.variants.iter().any(|(name, keys)| *name == variant.name && !keys.is_empty())
        };
        let usable: Vec<&Variant> = provider.candidates().filter(|variant| has_key(variant)).collect();
        if usable.is_empty() { provider.candidates().collect() } else { usable }
    }

    /// What an answer to a handshake is signed with: the first live secret, or the one at `position`.
    pub(super) fn answering(&self, position: Option<usize>, now: Timestamp) -> Option<&Secret> {
        let keys = self.variants.iter().flat_map(|(_, keys)| keys);
        let mut live = keys.filter(|key| key.until.is_none_or(|until| now < until));
        live.find(|key| position.is_none_or(|position| key.position == position)).map(|key| &key.bytes)
    }

    /// The keys of one variant that count at `now`.
    pub(super) fn live(&self, variant: &Variant, now: Timestamp) -> Vec<&Key> {
        let keys = self.variants.iter().filter(|(name, _)| *name == variant.name).flat_map(|(_, keys)| keys);
        keys.filter(|key| key.until.is_none_or(|until| now < until)).collect()
    }
}

/// All readings of a secret that a variant allows; at least one must succeed.
pub(super) fn decode(variant: &Variant, secret: &Secret) -> Result<Vec<Secret>, String> {
    if secret.expose().is_empty() {
        return Err("it is empty".into());
    }
    let nothing = Request {
        method: String::new(),
        path: String::new(),
        query: None,
        origin: None,
        headers: Headers::new(),
        body: Bytes::new(),
    };
    let mut scope = Scope::new(&nothing);
    scope.secret = Some(secret.expose());
    let mut keys = Vec::new();
    let mut problem = String::new();
    for template in &variant.keys {
        match template.render(&scope) {
            Ok(bytes) if bytes.is_empty() => problem = "nothing is left of it without its prefix".into(),
            Ok(bytes) => keys.push(Secret::new(bytes.into_owned())),
            Err(Trouble::Absent(_)) => problem = "it has not the form that this provider uses".into(),
            Err(trouble) => problem = trouble.to_string(),
        }
    }
    if keys.is_empty() { Err(problem) } else { Ok(keys) }
}
