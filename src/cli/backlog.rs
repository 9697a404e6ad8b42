//! `hookgate backlog`: what waits, and for how long.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use comfy_table::Table;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use serde_json::{Value, json};

use super::{Shell, out};
use crate::store::{self, BACKLOG_CAP, Backlog, Ledger};

/// The window of the duplicate rate, in full hours before the running one.
const HOURS: u32 = 24;

/// Print backlog, oldest age, needs review, duplicate rate per endpoint, and events per type in the last hour
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
    let report =
        Report::read(store.ledger.as_ref(), config.endpoints.keys(), config.destinations.keys()).await;
    store.close().await;
    let report = report?;
    if args.json {
        out(format_args!("{}", report.json()))?;
    } else {
        report.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Report {
    inbox: Vec<Backlog>,
    outbox: Vec<Backlog>,
    /// Verified events and duplicates by endpoint.
    counts: BTreeMap<String, (u64, u64)>,
    /// Endpoint, type, events of the last hour.
    types: Vec<(String, String, i64)>,
}

impl Report {
    async fn read(
        ledger: &dyn Ledger,
        endpoints: impl Iterator<Item = &String>,
        destinations: impl Iterator<Item = &String>,
    ) -> anyhow::Result<Self> {
        let (mut inbox, mut outbox) = ledger.backlog().await?;
        add_missing(&mut inbox, endpoints);
        add_missing(&mut outbox, destinations);
        let counts = ledger.event_counts(HOURS).await?;
        let counts =
            counts.into_iter().map(|(endpoint, events, copies)| (endpoint, (events, copies))).collect();
        Ok(Self { inbox, outbox, counts, types: ledger.event_types().await? })
    }

    fn json(&self) -> Value {
        let inbox: Vec<Value> = self
            .inbox
            .iter()
            .map(|row| {
                let (events, duplicates) = self.counts.get(&row.name).copied().unwrap_or_default();
                let mut line = waiting("endpoint", row);
                line["events_24h"] = json!(events);
                line["duplicates_24h"] = json!(duplicates);
                line["duplicate_rate"] = json!(rate(events, duplicates));
                line
            })
            .collect();
        let outbox: Vec<Value> = self.outbox.iter().map(|row| waiting("destination", row)).collect();
        let types: Vec<Value> = self.types.iter()
            .map(|(endpoint, event_type, events)| json!({"endpoint": endpoint, "type": event_type, "events": events}))
            .collect();
        json!({ "inbox": inbox, "outbox": outbox, "types_last_hour": types })
    }

    fn print(&self) -> anyhow::Result<()> {
        let mut inbox = table([
            "endpoint",
            "unprocessed",
            "backlog",
            "oldest",
            "needs review",
            "events, 24 h",
            "duplicates",
        ]);
        for row in &self.inbox {
            let (events, duplicates) = self.counts.get(&row.name).copied().unwrap_or_default();
            let share =
                rate(events, duplicates).map_or_else(|| "–".into(), |rate| format!("{:.1} %", rate * 100.0));
            inbox.add_row([
                row.name.clone(),
                count(row.backlog + row.dead),
                count(row.backlog),
                age(row.oldest),
                row.needs_review.to_string(),
                events.to_string(),
                share,
            ]);
        }
        out(format_args!("{inbox}"))?;
        let mut outbox = table(["destination", "backlog", "oldest", "needs review"]);
        for row in &self.outbox {
            outbox.add_row([
                row.name.clone(),
                count(row.backlog),
                age(row.oldest),
                row.needs_review.to_string(),
            ]);
        }
        out(format_args!("{outbox}"))?;
        let mut types = table(["endpoint", "type", "events, last hour"]);
        for (endpoint, event_type, events) in &self.types {
            types.add_row([endpoint.clone(), event_type.clone(), events.to_string()]);
        }
        out(format_args!("{types}"))?;
        Ok(())
    }
}

/// Configured names of which no row is waiting have nothing waiting.
fn add_missing<'a>(rows: &mut Vec<Backlog>, names: impl Iterator<Item = &'a String>) {
    for name in names {
        if !rows.iter().any(|row| row.name == *name) {
            rows.push(Backlog { name: name.clone(), ..Backlog::default() });
        }
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
}

fn waiting(kind: &str, row: &Backlog) -> Value {
    json!({
        kind: row.name,
        "backlog": row.backlog,
        "oldest_seconds": row.oldest.as_secs_f64(),
        "needs_review": row.needs_review,
        "unprocessed": row.backlog + row.dead,
    })
}

fn rate(events: u64, duplicates: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a share, shown with one decimal")]
    (events > 0).then(|| duplicates as f64 / events as f64)
}

pub(super) fn count(rows: i64) -> String {
    if rows >= BACKLOG_CAP { format!("{} or more", BACKLOG_CAP - 1) } else { rows.to_string() }
}

pub(super) fn age(oldest: Duration) -> String {
    if oldest.is_zero() {
        "–".into()
    } else {
        humantime::format_duration(Duration::from_secs(oldest.as_secs())).to_string()
    }
}

pub(super) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_header(header);
    table
}
