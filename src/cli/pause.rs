//! `hookgate pause`, `resume` and `pauses`: what operators hold back, at all gateways of one database.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::desk::Desk;
use super::filter_args::who;
use super::shown::{self, clean, or_dash, time};
use super::{Shell, out};
use crate::config::{Config, Mode, Route, suggest};
use crate::store::{Pausable, Pause};

/// Hold back an endpoint's events, the events of a handler, or a destination's messages, until it is resumed
#[derive(Debug, clap::Args)]
pub struct PauseArgs {
    #[command(flatten)]
    what: WhatArgs,
    /// Why, for those who find it paused
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Let go on what is paused
#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    what: WhatArgs,
}

/// List what is paused: since when, by whom and why
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct WhatArgs {
    /// `endpoint`, `handler` or `destination`
    #[arg(value_name = "KIND", value_parser = kind)]
    kind: Pausable,
    /// Its name
    name: String,
    /// Who orders it, for the audit log [default: the user of this session]
    #[arg(long = "as", value_name = "NAME")]
    who: Option<String>,
}

fn kind(word: &str) -> Result<Pausable, String> {
    Pausable::ALL
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .ok_or_else(|| "expected endpoint, handler or destination".into())
}

/// Pauses.
pub async fn pause(args: &PauseArgs, shell: &Shell) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(shell).await?;
    let ended = start(&desk, args).await;
    desk.close(ended).await.map(|()| ExitCode::SUCCESS)
}

async fn start(desk: &Desk, PauseArgs { what, reason }: &PauseArgs) -> anyhow::Result<()> {
    let (kind, name) = (what.kind, &what.name);
    let known = names(&desk.config, kind);
    if !known.contains(name.as_str()) {
        bail!("there is no {} {name:?}: {}", kind.as_str(), suggest(name, known.into_iter()));
    }
    let is_new = desk.operations.pause(kind, name, &who(what.who.as_deref()), reason.as_deref()).await?;
    let state = if is_new { "is paused" } else { "was paused already" };
    out(format_args!("{} {name} {state}", kind.as_str()))?;
    for endpoint in in_sync_mode(&desk.config, kind, name) {
        out(format_args!(
            "endpoint {endpoint} is in sync mode, where nothing can wait: its provider is answered 503, and sends again"
        ))?;
    }
    Ok(())
}

/// Lets it go on.
pub async fn resume(ResumeArgs { what }: &ResumeArgs, shell: &Shell) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(shell).await?;
    let ended = end(&desk, what).await;
    desk.close(ended).await.map(|()| ExitCode::SUCCESS)
}

/// What the configuration no longer has can still be paused, and so resumed.
async fn end(desk: &Desk, what: &WhatArgs) -> anyhow::Result<()> {
    let (kind, name) = (what.kind, &what.name);
    if desk.operations.resume(kind, name, &who(what.who.as_deref())).await? {
        return Ok(out(format_args!("{} {name} goes on", kind.as_str()))?);
    }
    let known = names(&desk.config, kind);
    if !known.contains(name.as_str()) {
        bail!("there is no {} {name:?}: {}", kind.as_str(), suggest(name, known.into_iter()));
    }
    Ok(out(format_args!("{} {name} was not paused", kind.as_str()))?)
}

/// Lists them.
pub async fn list(args: &ListArgs, shell: &Shell) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(shell).await?;
    let ended = desk.pauses().await;
    let pauses = desk.close(ended).await?;
    if args.json {
        out(format_args!("{}", json!({ "pauses": pauses })))?;
    } else {
        print(&pauses)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(pauses: &[Pause]) -> anyhow::Result<()> {
    let mut table = shown::table(["kind", "name", "since", "by", "reason"]);
    for pause in pauses {
        table.add_row([
            pause.kind.as_str().to_owned(),
            clean(&pause.name),
            time(pause.paused_at),
            clean(&pause.who),
            or_dash(pause.reason.as_deref()),
        ]);
    }
    Ok(out(format_args!("{table}"))?)
}

/// The names that the configuration knows of this kind.
fn names(config: &Config, kind: Pausable) -> BTreeSet<&str> {
    match kind {
        Pausable::Endpoint => config.endpoints.keys().map(String::as_str).collect(),
        Pausable::Handler => config.routes.iter().filter_map(Route::handler).collect(),
        Pausable::Destination => config.destinations.keys().map(String::as_str).collect(),
    }
}

fn in_sync_mode<'a>(config: &'a Config, kind: Pausable, name: &str) -> Vec<&'a str> {
    let concerns = |endpoint: &str| match kind {
        Pausable::Endpoint => endpoint == name,
        Pausable::Handler => config
            .routes
            .iter()
            .any(|route| route.handler() == Some(name) && route.endpoints.iter().any(|of| **of == *endpoint)),
        Pausable::Destination => false,
    };
    let endpoints = config.endpoints.values().filter(|endpoint| endpoint.mode == Mode::Sync);
    endpoints.map(|endpoint| &*endpoint.name).filter(|endpoint| concerns(endpoint)).collect()
}
