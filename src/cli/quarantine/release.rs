//! `hookgate quarantine release`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{bail, ensure};
use serde_json::json;

use super::super::desk::Desk;
use super::super::filter_args::{OrderArgs, moment};
use super::super::shown::clean;
use super::super::{out, warn};
use crate::clock::{Clock, SystemClock, Timestamp};
use crate::egress::Network;
use crate::keys::{Keys, LearnedKeys};
use crate::receive::{Release, Releaser};
use crate::store::{Filter, Page, QuarantineRecord, ReleaseOrder};

/// Requests that are read at once.
const PAGE: u32 = 100;

/// Which requests are to be released.
#[derive(Debug, clap::Args)]
pub(super) struct ReleaseArgs {
    /// One request, by its number in the list
    #[arg(value_name = "NUMBER", conflicts_with = "id")]
    number: Option<i64>,
    /// The same
    #[arg(long, value_name = "NUMBER")]
    id: Option<i64>,
    /// Of this provider
    #[arg(long, value_name = "ID")]
    provider: Option<String>,
    /// Of this endpoint
    #[arg(long, value_name = "NAME")]
    endpoint: Option<String>,
    /// Rejected for this reason
    #[arg(long, value_name = "REASON")]
    reason: Option<String>,
    /// Received since: `2h` (ago) or `2026-01-31T12:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<Timestamp>,
    /// Received before
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<Timestamp>,
    #[command(flatten)]
    order: OrderArgs,
}

/// What came of an order.
#[derive(Default)]
struct Total {
    released: u64,
    new: usize,
    known: usize,
    /// By reason: how many, and what the last of them was told.
    stays: BTreeMap<&'static str, (u64, String)>,
    other_endpoints: u64,
}

/// Looks at every one first; then, if that was not all, releases those that are genuine.
pub(super) async fn run(desk: &Desk, args: &ReleaseArgs) -> anyhow::Result<ExitCode> {
    let releaser = Releaser::new(
        Arc::clone(&desk.operations),
        (Keys::new(&Network::default()), LearnedKeys::new(desk.learned())),
        Arc::new(SystemClock) as Arc<dyn Clock>,
        desk.config.server.public_url.clone(),
    );
    if let Some(number) = args.number.or(args.id) {
        return one(desk, &releaser, number, &args.order).await;
    }
    let filter = Filter {
        provider: args.provider.clone(),
        endpoint: args.endpoint.clone(),
        reason: args.reason.clone(),
        since: args.since,
        until: args.until,
        ..Filter::default()
    };
    let filter = args.order.narrow(filter)?;
    // What comes from now on is not meant.
    let until = desk.operations.now().await?;
    let filter = Filter { until: Some(filter.until.map_or(until, |asked| asked.min(until))), ..filter };
    let found = walk(desk, &releaser, &filter, None).await?;
    if args.order.dry_run || found.released == 0 {
        report(&found, "genuine", args.order.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.released > 1 && !args.order.yes {
        report(&found, "genuine", args.order.json)?;
        warn(format_args!("nothing was done: these are several; add --yes"));
        return Ok(ExitCode::FAILURE);
    }
    let order = ordered(desk, &args.order, json!(filter)).await?;
    let done = walk(desk, &releaser, &filter, Some(&order)).await?;
    report(&done, "released", args.order.json)?;
    Ok(ExitCode::SUCCESS)
}

async fn ordered(desk: &Desk, args: &OrderArgs, what: serde_json::Value) -> anyhow::Result<ReleaseOrder> {
    let who = args.who();
    let audit = desk.operations.audit(&who, "quarantine.release", &what.to_string()).await?;
    Ok(ReleaseOrder { who, audit })
}

async fn one(desk: &Desk, releaser: &Releaser, number: i64, args: &OrderArgs) -> anyhow::Result<ExitCode> {
    let Some(found) = desk.operations.quarantined_one(number).await? else {
        bail!("nothing in quarantine has the number {number}");
    };
    let record = &found.record;
    if let Some(at) = record.released_at {
        bail!("{number} was released at {at} by {}", record.released_by.as_deref().unwrap_or("somebody"));
    }
    ensure!(
        record.reason != "conflict",
        "{number} contradicts an event that is there; the first one stays, and nothing can release the second"
    );
    let order =
        if args.dry_run { None } else { Some(ordered(desk, args, json!({ "number": number })).await?) };
    let mut total = Total::default();
    add(desk, releaser, record, order.as_ref(), &mut total).await?;
    report(&total, if order.is_some() { "released" } else { "genuine" }, args.json)?;
    Ok(if total.released == 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The oldest first, so that events go on in the order in which they came.
async fn walk(
    desk: &Desk,
    releaser: &Releaser,
    filter: &Filter,
    order: Option<&ReleaseOrder>,
) -> anyhow::Result<Total> {
    let mut total = Total::default();
    let mut page = Page { after: None, limit: PAGE };
    loop {
        let listed = desk.operations.unreleased(filter, &page).await?;
        for record in &listed.rows {
            add(desk, releaser, record, order, &mut total).await?;
        }
        let Some(next) = listed.next else { return Ok(total) };
        page.after = Some(next);
    }
}

async fn add(
    desk: &Desk,
    releaser: &Releaser,
    record: &QuarantineRecord,
    order: Option<&ReleaseOrder>,
    total: &mut Total,
) -> anyhow::Result<()> {
    let endpoint = desk.config.endpoints.get(&record.endpoint);
    let Some(endpoint) = endpoint.filter(|endpoint| **endpoint.provider.id() == *record.provider) else {
        total.other_endpoints += 1;
        return Ok(());
    };
    // Bodies are read one by one.
    let Some(kept) = desk.operations.quarantined_one(record.id).await? else { return Ok(()) };
    let release = match order {
        Some(order) => releaser.release(endpoint, &kept, order).await?,
        None => releaser.examine(endpoint, &kept).await?,
    };
    match release {
        Release::Released { new, known } => {
            total.released += 1;
            total.new += new;
            total.known += known;
        }
        Release::Stays { reason, detail: why } => {
            let (count, detail) = total.stays.entry(reason).or_default();
            *count += 1;
            *detail = why;
        }
        Release::Gone => {}
    }
    Ok(())
}

fn report(total: &Total, word: &str, json: bool) -> anyhow::Result<()> {
    if json {
        let stays: BTreeMap<_, _> = total.stays.iter().map(|(reason, (count, _))| (reason, count)).collect();
        let object = json!({
            word: total.released,
            "events": total.new,
            "duplicates": total.known,
            "stays": stays,
            "no_such_endpoint": total.other_endpoints,
        });
        out(format_args!("{object}"))?;
        return Ok(());
    }
    out(format_args!("{} {word}: {} events, {} known before", total.released, total.new, total.known))?;
    for (reason, (count, detail)) in &total.stays {
        out(format_args!("{count} stay: {reason} ({})", clean(detail)))?;
    }
    if total.other_endpoints > 0 {
        out(format_args!("{} stay: the configuration has no such endpoint", total.other_endpoints))?;
    }
    Ok(())
}
