//! `[handlers.NAME]` as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How one handler is used, wherever routes name it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawHandler {
    /// Events of `async` endpoints that it works on at once in one process. While it has no hand free, the events that
    /// its routes would take wait, and no others do.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) concurrency: usize,
}
