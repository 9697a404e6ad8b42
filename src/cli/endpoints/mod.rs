//! `hookgate endpoints`: their secrets, which of them are in use, and those that providers hand over in band.

mod list;
mod rotation;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, ensure};
use clap::Subcommand;

use super::{Shell, out};
use crate::clock::Timestamp;
use crate::config::Config;
use crate::store::{self, Learned, Store};

/// The longest that an endpoint waits for a secret: until then anybody can hand it one.
const MAX_WAIT: Duration = Duration::from_hours(24);

/// List endpoints and the use of their secrets; let one learn the secret that its provider hands over in the first
/// request (Asana, Notion), or forget it
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
    /// Print the endpoints: when each of their secrets last matched, what to do about it, and what they have learned
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
        Command::List { json } => {
            list::run(config, store, *json).await?;
            Ok(ExitCode::SUCCESS)
        }
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

fn show(time: Timestamp) -> String {
    time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}
