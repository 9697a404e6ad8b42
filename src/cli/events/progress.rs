//! Watching replays to their end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use indicatif::ProgressBar;
use serde_json::json;

use crate::cli::desk::Desk;
use crate::cli::{out, shown, warn};
use crate::store::ReplayRecord;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(300);

/// After so long without a step, somebody should be told.
const PATIENCE: Duration = Duration::from_secs(15);

/// Until all of them have ended. 0 if every event was done.
pub(super) async fn watch(desk: &Desk, numbers: &[i64], json: bool) -> anyhow::Result<ExitCode> {
    let bar = ProgressBar::new(0); // draws only on a terminal
    let mut idle = Idle { steps: -1, since: Instant::now(), told: false };
    let replays = loop {
        let replays = read(desk, numbers).await?;
        let steps: i64 = replays.iter().map(|replay| replay.done + replay.failed).sum();
        bar.set_length(replays.iter().map(|replay| replay.total.cast_unsigned()).sum());
        bar.set_position(steps.cast_unsigned());
        if replays.iter().all(|replay| replay.finished_at.is_some()) {
            break replays;
        }
        idle.look(steps);
        tokio::time::sleep(PAUSE).await;
    };
    bar.finish_and_clear();
    if json {
        out(format_args!("{}", json!({ "replays": replays })))?;
    } else {
        print(&replays)?;
    }
    let good = replays.iter().all(|replay| replay.failed == 0 && replay.outcome.as_deref() == Some("done"));
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn read(desk: &Desk, numbers: &[i64]) -> anyhow::Result<Vec<ReplayRecord>> {
    let mut replays = Vec::new();
    for &number in numbers {
        let Some(replay) = desk.operations.replays(Some(number)).await?.pop() else {
            bail!("there is no replay {number}");
        };
        replays.push(replay);
    }
    Ok(replays)
}

/// A replay that nobody works off.
struct Idle {
    steps: i64,
    since: Instant,
    told: bool,
}

impl Idle {
    fn look(&mut self, steps: i64) {
        if steps != self.steps {
            (self.steps, self.since) = (steps, Instant::now());
        } else if !self.told && self.since.elapsed() > PATIENCE {
            self.told = true;
            warn(format_args!(
                "no step for {} s; is a gateway running? It stays ordered if you leave; --cancel ends it",
                PATIENCE.as_secs()
            ));
        }
    }
}

fn print(replays: &[ReplayRecord]) -> anyhow::Result<()> {
    let mut table = shown::table(["replay", "endpoint", "ended", "done", "failed", "of"]);
    for replay in replays {
        table.add_row([
            replay.id.to_string(),
            shown::clean(&replay.endpoint),
            shown::or_dash(replay.outcome.as_deref()),
            replay.done.to_string(),
            replay.failed.to_string(),
            replay.total.to_string(),
        ]);
    }
    out(format_args!("{table}"))?;
    for replay in replays {
        if let Some(error) = &replay.error {
            warn(format_args!("replay {}: {}", replay.id, shown::clean(error)));
        }
        for (event, code) in &replay.failures {
            warn(format_args!("replay {}: {}: {code}", replay.id, shown::clean(event)));
        }
    }
    Ok(())
}
