//! `[destinations.NAME]` as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DurationText, SecretText};

/// Where messages go.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawDestination {
    /// The kind.
    #[serde(rename = "type")]
    pub(crate) kind: RawDestinationType,
    /// `http`: where to POST.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The secret that signs each delivery as in Standard Webhooks (`whsec_` and base64, or text), or several while
    /// rotating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sign: Option<RawSign>,
    /// Own headers. A value is text, or `env:NAME` or `file:PATH` that holds it.
    #[serde(default)]
    #[schemars(extend("additionalProperties" = { "type": "string", "writeOnly": true }))]
    pub(crate) headers: BTreeMap<String, String>,
    /// One delivery; `outbox.work_timeout` unless said. 100ms to 10m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<DurationText>,
    /// Deliveries at once by one process.
    #[serde(default = "eight")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) concurrency: usize,
    /// Whether the provider's signature headers are left out.
    #[serde(default)]
    pub(crate) drop_signature: bool,
    /// Whether deliveries are CloudEvents 1.0 in binary mode.
    #[serde(default)]
    pub(crate) cloudevents: bool,
    /// `http`: whether the host's name may resolve to a private or loopback address. An address written in `url` always may.
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// Over `outbox.max_attempts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) max_attempts: Option<u32>,
    /// Over `outbox.backoff_cap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backoff_cap: Option<DurationText>,
    /// Over `outbox.max_age`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_age: Option<DurationText>,
}

/// The kinds of destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawDestinationType {
    /// An HTTP POST.
    Http,
    /// A line of JSON on standard output.
    Stdout,
}

/// One secret or several.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RawSign {
    /// The usual case.
    One(SecretText),
    /// While rotating: every delivery carries a signature by each.
    Several(Vec<SecretText>),
}

fn eight() -> usize {
    8
}
