//! The tables of `hookgate top`.

use std::time::Duration;

use super::figures::{DestinationLine, EndpointLine, Figures, Waiting};
use crate::cli::shown::{self, clean};

/// The whole picture as text.
pub(super) fn draw(figures: &Figures) -> String {
    let mut endpoints = shown::table([
        "endpoint",
        "events/s",
        "duplicates",
        "rejected/s",
        "failed/s",
        "reply p99",
        "lag p99",
        "backlog",
        "oldest",
        "review",
    ]);
    for line in &figures.endpoints {
        endpoints.add_row(endpoint(line));
    }
    let mut destinations = shown::table([
        "destination",
        "delivered/s",
        "failed/s",
        "attempt p99",
        "backlog",
        "oldest",
        "review",
    ]);
    for line in &figures.destinations {
        destinations.add_row(destination(line));
    }
    let [up, all] = figures.gateways;
    format!(
        "gateways: {up} of {all}; rates over {:.0} s; backlogs as of the gateways' last look\n{endpoints}\n{destinations}",
        figures.seconds
    )
}

fn endpoint(line: &EndpointLine) -> Vec<String> {
    let mut cells = vec![
        clean(&line.endpoint),
        rate(line.events),
        line.duplicates.map_or_else(dash, |share| format!("{:.1} %", share * 100.0)),
        rate(line.rejected),
        rate(line.failed),
        seconds(line.reply_p99),
        seconds(line.lag_p99),
    ];
    cells.extend(waiting(&line.waiting));
    cells
}

fn destination(line: &DestinationLine) -> Vec<String> {
    let mut cells =
        vec![clean(&line.destination), rate(line.delivered), rate(line.failed), seconds(line.attempt_p99)];
    cells.extend(waiting(&line.waiting));
    cells
}

fn waiting(waiting: &Waiting) -> [String; 3] {
    let count = |count: Option<f64>| count.map_or_else(dash, |count| format!("{count:.0}"));
    [count(waiting.backlog), seconds(waiting.oldest.filter(|age| *age > 0.0)), count(waiting.needs_review)]
}

fn rate(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        slow if slow < 10.0 => format!("{slow:.2}"),
        fast => format!("{fast:.0}"),
    }
}

/// Two digits are enough to see.
fn seconds(seconds: Option<f64>) -> String {
    let Some(time) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) else {
        return dash();
    };
    match time.as_secs() {
        0 => format!("{time:.1?}"),
        whole if whole < 10 => format!("{:.1} s", time.as_secs_f64()),
        whole => humantime::format_duration(Duration::from_secs(whole)).to_string(),
    }
}

fn dash() -> String {
    "-".to_owned()
}
