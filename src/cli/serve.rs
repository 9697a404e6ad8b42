//! `hookgate serve`: the gateway itself.

use std::net::SocketAddr;
use std::process::ExitCode;

use serde_json::json;

use super::Shell;
use crate::app::Builder;
use crate::config::Flag;
use crate::observe;

/// Run the gateway: ingress, workers, dispatcher and admin listener
///
/// SIGTERM or SIGINT drains: readiness goes off, requests and claimed work are finished. A second signal aborts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where providers' requests arrive, over `server.listen`
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<SocketAddr>,
    /// Where operators look, over `admin.listen`
    #[arg(long, value_name = "ADDR:PORT")]
    pub admin_listen: Option<SocketAddr>,
    /// Leave the schema as it is, over `database.migrate`
    #[arg(long)]
    pub no_migrate: bool,
}

/// Runs until a signal; 0 after a clean drain.
pub async fn run(args: &Args, shell: Shell) -> anyhow::Result<ExitCode> {
    let loaded = shell.load(args.flags())?;
    observe::init_tracing(&loaded.config.log)?;
    for problem in &loaded.warnings {
        tracing::warn!(%problem, "config.doubtful");
    }
    let gateway = Builder::new(loaded.config, shell.handlers).start().await?;
    Ok(if gateway.run().await { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Args {
    fn flags(&self) -> Vec<Flag> {
        let listen =
            |flag, setting, address: SocketAddr| Flag { flag, setting, value: json!(address.to_string()) };
        let mut flags = Vec::new();
        flags.extend(self.listen.map(|address| listen("--listen", &["server", "listen"], address)));
        flags
            .extend(self.admin_listen.map(|address| listen("--admin-listen", &["admin", "listen"], address)));
        if self.no_migrate {
            flags.push(Flag { flag: "--no-migrate", setting: &["database", "migrate"], value: json!(false) });
        }
        flags
    }
}
