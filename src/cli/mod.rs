//! The command line: one file per command, and the only place for `anyhow`.
//!
//! Who acts: an operator at a terminal, or a script that reads the exit code.
//! What holds: 0 is success, 1 is "no" (a rejected request, an unaccepted event, a broken configuration), 2 is a
//! wrong use of the command line; results go to standard output, everything else to standard error.
//! What is absent: backtraces, secrets, and flags that take a secret's value or read one from a variable unasked.

mod output;
mod request_args;

// Arguments of commands whose `run` is still to come stand in their files already; a command is declared below
// together with its `run`.
pub mod backlog;
#[cfg(any())]
pub mod demo;
pub mod migrate;
pub mod providers;
pub mod send;
pub mod serve;
pub mod sign;
pub mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use output::{out, warn};
pub use request_args::RequestArgs;

/// Runs the command line of this process, to its end.
pub fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => block_on(cli),
        // Help and version are "errors" of code 0 to clap; wrong use is 2.
        Err(error) => {
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

/// One ingress for all SaaS webhooks: verified, deduplicated, processed exactly once in your own database.
#[derive(Debug, Parser)]
#[command(name = "hookgate", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(subcommand)]
    command: Command,
}

/// Where the configuration is, for every command that reads it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ConfigArgs {
    /// A configuration file; may be repeated, later files win [default: config/hookgate.toml if it exists]
    #[arg(long = "config", value_name = "FILE", global = true)]
    pub files: Vec<PathBuf>,
}

/// The commands. One line here, one file beside this one with `Args` and `run`.
#[derive(Debug, Subcommand)]
enum Command {}

impl Command {
    #[expect(clippy::unused_async, reason = "the first command makes this true")]
    async fn run(self, _config: ConfigArgs) -> anyhow::Result<ExitCode> {
        match self {}
    }
}

fn block_on(cli: Cli) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.into()),
    };
    runtime.block_on(cli.command.run(cli.config)).unwrap_or_else(|error| failed(&error))
}

/// The causes on one line; `Debug` would add a backtrace when `RUST_BACKTRACE` is set.
fn failed(error: &anyhow::Error) -> ExitCode {
    warn(format_args!("error: {error:#}"));
    ExitCode::FAILURE
}
