//! Waiting for a level instead of sleeping.

use std::time::{Duration, Instant};

/// How long a condition may take to come true before the test fails: generous, since machines are slow and shared.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again and again until `check` gives a value; fails the test after [`PATIENCE`].
pub async fn until<T>(what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = check().await {
            return value;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
