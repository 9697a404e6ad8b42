//! `[outbox]` as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DurationText;

/// How messages are delivered.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawOutbox {
    /// How long a claim lasts before another worker may take over. 1s to 1h.
    pub(crate) lease: DurationText,
    /// One delivery, from connecting to the end of the reply; a destination's `timeout` wins over it. At most nine
    /// tenths of the lease.
    pub(crate) work_timeout: DurationText,
    /// Failures after which a message needs review; a destination may say otherwise.
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) max_attempts: u32,
    /// The cap of the delay: `least(cap, 2^attempts seconds) * random()`; a destination may say otherwise. 1s to 1d.
    pub(crate) backoff_cap: DurationText,
    /// A message that is older needs review instead of another attempt; a destination may say otherwise. At least
    /// 1m.
    pub(crate) max_age: DurationText,
    /// Deliveries at once by this process, beside one for each destination that no other can take.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) concurrency: usize,
    /// How often to look for due messages without being woken. 10ms to 1m.
    pub(crate) poll_interval: DurationText,
}

impl Default for RawOutbox {
    fn default() -> Self {
        Self {
            lease: "2m".into(),
            work_timeout: "15s".into(),
            max_attempts: 20,
            backoff_cap: "1h".into(),
            max_age: "3d".into(),
            concurrency: 32,
            poll_interval: "1s".into(),
        }
    }
}
