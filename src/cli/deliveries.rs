//! `hookgate deliveries`: messages to destinations.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::desk::Desk;
use super::filter_args::{FilterArgs, PageArgs, ShowArgs};
use super::shown::{self, clean, or_dash, time};
use super::{Shell, out};
use crate::store::{AttemptRecord, DeliveryRecord};

/// Look at messages to destinations and the attempts to deliver them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List them, the newest first
    List {
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one: its attempts, its headers, and with --body its bytes
    Show(ShowArgs),
}

/// Asks and prints.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(shell).await?;
    let ended = match &args.command {
        Command::List { filter, page } => list(&desk, filter, page).await,
        Command::Show(which) => show(&desk, which).await,
    };
    desk.close(ended).await.map(|()| ExitCode::SUCCESS)
}

async fn list(desk: &Desk, filter: &FilterArgs, page: &PageArgs) -> anyhow::Result<()> {
    let listed = desk.operations.deliveries(&filter.filter(), &page.page()).await?;
    if page.json {
        return shown::print_list_json("deliveries", &listed);
    }
    print(&listed.rows)?;
    shown::print_next(listed.next)
}

/// A table of messages.
pub(super) fn print(rows: &[DeliveryRecord]) -> anyhow::Result<()> {
    let mut table =
        shown::table(["number", "written", "destination", "type", "event id", "state", "attempts", "error"]);
    for row in rows {
        table.add_row([
            row.id.to_string(),
            time(row.created_at),
            clean(&row.destination),
            clean(&row.event_type),
            clean(&row.event_id),
            row.state.clone(),
            row.attempts.to_string(),
            or_dash(row.last_error.as_deref()),
        ]);
    }
    out(format_args!("{table}"))?;
    Ok(())
}

async fn show(desk: &Desk, &ShowArgs { number, body, json }: &ShowArgs) -> anyhow::Result<()> {
    let found = desk.operations.delivery(number).await?;
    let found = found.with_context(|| format!("no delivery has the number {number}"))?;
    let mask = desk.mask();
    if json {
        let mut object: Value = serde_json::to_value(&found.record)?;
        object["delivery_attempts"] = json!(found.attempts);
        shown::content_json(&mut object, &found.content, &mask, body);
        out(format_args!("{object}"))?;
        return Ok(());
    }
    shown::print_fields(&found.record)?;
    print_attempts(&found.attempts)?;
    shown::print_content(&found.content, &mask, body)
}

fn print_attempts(attempts: &[AttemptRecord]) -> anyhow::Result<()> {
    let mut table = shown::table(["attempt", "at", "outcome", "status", "error", "ms", "lease lost"]);
    for row in attempts {
        table.add_row([
            row.attempt.to_string(),
            time(row.attempted_at),
            row.outcome.clone(),
            row.status.map_or_else(|| "–".into(), |status| status.to_string()),
            or_dash(row.error.as_deref()),
            row.duration_ms.to_string(),
            if row.lease_lost { "yes".into() } else { "no".into() },
        ]);
    }
    out(format_args!("{table}"))?;
    Ok(())
}
