//! `[endpoints.NAME]`, as the gateway uses it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::model::{Reason, Secret};
use crate::provider::Provider;
use crate::verify::Keyring;

/// A configured inbound identity: a provider, its paths, its secrets.
#[derive(Debug)]
pub struct Endpoint {
    /// Its name: part of the inbox key.
    pub name: Arc<str>,
    /// How the provider signs, names events and wants to be answered; configured with `settings`.
    pub provider: Arc<Provider>,
    /// All of its paths; they are one endpoint.
    pub paths: Vec<String>,
    /// Its signing secrets in the order of the config; positions start at 1.
    pub secrets: Vec<SigningSecret>,
    /// The same, prepared for verification.
    pub keyring: Keyring,
    /// The definition's own constants (webhook id, client id, public URL…), but for secret ones.
    pub settings: BTreeMap<String, String>,
    /// When the reply is sent.
    pub mode: Mode,
    /// Whether events of one ordering key are worked on in the order of their arrival, and what a dead one does to those
    /// behind it.
    pub ordered: Option<OnDead>,
    /// Events worked on at once by this process, if fewer than there are hands.
    pub concurrency: Option<usize>,
    /// Which of the routes that match an event take it.
    pub matching: Matching,
    /// JSON pointers into the body and the values they must have, else `wrong_environment`.
    pub expect: Vec<(String, serde_json::Value)>,
    /// A genuine request comes at least this often, or somebody should know; only metrics and alerts use it.
    pub expect_every: Option<Duration>,
    /// Larger bodies are answered 413.
    pub max_body: usize,
    /// Requests that were rejected for one of these reasons are kept, within bounds.
    pub quarantine: Vec<Reason>,
}

impl Endpoint {
    /// Reasons for which a rejected request can be kept at all: those with a body that may turn out to be genuine.
    /// Handshakes are not kept: they hold secrets, and no event.
    pub const KEEPABLE: [Reason; 9] = [
        Reason::SignatureMismatch,
        Reason::StaleTimestamp,
        Reason::FutureTimestamp,
        Reason::UnknownKey,
        Reason::KeyUnavailable,
        Reason::Precondition,
        Reason::WrongEnvironment,
        Reason::MissingSignature,
        Reason::MalformedSignature,
    ];

    /// Those of them for which one is kept unless the endpoint says otherwise: it was signed. What is not signed at all
    /// is sent by anybody who looks for open doors, and no secret will ever prove it.
    pub const KEPT: [Reason; 7] = [
        Reason::SignatureMismatch,
        Reason::StaleTimestamp,
        Reason::FutureTimestamp,
        Reason::UnknownKey,
        Reason::KeyUnavailable,
        Reason::Precondition,
        Reason::WrongEnvironment,
    ];
}

/// One signing secret of an endpoint.
#[derive(Clone, Debug)]
pub struct SigningSecret {
    /// In the form in which the provider's dashboard shows it.
    pub secret: Secret,
    /// It counts no more from this moment on.
    pub until: Option<Timestamp>,
    /// The reference it came from (`env:NAME`), for messages.
    pub reference: String,
}

/// What an event that needs review does to those of its ordering key that came after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDead {
    /// They wait until it is redriven.
    Block,
    /// They go on.
    Skip,
}

/// Which of the routes that match an event take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// All of them.
    All,
    /// The first one, in the order of the config.
    First,
}

/// When an endpoint replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// After the handlers' work is committed together with the inbox row.
    Sync,
    /// After the inbox row is committed; workers do the rest.
    Async,
    /// With what the destination answers: it is asked once, while the provider waits.
    Proxy {
        /// An `http` destination of the config.
        destination: Arc<str>,
    },
}

impl Endpoint {
    /// The destination that answers for it, if it is a proxy.
    #[must_use]
    pub fn proxied(&self) -> Option<&Arc<str>> {
        match &self.mode {
            Mode::Proxy { destination } => Some(destination),
            Mode::Sync | Mode::Async => None,
        }
    }
}
