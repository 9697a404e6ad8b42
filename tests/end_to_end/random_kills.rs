//! SIGKILL at random moments under load, each soon after the start before, with a sender that redelivers as a provider
//! does: one gateway on each engine, in each mode. The harness and the checker are those of [`super::chaos`].
//!
//! Each test kills [`KILLS`] times, all four together more than 200 times; `HOOKGATE_TEST_KILLS` sets another number.

use super::chaos::{Kills, Plot, Story};
use crate::support::database::{Engine, both_engines};

/// How often each test kills the gateway.
const KILLS: u32 = 52;

async fn sync_acknowledgements_survive_random_kills(engine: Engine) {
    survive(engine, "sync").await;
}

async fn async_acknowledgements_survive_random_kills(engine: Engine) {
    survive(engine, "async").await;
}

both_engines!(sync_acknowledgements_survive_random_kills, async_acknowledgements_survive_random_kills);

async fn survive(engine: Engine, mode: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let count = std::env::var("HOOKGATE_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let story = Story { plot: Plot::Kills(Kills { count, pause: 5..600 }), ..Story::small(engine, mode) };
    let told = story.run(folder.path()).await;
    told.print(&format!("{engine:?} {mode}, seed {}", story.seed));
    told.assert_well();
}
