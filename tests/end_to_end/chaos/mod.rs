//! Two gateways on one PostgreSQL to which everything happens at once, and the checker that judges what came of it.
//!
//! They are killed, frozen and cut off from the database under load; events end the process that works on them, others
//! fail or are slow; one destination is a black hole, another answers too late; providers redeliver, send twice, hang
//! up, and are impersonated. `tests/nightly/README.md` says how to let it run for longer.

mod checker;
mod herd;
mod history;
mod kinds;
mod senders;
mod setting;
mod story;
mod targets;

use crate::support::database::Engine;
use checker::Strictness;
use herd::End;
use kinds::Kind;
use setting::{ASYNC, SYNC};

pub use story::{Kills, Plot, Story};

/// The bounded version: its seed, its load in seconds, and its kills.
const SEED: u64 = 4;
const SECONDS: u64 = 24;
const KILLS: u32 = 8;

#[tokio::test]
async fn two_gateways_keep_every_promise_through_kills_poison_and_bad_destinations() {
    let seconds = number("HOOKGATE_TEST_CHAOS_SECONDS", SECONDS);
    let kills = number("HOOKGATE_TEST_CHAOS_KILLS", u64::from(KILLS)).max(1);
    let pause = 1_000 * seconds / kills;
    let story = Story {
        engine: Engine::Postgres,
        gateways: 2,
        endpoints: vec![SYNC, ASYNC],
        kinds: Kind::any,
        plot: Plot::Everything(Kills {
            count: kills.try_into().expect("not that many kills"),
            pause: pause / 2..pause * 3 / 2 + 1,
        }),
        seed: number("HOOKGATE_TEST_CHAOS_SEED", SEED),
        senders: number("HOOKGATE_TEST_CHAOS_SENDERS", 8),
        pace: 10..60,
        strictness: Strictness { crashes_may_hit_anybody: false },
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = story.run(folder.path()).await;
    told.print(&format!("chaos: seed {}, {seconds} s of load", story.seed));
    if !told.report.broken().is_empty() {
        eprintln!("the files of this story are kept in {}", folder.keep().display());
    }
    told.assert_well();
    assert_eq!(told.ends(End::Killed), usize::try_from(kills).expect("a number"));
    assert!(told.report.number("events acknowledged") > 20, "next to nothing was sent");
    assert!(told.ends(End::Aborted) > 0, "no poison event has crashed anything");
}

#[tokio::test]
async fn a_poison_event_takes_no_slow_neighbour_with_it() {
    let story = Story {
        kinds: |_| Kind::Slow,
        plot: Plot::Poison,
        strictness: Strictness { crashes_may_hit_anybody: false },
        ..Story::small(Engine::Postgres, "async")
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = story.run(folder.path()).await;
    told.print("one poison event among slow ones");
    told.assert_well();
    assert_eq!(told.ends(End::Aborted), 5, "it is tried five times");
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .ok()
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}
