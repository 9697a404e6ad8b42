//! `hookgate destinations`: where messages go, and whether they do.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::backlog::{age, count, table};
use super::shown::clean;
use super::{Shell, out};
use crate::config::{Destination, OnDead, Rate};
use crate::store::{self, Backlog, CircuitRecord, Ledger, Pausable, Pause, StoreError};

/// Print each destination with its kind, circuit, pause, rate, backlog, oldest age and needs review
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Asks the store and prints.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let config = shell.load(Vec::new())?.config;
    let store = store::connect(&config.database).await?;
    let asked = ask(store.ledger.as_ref()).await;
    store.close().await;
    let (backlog, circuits, pauses) = asked?;
    let lines: Vec<Line<'_>> = config
        .destinations
        .values()
        .map(|destination| Line {
            destination,
            waiting: backlog.iter().find(|row| *row.name == *destination.name).cloned().unwrap_or_default(),
            circuit: circuits.iter().find(|row| *row.destination == *destination.name),
            pause: pauses
                .iter()
                .find(|pause| pause.kind == Pausable::Destination && *pause.name == *destination.name),
        })
        .collect();
    if args.json {
        let list: Vec<Value> = lines.iter().map(Line::json).collect();
        out(format_args!("{}", json!({ "destinations": list })))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut shown =
        table(["destination", "kind", "circuit", "paused", "rate", "backlog", "oldest", "needs review"]);
    for line in &lines {
        shown.add_row(line.row());
    }
    out(format_args!("{shown}"))?;
    Ok(ExitCode::SUCCESS)
}

async fn ask(ledger: &dyn Ledger) -> Result<(Vec<Backlog>, Vec<CircuitRecord>, Vec<Pause>), StoreError> {
    Ok((ledger.backlog().await?.1, ledger.circuits().await?, ledger.pauses().await?))
}

struct Line<'a> {
    destination: &'a Destination,
    waiting: Backlog,
    /// None: it is well.
    circuit: Option<&'a CircuitRecord>,
    pause: Option<&'a Pause>,
}

impl Line<'_> {
    /// `off`, `closed`, `half_open` or `open`.
    fn state(&self) -> &str {
        match (&self.destination.flow.circuit, self.circuit) {
            (None, _) => "off",
            (_, None) => "closed",
            (_, Some(circuit)) => &circuit.state,
        }
    }

    fn row(&self) -> [String; 8] {
        let circuit = match self.circuit {
            Some(circuit) if self.state() != "off" => {
                let error = circuit.last_error.as_deref().unwrap_or("unknown");
                format!("{}, {} failures in a row, last: {error}", self.state(), circuit.failures)
            }
            _ => self.state().to_owned(),
        };
        [
            self.destination.name.to_string(),
            self.destination.kind.word().to_owned(),
            circuit,
            self.pause.map_or_else(
                || "–".to_owned(),
                |pause| pause.reason.as_deref().map_or_else(|| "yes".to_owned(), clean),
            ),
            self.destination.flow.rate.map_or_else(|| "–".to_owned(), written),
            count(self.waiting.backlog),
            age(self.waiting.oldest),
            self.waiting.needs_review.to_string(),
        ]
    }

    fn json(&self) -> Value {
        let circuit = self.circuit;
        json!({
            "destination": &*self.destination.name,
            "kind": self.destination.kind.word(),
            "circuit": self.state(),
            "failures": circuit.map_or(0, |circuit| circuit.failures),
            "last_error": circuit.and_then(|circuit| circuit.last_error.as_deref()),
            "open_until": circuit.and_then(|circuit| circuit.open_until),
            "paused": self.pause.is_some(),
            "rate": self.destination.flow.rate.map(written),
            "ordered": self.destination.flow.order.is_some(),
            "on_dead": self.destination.flow.order.map(|on_dead| match on_dead {
                OnDead::Block => "block",
                OnDead::Skip => "skip",
            }),
            "concurrency": self.destination.concurrency,
            "backlog": self.waiting.backlog,
            "oldest_seconds": self.waiting.oldest.as_secs_f64(),
            "needs_review": self.waiting.needs_review,
        })
    }
}

/// As it stands in the configuration.
fn written(rate: Rate) -> String {
    let unit = match rate.per.as_secs() {
        1 => "s",
        60 => "m",
        _ => "h",
    };
    format!("{}/{unit}", rate.count)
}
