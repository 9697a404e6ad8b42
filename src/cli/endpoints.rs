//! `hookgate endpoints`: secrets that providers hand over in band.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure};
use clap::Subcommand;
use comfy_table::Table;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use serde_json::{Value, json};

use super::{Shell, out};
use crate::clock::Timestamp;
use crate::config::Config;
use crate::store::{self, Learned, Learner, Store};

/// The longest that an endpoint waits for a secret: until then anybody can hand it one.
const MAX_WAIT: Duration = Duration::from_hours(24);

/// Let an endpoint learn the secret that its provider hands over in the first request (Asana, Notion), list, forget
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Wait for a secret: the first one that comes is kept
    Arm {
        /// The endpoint's name
        name: String,
        /// How long to wait, 24h at most
        #[arg(long = "for", value_name = "DURATION", default_value = "10m", value_parser = humantime::parse_duration)]
        wait: Duration,
    },
    /// Print the endpoints that can learn a secret, and where they stand
    List {
        /// Print one JSON array
        #[arg(long)]
        json: bool,
    },
    /// Print the secret that an endpoint has learned, for a provider that wants it typed in (Notion)
    Reveal {
        /// The endpoint's name
        name: String,
    },
    /// Forget the secret that an endpoint has learned, and wait for none
    Forget {
        /// The endpoint's name
        name: String,
    },
}

/// Asks the store that all gateways share.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let config = shell.load(Vec::new())?.config;
    if let Command::Arm { name, .. } | Command::Reveal { name } | Command::Forget { name } = &args.command {
        known(&config, name)?;
    }
    if let Command::Arm { name, .. } = &args.command
        && config.endpoints.get(name).is_some_and(|endpoint| !endpoint.secrets.is_empty())
    {
        bail!(
            "endpoint `{name}` has secrets in its configuration, and learns no other one; add the new one there"
        );
    }
    let store = store::connect(&config.database).await?;
    let done = act(&args.command, &config, &store).await;
    store.close().await;
    done
}

async fn act(command: &Command, config: &Config, store: &Store) -> anyhow::Result<ExitCode> {
    store.ledger.ready().await?;
    let learned = store.learned.as_ref();
    match command {
        Command::Arm { name, wait } => arm(learned, name, *wait).await,
        Command::List { json } => list(config, learned.learners().await?, *json),
        Command::Reveal { name } => match learned.learned(name).await? {
            Some(secret) => {
                out(format_args!("{}", String::from_utf8_lossy(secret.expose())))?;
                Ok(ExitCode::SUCCESS)
            }
            None => bail!("endpoint `{name}` has learned no secret"),
        },
        Command::Forget { name } => {
            let forgotten = learned.forget(name).await?;
            let what = if forgotten { "has forgotten its secret" } else { "had learned none" };
            out(format_args!("endpoint `{name}` {what}, and waits for none"))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Only a provider that hands over its secret has one to learn.
fn known(config: &Config, name: &str) -> anyhow::Result<()> {
    let Some(endpoint) = config.endpoints.get(name) else {
        let names: Vec<&str> = config.endpoints.keys().map(String::as_str).collect();
        bail!("there is no endpoint `{name}`; the configuration has {}", names.join(", "));
    };
    let provider = &endpoint.provider;
    ensure!(
        provider.learns(),
        "endpoint `{name}`: {} hands over no secret in its requests; give it in `secrets`",
        provider.name()
    );
    Ok(())
}

async fn arm(learned: &dyn Learned, name: &str, wait: Duration) -> anyhow::Result<ExitCode> {
    ensure!(!wait.is_zero() && wait <= MAX_WAIT, "--for: expected a duration up to 24h, for example 10m");
    match learned.arm(name, wait).await? {
        Some(until) => {
            let wait = humantime::format_duration(wait);
            out(format_args!(
                "endpoint `{name}` keeps the first secret that comes in the next {wait} (until {})",
                show(until)
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        None => bail!(
            "endpoint `{name}` has learned a secret already; `hookgate endpoints forget {name}` removes it"
        ),
    }
}

fn list(config: &Config, learners: Vec<Learner>, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut rows: Vec<Learner> = learners;
    for endpoint in config.endpoints.values().filter(|endpoint| endpoint.provider.learns()) {
        if !rows.iter().any(|row| *row.endpoint == *endpoint.name) {
            let endpoint = endpoint.name.to_string();
            rows.push(Learner { endpoint, learned_at: None, armed_until: None });
        }
    }
    rows.sort_by(|a, b| a.endpoint.cmp(&b.endpoint));
    if as_json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| json!({"endpoint": row.endpoint, "learned_at": row.learned_at, "armed_until": row.armed_until}))
            .collect();
        out(format_args!("{}", Value::from(rows)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY);
    table.set_header(["endpoint", "learned", "armed until"]);
    for row in rows {
        let cell = |time: Option<Timestamp>| time.map_or_else(|| "no".into(), show);
        table.add_row([row.endpoint, cell(row.learned_at), cell(row.armed_until)]);
    }
    out(format_args!("{table}"))?;
    Ok(ExitCode::SUCCESS)
}

fn show(time: Timestamp) -> String {
    time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}
