//! `[[routes]]` as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which events go where: one of `endpoint`, `endpoints`, `provider`; and one of `handler`, `sql`, `forward`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRoute {
    /// One endpoint's name, or `*` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    /// Several endpoints' names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoints: Option<Vec<String>>,
    /// All endpoints of one provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
    /// Event types; `*` stands for any characters.
    #[serde(default = "all_types")]
    #[schemars(length(min = 1))]
    pub(crate) types: Vec<String>,
    /// A jq expression over the event as JSON: the route takes the event if its single output is neither `false` nor
    /// `null`. `$event` holds `id`, `type`, `provider`, `endpoint`, `account`, `occurred_at` and `received_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filter: Option<String>,
    /// A built-in handler, or one of the embedding program's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) handler: Option<String>,
    /// An SQL handler module: a file of statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sql: Option<String>,
    /// The module's own named parameters, taken from the payload. Only with `sql`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<BTreeMap<String, RawSqlParam>>,
    /// The operation in `:idempotency_key`; the file's stem unless said. Only with `sql`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<String>,
    /// Destinations of the messages that the handler writes. Without it they wait for a relay of your own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) emit: Option<Vec<String>>,
    /// Destinations that get the event as it came, or what `transform` makes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) forward: Option<Vec<String>>,
    /// A jq expression over the event as JSON, whose single output is sent in place of the body. Only with `forward`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transform: Option<String>,
}

fn all_types() -> Vec<String> {
    vec!["*".to_owned()]
}

/// A named parameter of an SQL handler module.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSqlParam {
    /// JSON pointer into the payload; NULL where there is nothing.
    pub(crate) pointer: String,
    /// How the value is bound.
    #[serde(default, rename = "type")]
    pub(crate) kind: RawSqlType,
}

/// The type as which a parameter is bound.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawSqlType {
    /// Text; numbers and booleans in their JSON form.
    #[default]
    Text,
    /// 64-bit integer.
    Bigint,
    /// Double precision.
    Double,
    /// Boolean.
    Boolean,
    /// JSON text (`jsonb` on PostgreSQL).
    Json,
    /// RFC 3339 text or Unix seconds in the payload.
    Timestamptz,
}
