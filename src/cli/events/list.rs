//! `hookgate events list`

use std::process::ExitCode;

use crate::cli::desk::Desk;
use crate::cli::filter_args::{FilterArgs, PageArgs};
use crate::cli::out;
use crate::cli::shown::{self, clean, or_dash, time};
use crate::store::EventRecord;

/// List events, the newest first
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) async fn run(args: &Args, desk: &Desk) -> anyhow::Result<ExitCode> {
    let listed = desk.operations.events(&args.filter.filter(), &args.page.page()).await?;
    if args.page.json {
        shown::print_list_json("events", &listed)?;
    } else {
        print(&listed.rows)?;
        shown::print_next(listed.next)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(rows: &[EventRecord]) -> anyhow::Result<()> {
    let mut table = shown::table(["received", "endpoint", "type", "event id", "state", "attempts", "error"]);
    for row in rows {
        table.add_row(cells(row));
    }
    out(format_args!("{table}"))?;
    Ok(())
}

/// The columns of one event.
pub(super) fn cells(row: &EventRecord) -> [String; 7] {
    [
        time(row.received_at),
        clean(&row.endpoint),
        clean(&row.event_type),
        clean(&row.event_id),
        row.state.clone(),
        row.attempts.to_string(),
        or_dash(row.last_error.as_deref()),
    ]
}
