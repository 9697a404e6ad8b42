//! What the log says of circuits, the same for both engines.

use std::time::Duration;

use tracing::{info, warn};

/// A destination is left alone for this long; `seconds` is NULL if its circuit is still closed.
pub(super) fn failed(destination: &str, seconds: Option<f64>, code: &str) {
    if let Some(open) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        let open_ms = u64::try_from(open.as_millis()).unwrap_or(u64::MAX);
        warn!(destination, open_ms, error = code, "circuit.opened");
    }
}

/// One message is on its way, to see whether the destination is well again.
pub(super) fn probed(destination: &str, message_id: &str) {
    info!(destination, message_id, "circuit.half_open");
}

/// The destination has answered.
pub(super) fn answered(destination: &str, was_open: Option<bool>) {
    if was_open == Some(true) {
        info!(destination, "circuit.closed");
    }
}
