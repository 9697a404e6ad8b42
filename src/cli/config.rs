//! `hookgate config`: what the configuration is, and what it could be.

use std::process::ExitCode;

use super::{Shell, out};
use crate::config;

/// Show the configuration, or the schema of its files
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which of the two.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// The merged configuration, with the layer that each value came from; secrets masked
    Show,
    /// The JSON Schema of a configuration file, for editors and generators
    Schema,
}

/// Prints what was asked for.
pub(super) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Show => {
            let merged = config::merge(&shell.sources(Vec::new()))?;
            out(format_args!("{}", merged.show().trim()))?;
        }
        Command::Schema => out(format_args!("{:#}", config::json_schema()))?,
    }
    Ok(ExitCode::SUCCESS)
}
