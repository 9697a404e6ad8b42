//! `hookgate events tail`

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use super::list::cells;
use crate::cli::desk::Desk;
use crate::cli::filter_args::FilterArgs;
use crate::cli::output::out_while_read;
use crate::clock::Timestamp;
use crate::store::{EventRecord, Filter, Page};

/// Print events as they come in, until it is stopped
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// Begin with this many events that are there already
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=1000))]
    limit: u32,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// An event is seen when it commits, and its time is when that began: in `sync` mode, as long ago as the work took.
const LATE: Duration = Duration::from_mins(1);

/// Rows of one look.
const LOOK: u32 = 1000;

pub(super) async fn run(args: &Args, desk: &Desk) -> anyhow::Result<ExitCode> {
    let filter = args.filter.filter();
    let mut seen = Seen { by_seq: BTreeMap::new(), from: desk.operations.now().await? };
    if args.limit > 0 {
        let before = desk.operations.events(&filter, &Page { after: None, limit: args.limit }).await?;
        for row in before.rows.iter().rev() {
            if !print(row, args.json)? {
                return Ok(ExitCode::SUCCESS);
            }
            seen.by_seq.insert(row.seq, row.received_at);
        }
    }
    loop {
        tokio::time::sleep(PAUSE).await;
        for row in new(desk, &filter, &mut seen).await? {
            if !print(&row, args.json)? {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

/// What was printed lately, and from where on to look.
struct Seen {
    by_seq: BTreeMap<i64, Timestamp>,
    from: Timestamp,
}

async fn new(desk: &Desk, filter: &Filter, seen: &mut Seen) -> anyhow::Result<Vec<EventRecord>> {
    let now = desk.operations.now().await?;
    let mut found = Vec::new();
    let mut page = Page { after: None, limit: LOOK };
    loop {
        let listed = desk.operations.events_from(filter, seen.from, &page).await?;
        let unseen = listed.rows.into_iter().filter(|row| !seen.by_seq.contains_key(&row.seq));
        found.extend(unseen);
        page.after = listed.next;
        if page.after.is_none() {
            break;
        }
    }
    seen.from = seen.from.max(now - LATE);
    let from = seen.from;
    seen.by_seq.extend(found.iter().map(|row| (row.seq, row.received_at)));
    seen.by_seq.retain(|_, at| *at >= from);
    Ok(found)
}

fn print(row: &EventRecord, json: bool) -> anyhow::Result<bool> {
    if json {
        return Ok(out_while_read(format_args!("{}", serde_json::to_string(row)?))?);
    }
    let [received, endpoint, event_type, id, state, ..] = cells(row);
    Ok(out_while_read(format_args!("{received}  {endpoint:<16} {event_type:<32} {id:<32} {state}"))?)
}
