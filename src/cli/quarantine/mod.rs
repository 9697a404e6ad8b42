//! `hookgate quarantine`: requests that became no event.

mod release;

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::desk::Desk;
use super::filter_args::{PageArgs, ShowArgs, WhoseArgs};
use super::shown::{self, clean, or_dash, time};
use super::{Shell, out};
use crate::store::{Filter, Listed, QuarantineRecord};
use release::ReleaseArgs;

/// Look at requests that became no event, and release those that are genuine after all: rejected ones, genuine ones
/// that contradict an event, or from which none can be made
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
        /// Rejected for this reason, or `conflict`
        #[arg(long, value_name = "REASON")]
        reason: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one: why it is here, its headers, and with --body its bytes
    Show(ShowArgs),
    /// Verify again, by the configuration of today and as of the moment when they came; what is genuine becomes events,
    /// which the workers of running gateways work off, also those of endpoints in `sync` mode
    Release(ReleaseArgs),
}

/// Asks and prints.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(shell).await?;
    let ended = match &args.command {
        Command::List { whose, reason, page } => {
            let filter = Filter { reason: reason.clone(), ..whose.filter() };
            list(&desk, &filter, page).await
        }
        Command::Show(which) => show(&desk, which).await,
        Command::Release(args) => release::run(&desk, args).await,
    };
    desk.close(ended).await
}

async fn list(desk: &Desk, filter: &Filter, page: &PageArgs) -> anyhow::Result<ExitCode> {
    let listed = desk.operations.quarantined(filter, &page.page()).await?;
    if page.json {
        shown::print_list_json("quarantine", &listed)?;
    } else {
        print(&listed)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(listed: &Listed<QuarantineRecord>) -> anyhow::Result<()> {
    let mut table = shown::table([
        "number", "received", "endpoint", "reason", "verified", "request", "peer", "copies", "bytes",
        "released", "hint",
    ]);
    for row in &listed.rows {
        let (method, url) =
            (row.method.as_deref().unwrap_or_default(), row.url.as_deref().unwrap_or_default());
        let released = match (row.released_at, &row.checked_reason) {
            (Some(at), _) => time(at),
            (None, Some(reason)) => format!("no: {}", clean(reason)),
            (None, None) => "no".into(),
        };
        table.add_row([
            row.id.to_string(),
            time(row.received_at),
            clean(&row.endpoint),
            clean(&row.reason),
            if row.verified { "yes".into() } else { "no".into() },
            or_dash(Some(format!("{method} {url}").trim()).filter(|request| !request.is_empty())),
            or_dash(row.peer.as_deref()),
            row.copies.to_string(),
            row.body_bytes.to_string(),
            released,
            clean(row.hint.as_deref().unwrap_or(&row.detail)),
        ]);
    }
    out(format_args!("{table}"))?;
    shown::print_next(listed.next)
}

async fn show(desk: &Desk, &ShowArgs { number, body, json }: &ShowArgs) -> anyhow::Result<ExitCode> {
    let found = desk.operations.quarantined_one(number).await?;
    let found = found.with_context(|| format!("nothing in quarantine has the number {number}"))?;
    let mask = desk.mask();
    if json {
        let mut object: Value = serde_json::to_value(&found.record)?;
        object["request_id"] = json!(found.request_id);
        shown::content_json(&mut object, &found.content, &mask, body);
        out(format_args!("{object}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    shown::print_fields(&found.record)?;
    shown::print_content(&found.content, &mask, body)?;
    Ok(ExitCode::SUCCESS)
}
