//! Strings with a meaning, so that the schema can say it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration: numbers with units, `ms`, `s`, `m`, `h`, `d`, `w`, `months` or `y`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["30s", "2m", "1h 30m", "30d"]))]
pub(crate) struct DurationText(pub(crate) String);

impl From<&str> for DurationText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// A size: a whole number with a unit, `B`, `kB`, `KiB`, `MB`, `MiB`, `GB` or `GiB`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["512KiB", "1MiB"]))]
pub(crate) struct SizeText(pub(crate) String);

/// A reference to a secret: `env:NAME`, `file:PATH` or `literal:VALUE`.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("writeOnly" = true, "examples" = ["env:STRIPE_WEBHOOK_SECRET", "file:/run/secrets/stripe"]))]
pub(crate) struct SecretText(pub(crate) String);

/// May be a secret's own value, written there by mistake.
impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText(…)")
    }
}
