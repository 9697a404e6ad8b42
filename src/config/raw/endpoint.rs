//! `[endpoints.NAME]` as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DurationText, SecretText, SizeText};

/// An inbound identity: a provider, its paths and its secrets.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawEndpoint {
    /// The provider's id: `hookgate providers` lists them.
    pub(crate) provider: String,
    /// The paths on which it is reached; all of them are this one endpoint.
    #[schemars(length(min = 1, max = 32))]
    pub(crate) paths: Vec<String>,
    /// The signing secrets that are live now, as the provider's dashboard shows them. Any of them may match.
    /// None where the provider publishes its keys or hands the secret over in its first request.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub(crate) secrets: Vec<RawSecret>,
    /// The provider definition's own constants: `hookgate providers show ID` lists them.
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, String>,
    /// The one variant of the provider's signature that counts, also one that is off unless it is named; all others
    /// unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<String>,
    /// When the reply is sent.
    #[serde(default)]
    pub(crate) mode: RawMode,
    /// With `mode = "proxy"`: the `http` destination that is asked, and whose answer the provider gets. No route is for
    /// such an endpoint, also none with `endpoint = "*"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proxy: Option<String>,
    /// Events with the same key are worked on one at a time, in the order of their arrival: `true` for the key of the
    /// provider's definition, or a template of the definition language such as `{json:/data/object/customer}`. Events
    /// without the key are not held up. Only with `mode = "async"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ordering_key: Option<RawOrderingKey>,
    /// A template for what grows with each change of what `ordering_key` names: a whole number or a time, such as
    /// `{json:/created}`. An event with a smaller one than the last that was worked on for its key is recorded as
    /// superseded, and nothing is done. Only with `ordering_key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// What an event that needs review does to those of its key that came after it; `block` unless said. Only with
    /// `ordering_key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) on_dead: Option<RawOnDead>,
    /// Events worked on at once by one process, at most `inbox.concurrency`. Only with `mode = "async"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) concurrency: Option<usize>,
    /// Whether all routes that match take an event, or only the first of them in the order of the file.
    #[serde(default, rename = "match")]
    pub(crate) matching: RawMatching,
    /// JSON pointers into the body and the values they must have, else the request is rejected as
    /// `wrong_environment`.
    #[serde(default)]
    pub(crate) expect: BTreeMap<String, serde_json::Value>,
    /// A genuine request comes at least this often: exported as a metric, so that an alert can tell silence from a quiet
    /// hour. 1m to 30d; unless said, only the endpoint's own weekly rhythm is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expect_every: Option<DurationText>,
    /// Larger bodies are answered 413. Up to 64MiB; the provider's own maximum, or 1MiB, unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_body: Option<SizeText>,
    /// Which rejected requests are kept, within the bounds of `[quarantine]`, until `hookgate quarantine release`. Unless
    /// said, those that were signed and could still be proved: `signature_mismatch`, `stale_timestamp`,
    /// `future_timestamp`, `unknown_key`, `key_unavailable`, `precondition` and `wrong_environment`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quarantine: Option<RawKeep>,
}

/// Which rejected requests are kept.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RawKeep {
    /// All or none of them.
    Switch(RawSwitch),
    /// Those that were rejected for one of these reasons.
    Reasons(Vec<String>),
}

/// All or nothing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawSwitch {
    /// All.
    On,
    /// Nothing.
    Off,
}

/// Which of the routes that match an event take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawMatching {
    /// All of them.
    #[default]
    All,
    /// The first one, in the order of the file.
    First,
}

/// When an endpoint replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawMode {
    /// After the handlers' work is committed, together with the inbox row.
    Sync,
    /// After the inbox row is committed; workers do the rest and retry.
    #[default]
    Async,
    /// With what a destination answers while the provider waits: `proxy` names it.
    Proxy,
}

/// `true`, or a template.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RawOrderingKey {
    /// The key of the provider's definition, or none.
    Own(bool),
    /// A template.
    Template(String),
}

/// What a dead event does to those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawOnDead {
    /// They wait until it is redriven.
    Block,
    /// They go on; when it is redriven, it comes after them.
    Skip,
}

/// A signing secret, alone or with the moment from which it counts no more.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RawSecret {
    /// Live for good.
    Live(SecretText),
    /// Live until a moment.
    Until(RawUntil),
}

/// A signing secret on its way out.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawUntil {
    /// The reference.
    pub(crate) secret: SecretText,
    /// A day (`2027-01-31`, from its first moment in UTC) or an RFC 3339 time.
    pub(crate) until: String,
}
