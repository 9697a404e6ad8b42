//! A definition as it stands in its file. Unknown keys are refused; what the values mean is `compile`'s business.
//!
//! Every key here is described in `providers/README.md`; a test compares the two.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::text::{Text, Texts, strings};

/// One `providers/*.toml`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    pub(crate) id: Text,
    pub(crate) name: String,
    #[serde(default, deserialize_with = "strings")]
    #[schemars(with = "Texts")]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) category: String,
    pub(crate) confidence: Text,
    pub(crate) docs: Texts,
    #[serde(default)]
    pub(crate) notes: Texts,
    pub(crate) dashboard: Dashboard,
    #[serde(default)]
    pub(crate) settings: BTreeMap<String, Setting>,
    #[serde(default)]
    pub(crate) request: Request,
    pub(crate) verify: Vec<Verify>,
    #[serde(default)]
    pub(crate) sign: Sign,
    pub(crate) event: Event,
    pub(crate) batch: Option<Batch>,
    #[serde(default)]
    pub(crate) handshake: Vec<Handshake>,
    #[serde(default)]
    pub(crate) reply: Reply,
    #[serde(default)]
    pub(crate) retry: Retry,
    #[serde(default)]
    pub(crate) samples: Vec<Sample>,
}

/// `[dashboard]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dashboard {
    pub(crate) place: String,
    pub(crate) secret: String,
    #[serde(default, deserialize_with = "strings")]
    #[schemars(with = "Texts")]
    pub(crate) steps: Vec<String>,
}

/// `[settings.NAME]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setting {
    pub(crate) description: String,
    pub(crate) default: Option<String>,
    pub(crate) example: Option<String>,
    #[serde(default)]
    pub(crate) template: bool,
    #[serde(default)]
    pub(crate) secret: bool,
}

/// `[request]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    #[serde(default)]
    pub(crate) methods: Texts,
    pub(crate) max_body: Option<Text>,
    #[serde(default)]
    pub(crate) credentials: Texts,
}

/// `[[verify]]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verify {
    pub(crate) name: Text,
    #[serde(default)]
    pub(crate) when: Texts,
    #[serde(default)]
    pub(crate) opt_in: bool,
    pub(crate) algorithm: Text,
    #[serde(default)]
    pub(crate) key: Texts,
    #[serde(default)]
    pub(crate) text: Texts,
    #[serde(default)]
    pub(crate) signature: Signature,
    #[serde(default)]
    pub(crate) allow: Texts,
    pub(crate) leeway: Option<Text>,
    pub(crate) chain: Option<Chain>,
    pub(crate) each: Option<Text>,
    pub(crate) with: Option<Text>,
    pub(crate) timestamp: Option<Timestamp>,
    #[serde(default)]
    pub(crate) require: Texts,
    pub(crate) fetch: Option<Fetch>,
}

/// `[verify.fetch]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fetch {
    pub(crate) url: Text,
    pub(crate) hosts: Texts,
    pub(crate) path: Option<Text>,
    #[serde(default)]
    pub(crate) allow_private: bool,
    pub(crate) method: Option<Text>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, Text>,
    pub(crate) json: Option<BTreeMap<String, Text>>,
    #[serde(default)]
    pub(crate) key: Texts,
    pub(crate) id: Option<Text>,
    pub(crate) chain: Option<Chain>,
    #[serde(default)]
    pub(crate) require: Texts,
    pub(crate) cache: Option<Text>,
    pub(crate) oauth: Option<OAuth>,
}

/// `oauth` of `[verify.fetch]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OAuth {
    pub(crate) url: Text,
    pub(crate) client_id: Text,
    pub(crate) client_secret: Text,
    pub(crate) scope: Option<Text>,
}

/// `[verify.signature]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signature {
    #[serde(default)]
    pub(crate) from: Texts,
    pub(crate) split: Option<Text>,
    pub(crate) pattern: Option<Text>,
    pub(crate) pairs: Option<Text>,
    pub(crate) take: Option<Text>,
    #[serde(default)]
    pub(crate) ignore_case: bool,
    #[serde(default)]
    pub(crate) repeated: bool,
    #[serde(default)]
    pub(crate) encoding: Texts,
}

/// `[verify.chain]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chain {
    #[serde(default)]
    pub(crate) roots: Texts,
    pub(crate) leaf_oid: Option<Text>,
    pub(crate) intermediate_oid: Option<Text>,
    #[serde(default)]
    pub(crate) names: Texts,
}

/// `[verify.timestamp]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timestamp {
    pub(crate) value: Text,
    pub(crate) unit: Texts,
    pub(crate) past: Text,
    pub(crate) future: Text,
}

/// `[sign]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sign {
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, Text>,
    #[serde(default)]
    pub(crate) parts: BTreeMap<String, Text>,
    #[serde(default)]
    pub(crate) claims: BTreeMap<String, Text>,
    #[serde(default)]
    pub(crate) jose: BTreeMap<String, Text>,
}

/// `[event]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Event {
    pub(crate) format: Text,
    #[serde(default)]
    pub(crate) document: Texts,
    pub(crate) id: Texts,
    #[serde(default, rename = "type")]
    pub(crate) kind: Texts,
    pub(crate) occurred_at: Option<Moment>,
    #[serde(default)]
    pub(crate) account: Texts,
    #[serde(default)]
    pub(crate) ordering_key: Texts,
    /// Of an endpoint's configuration, not of the file.
    #[serde(skip)]
    pub(crate) ordered: bool,
    /// The same.
    #[serde(skip)]
    pub(crate) version: Texts,
    #[serde(default)]
    pub(crate) volatile: Texts,
    #[serde(default, deserialize_with = "strings")]
    #[schemars(with = "Texts")]
    pub(crate) business_keys: Vec<String>,
}

/// `occurred_at` of `[event]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Moment {
    pub(crate) value: Texts,
    pub(crate) unit: Texts,
}

/// `[batch]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    #[serde(default)]
    pub(crate) when: Texts,
    pub(crate) items: Texts,
}

/// `[[handshake]]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Handshake {
    pub(crate) name: String,
    pub(crate) signed: bool,
    pub(crate) when: Texts,
    #[serde(default)]
    pub(crate) require: Texts,
    pub(crate) challenge: Option<Text>,
    pub(crate) reply: Answer,
    pub(crate) learn: Option<Text>,
    pub(crate) confirm: Option<Confirm>,
}

/// `confirm` of a handshake
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirm {
    pub(crate) url: Text,
    pub(crate) hosts: Texts,
    pub(crate) path: Option<Text>,
    #[serde(default)]
    pub(crate) allow_private: bool,
    pub(crate) method: Option<Text>,
}

/// `[reply]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reply {
    pub(crate) success: Option<Answer>,
    pub(crate) rejected: Option<u16>,
    #[serde(default)]
    pub(crate) rejected_headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) rejected_empty: bool,
    pub(crate) refused: Option<u16>,
    pub(crate) unusable: Option<u16>,
    pub(crate) deadline: Option<Text>,
}

/// An answer: `reply` of a handshake, `success` of `[reply]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: Option<Text>,
    pub(crate) json: Option<BTreeMap<String, Text>>,
    pub(crate) content_type: Option<String>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, Text>,
}

/// `[retry]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retry {
    pub(crate) window: Option<Text>,
    #[serde(default)]
    pub(crate) schedule: String,
    #[serde(default, deserialize_with = "strings")]
    #[schemars(with = "Texts")]
    pub(crate) reconcile: Vec<String>,
}

/// `[[samples]]`
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    #[serde(rename = "type")]
    pub(crate) event_type: String,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, Text>,
    pub(crate) body: Text,
}
