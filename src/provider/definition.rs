//! The compiled definition.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Sample, Setting, SettingsError};
use crate::model::{Outcome, Reason, Reply, Secret};

/// How sure we are of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Read in the provider's own SDK, documentation or server source.
    Confirmed,
    /// Third parties agree, or parts are not certain.
    Unconfirmed,
}

impl Confidence {
    /// The word in `hookgate providers`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Unconfirmed => "unconfirmed",
        }
    }
}

/// A compiled provider definition.
#[derive(Debug)]
pub struct Provider {
    pub(crate) id: Arc<str>,
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) confidence: Confidence,
    pub(crate) max_body: Option<usize>,
    pub(crate) methods: Vec<String>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) retry_window: Option<Duration>,
    pub(crate) volatile: Vec<String>,
    pub(crate) credential_headers: Vec<String>,
    pub(crate) signature_headers: Vec<String>,
    pub(crate) samples: Vec<Sample>,
}

impl Provider {
    /// Its id, for example `stripe`: the first part of the inbox key.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Other ids under which it is found.
    pub fn aliases(&self) -> &[String] {
        &self.aliases
    }

    /// How sure we are of it.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// The largest body it sends, in bytes, where it is known to exceed 1 MiB.
    pub fn max_body(&self) -> Option<usize> {
        self.max_body
    }

    /// The methods it uses, handshakes included, in capitals.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// The settings that an endpoint may or must give.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The same definition with an endpoint's own settings in it. Endpoints use this one, also where they have no
    /// settings: it is what refuses an unknown name and a required one that is missing.
    pub fn configure(&self, settings: &BTreeMap<String, String>) -> Result<Arc<Self>, SettingsError> {
        let _ = settings;
        Err(SettingsError::Unknown { name: String::new(), allowed: Vec::new() })
    }

    /// Whether `secret` can be a signing secret of this provider. The error never holds the secret.
    pub fn check_secret(&self, secret: &Secret) -> Result<(), SettingsError> {
        let _ = secret;
        Ok(())
    }

    /// The success reply that the provider needs, where the gateway's own JSON with 200 will not do.
    pub fn reply(&self, outcome: Outcome) -> Option<Reply> {
        let _ = outcome;
        None
    }

    /// The status for a rejected request.
    pub fn rejection_status(&self, reason: Reason) -> u16 {
        let _ = reason;
        400
    }

    /// How long the provider waits for the reply.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// For how long the provider sends an event again: the dedupe window must not be shorter.
    pub fn retry_window(&self) -> Option<Duration> {
        self.retry_window
    }

    /// JSON pointers to what may differ between deliveries of one event.
    pub fn volatile(&self) -> &[String] {
        &self.volatile
    }

    /// Headers that are themselves a secret (lower case): stored as `[removed]`, never forwarded.
    pub fn credential_headers(&self) -> &[String] {
        &self.credential_headers
    }

    /// Headers that carry the signature or are read to check it (lower case).
    pub fn signature_headers(&self) -> &[String] {
        &self.signature_headers
    }

    /// Sample events of the real shape, invented data.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Whether whoever can verify can also sign (shared secret).
    pub fn is_symmetric(&self) -> bool {
        true
    }
}
