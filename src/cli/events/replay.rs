//! `hookgate events replay`

use std::process::ExitCode;

use anyhow::{bail, ensure};
use serde_json::json;

use super::progress;
use super::show::the_one;
use crate::cli::desk::Desk;
use crate::cli::filter_args::{FilterArgs, OrderArgs, who};
use crate::cli::{out, shown, warn};
use crate::config::{Action, Config};
use crate::store::{Filter, NewReplay, Replayable, State};

/// Work again on events that are done
///
/// Their rows stay as they are; handlers and deliveries run as they did, in a running gateway, event by event in the
/// order of arrival. Handlers and destinations see the same ids as before.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The event
    #[arg(value_name = "EVENT_ID", conflicts_with = "id")]
    event: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Only this route: a handler's name, `forward`, or `forward:DESTINATION`
    #[arg(long, value_name = "NAME")]
    route: Option<String>,
    /// Give deliveries a webhook-id of their own, so that receivers do not take them for known
    #[arg(long)]
    new_id: bool,
    /// Events a second, of each endpoint [default: as fast as they are done]
    #[arg(long, value_name = "N", value_parser = rate)]
    rate: Option<f64>,
    /// Do not wait for the end
    #[arg(long)]
    detach: bool,
    /// Watch a replay that was ordered before
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["cancel", "event", "detach"])]
    watch: Option<i64>,
    /// End a replay that was ordered before
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["event", "detach"])]
    cancel: Option<i64>,
    #[command(flatten)]
    order: OrderArgs,
}

pub(super) async fn run(args: &Args, desk: &Desk) -> anyhow::Result<ExitCode> {
    if let Some(number) = args.cancel {
        return cancel(args, desk, number).await;
    }
    if let Some(number) = args.watch {
        return progress::watch(desk, &[number], args.order.json).await;
    }
    let filter = args.filter.filter();
    let filter = args.order.narrow(Filter { id: args.event.clone().or(filter.id), ..filter })?;
    if let Some(State::Pending | State::Leased | State::Dead) = filter.state {
        bail!("only events that are done can be replayed; for dead ones there is `hookgate dead redrive`");
    }
    if filter.id.is_some() {
        check_the_one(desk, &filter).await?;
    }
    let counted = desk.operations.replayable(&filter).await?;
    check_routes(args.route.as_deref(), &counted, &desk.config)?;
    let total: i64 = counted.iter().map(|row| row.events).sum();
    let alone = total == 1 && filter.id.is_some();
    if args.order.dry_run || total == 0 || !(alone || args.order.yes) {
        print_counts(&counted, args.order.json)?;
        if args.order.dry_run || total == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        warn(format_args!("nothing was ordered: add --yes to replay these"));
        return Ok(ExitCode::FAILURE);
    }
    order(args, desk, &filter, &counted).await
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: Option<f64> = text.parse().ok();
    rate.filter(|rate| (0.001..=100_000.0).contains(rate))
        .ok_or_else(|| "expected events a second, from 0.001 to 100000".into())
}

async fn cancel(args: &Args, desk: &Desk, number: i64) -> anyhow::Result<ExitCode> {
    let ended = desk.operations.cancel_replay(number, &who(args.order.who.as_deref())).await?;
    let known = desk.operations.replays(Some(number)).await?.pop();
    let Some(replay) = known else { bail!("there is no replay {number}") };
    if args.order.json {
        out(format_args!("{}", json!(replay)))?;
    } else if ended {
        let (done, total) = (replay.done, replay.total);
        out(format_args!("replay {number}: cancelled after {done} of {total} events"))?;
    } else {
        warn(format_args!("replay {number} had ended: {}", replay.outcome.unwrap_or_default()));
    }
    Ok(if ended { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What keeps one named event from being replayed.
async fn check_the_one(desk: &Desk, filter: &Filter) -> anyhow::Result<()> {
    let record = the_one(desk, &Filter { state: None, ..filter.clone() }).await?;
    let (id, state) = (&record.event_id, record.state.as_str());
    match state {
        "dead" => bail!("{id} was never done, it is dead: use `hookgate dead redrive {id}`"),
        "pending" | "leased" => bail!("{id} is not done yet, it is {state}: there is nothing to repeat"),
        "superseded" if filter.state.is_none() => {
            bail!(
                "{id} came after a newer event of its key and was not worked on: --state superseded does it all the same"
            )
        }
        _ => {}
    }
    let counted = desk.operations.replayable(filter).await?;
    ensure!(
        counted.iter().all(|row| row.payload_gone == 0),
        "the payload of {id} is gone (`retention.payload`): it cannot be replayed"
    );
    Ok(())
}

/// Every endpoint must be served, and have the route that is asked for.
fn check_routes(route: Option<&str>, counted: &[Replayable], config: &Config) -> anyhow::Result<()> {
    for Replayable { endpoint, .. } in counted {
        ensure!(
            config.endpoints.contains_key(endpoint),
            "no endpoint of this configuration is named {endpoint}: nobody would work on its events"
        );
        if let Some(proxied) = config.endpoints.get(endpoint).and_then(|endpoint| endpoint.proxied()) {
            bail!(
                "{endpoint} is a proxy: nobody waits for the answer of {proxied} any more, so nothing is replayed"
            );
        }
        let names = routes_of(endpoint, config);
        if let Some(route) = route
            && !names
                .iter()
                .any(|name| name == route || route.split_once('#').is_some_and(|(r, _)| r == name))
        {
            bail!("{endpoint} has no route `{route}`; it has: {}", names.join(", "));
        }
    }
    Ok(())
}

fn routes_of(endpoint: &str, config: &Config) -> Vec<String> {
    let mut names = Vec::new();
    for route in config.routes.iter().filter(|route| route.endpoints.iter().any(|name| **name == *endpoint)) {
        match &route.action {
            Action::Handler(name) => names.push(name.clone()),
            Action::Sql(module) => names.push(module.name.clone()),
            Action::Forward => {
                names.push("forward".into());
                names.extend(route.destinations.iter().map(|to| format!("forward:{to}")));
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

fn print_counts(counted: &[Replayable], json: bool) -> anyhow::Result<()> {
    if json {
        out(format_args!("{}", json!({ "matched": counted })))?;
        return Ok(());
    }
    if counted.is_empty() {
        out(format_args!("no event that is done matches"))?;
        return Ok(());
    }
    let mut table = shown::table(["endpoint", "events", "payload gone"]);
    for row in counted {
        table.add_row([shown::clean(&row.endpoint), row.events.to_string(), row.payload_gone.to_string()]);
    }
    out(format_args!("{table}"))?;
    Ok(())
}

/// One replay for each endpoint: each is worked off by a gateway that serves it.
async fn order(
    args: &Args,
    desk: &Desk,
    filter: &Filter,
    counted: &[Replayable],
) -> anyhow::Result<ExitCode> {
    let mut numbers = Vec::new();
    for Replayable { endpoint, events, .. } in counted {
        let replay = NewReplay {
            endpoint: endpoint.clone(),
            filter: filter.clone(),
            route: args.route.clone(),
            new_ids: args.new_id,
            rate: args.rate,
            who: args.order.who(),
            total: *events,
        };
        let number = desk.operations.order_replay(&replay).await?;
        if !args.order.json {
            out(format_args!("replay {number}: {events} events of {endpoint}"))?;
        }
        numbers.push(number);
    }
    if args.detach {
        if args.order.json {
            out(format_args!("{}", json!({ "ordered": numbers })))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    progress::watch(desk, &numbers, args.order.json).await
}
