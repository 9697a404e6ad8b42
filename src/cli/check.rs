//! `hookgate check`: everything that can be found wrong before the first request.

use std::process::ExitCode;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};

use super::{Shell, out, warn};
use crate::app;
use crate::config::{Action, Config, ConfigError, DatabaseUrl, Endpoint, Key, Loaded, Mode, Problem, Route};
use crate::dispatch;
use crate::store;

/// Check the configuration, the secrets, the provider definitions and the SQL handler files
///
/// Prints the endpoint table. Exit code 0 if everything is right (warnings do not count), else 1.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Leave the database alone: statements of handlers are not prepared on it
    #[arg(long)]
    pub offline: bool,
}

/// Checks, and prints what was found.
pub(super) async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let loaded = shell.load(Vec::new())?;
    for warning in &loaded.warnings {
        warn(format_args!("warning: {warning}"));
    }
    definitions(&loaded)?;
    later_stages(&loaded, shell)?;
    if args.offline {
        warn(format_args!("offline: the handlers' statements were not prepared on the database"));
    } else {
        prepare(&loaded.config, shell).await?;
    }
    if !loaded.config.endpoints.is_empty() {
        out(format_args!("{}", table(&loaded)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All definitions, also those that no endpoint uses.
fn definitions(loaded: &Loaded) -> anyhow::Result<()> {
    let faults = loaded.catalogue.faults();
    for fault in &faults {
        warn(format_args!("error: {fault}"));
    }
    anyhow::ensure!(faults.is_empty(), "{} faults in the provider definitions", faults.len());
    Ok(())
}

/// What handlers and dispatcher would refuse at start.
fn later_stages(loaded: &Loaded, shell: &Shell) -> anyhow::Result<()> {
    let config = &loaded.config;
    let mut problems: Vec<Problem> = Vec::new();
    for destination in config.destinations.values() {
        if let Err(error) = dispatch::check(destination) {
            let key = Key::of(&["destinations", &destination.name, error.key]);
            problems.push(loaded.problem(key, error.problem));
        }
    }
    let resolved = shell.handlers.resolve(&config.routes, (&config.database.url).into());
    let handlers = resolved.err().unwrap_or_default();
    for error in &handlers {
        warn(format_args!("error: {error}"));
    }
    if !problems.is_empty() {
        return Err(ConfigError(problems).into());
    }
    anyhow::ensure!(handlers.is_empty(), "{} of the routes' handlers cannot be used", handlers.len());
    Ok(())
}

/// Prepares every statement of every handler. A SQLite file that is not there yet is not made: a temporary one with
/// the gateway's own tables stands in for it.
async fn prepare(config: &Config, shell: &Shell) -> anyhow::Result<()> {
    let mut database = config.database.clone();
    let folder = tempfile::tempdir()?;
    if matches!(&database.url, DatabaseUrl::Sqlite(path) if !path.exists()) {
        database.url = DatabaseUrl::Sqlite(folder.path().join("check.db"));
        store::migrate(&database).await?;
    }
    let store = store::connect(&database).await?;
    let prepared = match store.ledger.ready().await {
        Ok(()) => app::prepare(config, &shell.handlers, &store).await.map_err(Into::into),
        Err(error) => {
            Err(anyhow::anyhow!("the database: {error}; `hookgate migrate` brings its schema up to date"))
        }
    };
    if prepared.is_ok() && store.is_pooled() {
        out(format_args!(
            "database: behind a transaction pooler; statements have no names and cost more round trips"
        ))?;
    }
    store.close().await;
    prepared
}

fn table(loaded: &Loaded) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["endpoint", "provider", "confidence", "paths", "mode", "secrets", "routes"]);
    for endpoint in loaded.config.endpoints.values() {
        table.add_row([
            endpoint.name.to_string(),
            endpoint.provider.id().to_string(),
            endpoint.provider.confidence().as_str().to_owned(),
            endpoint.paths.join("\n"),
            mode(&endpoint.mode).to_owned(),
            secrets(endpoint),
            routes(&loaded.config, endpoint),
        ]);
    }
    table
}

fn mode(mode: &Mode) -> &'static str {
    match mode {
        Mode::Sync => "sync",
        Mode::Async => "async",
        Mode::Proxy { .. } => "proxy",
    }
}

/// `1 env:STRIPE_WEBHOOK_SECRET whsec_…abcd`: the position as in logs and metrics, enough to compare, no more.
fn secrets(endpoint: &Endpoint) -> String {
    let lines = endpoint.secrets.iter().enumerate().map(|(at, secret)| {
        let until =
            secret.until.map(|until| format!(" until {}", until.format("%F %R UTC"))).unwrap_or_default();
        let masked = secret.secret.masked();
        // A literal's reference shows the masked value already.
        let masked = if secret.reference.ends_with(&masked) { String::new() } else { format!(" {masked}") };
        format!("{} {}{masked}{until}", at + 1, secret.reference)
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    match lines.is_empty() {
        true if endpoint.provider.learns() => {
            format!("none: learned in band (hookgate endpoints arm {})", endpoint.name)
        }
        true => "none: the provider's keys are fetched".to_owned(),
        false => lines,
    }
}

fn routes(config: &Config, endpoint: &Endpoint) -> String {
    if let Some(destination) = endpoint.proxied() {
        return format!("all → answered by {destination}");
    }
    let of_endpoint = |route: &&Route| route.endpoints.contains(&endpoint.name);
    let lines = config.routes.iter().filter(of_endpoint).map(|route| {
        let types = route.types.join(", ");
        let destinations = route.destinations.join(", ");
        match &route.action {
            Action::Forward => format!("{types} → forward to {destinations}"),
            Action::Handler(name) if destinations.is_empty() => format!("{types} → {name}"),
            Action::Handler(name) => format!("{types} → {name}, emits to {destinations}"),
            Action::Sql(module) if destinations.is_empty() => format!("{types} → {}", module.path.display()),
            Action::Sql(module) => format!("{types} → {}, emits to {destinations}", module.path.display()),
        }
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    if text.is_empty() { "none: events are stored and ignored".to_owned() } else { text }
}
