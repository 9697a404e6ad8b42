//! `hookgate quarantine`: requests that became no event.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::desk::Desk;
use super::filter_args::{PageArgs, ShowArgs, WhoseArgs};
use super::shown::{self, clean, or_dash, time};
use super::{Shell, out};
use crate::store::{Listed, QuarantineRecord};

/// Look at requests that became no event: genuine ones that contradict one, or from which none can be made
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
        whose: WhoseArgs,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one: why it is here, its headers, and with --body its bytes
    Show(ShowArgs),
}

/// Asks and prints.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(shell).await?;
    let ended = match &args.command {
        Command::List { whose, page } => list(&desk, whose, page).await,
        Command::Show(which) => show(&desk, which).await,
    };
    desk.close(ended).await.map(|()| ExitCode::SUCCESS)
}

async fn list(desk: &Desk, whose: &WhoseArgs, page: &PageArgs) -> anyhow::Result<()> {
    let listed = desk.operations.quarantined(&whose.filter(), &page.page()).await?;
    if page.json { shown::print_list_json("quarantine", &listed) } else { print(&listed) }
}

fn print(listed: &Listed<QuarantineRecord>) -> anyhow::Result<()> {
    let mut table =
        shown::table(["number", "received", "endpoint", "reason", "verified", "event id", "bytes", "hint"]);
    for row in &listed.rows {
        table.add_row([
            row.id.to_string(),
            time(row.received_at),
            clean(&row.endpoint),
            clean(&row.reason),
            if row.verified { "yes".into() } else { "no".into() },
            or_dash(row.event_id.as_deref()),
            row.body_bytes.to_string(),
            clean(&row.hint),
        ]);
    }
    out(format_args!("{table}"))?;
    shown::print_next(listed.next)
}

async fn show(desk: &Desk, &ShowArgs { number, body, json }: &ShowArgs) -> anyhow::Result<()> {
    let found = desk.operations.quarantined_one(number).await?;
    let found = found.with_context(|| format!("nothing in quarantine has the number {number}"))?;
    let mask = desk.mask();
    if json {
        let mut object: Value = serde_json::to_value(&found.record)?;
        object["request_id"] = json!(found.request_id);
        shown::content_json(&mut object, &found.content, &mask, body);
        out(format_args!("{object}"))?;
        return Ok(());
    }
    shown::print_fields(&found.record)?;
    shown::print_content(&found.content, &mask, body)
}
