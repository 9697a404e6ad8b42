//! `hookgate providers`: the catalogue.

use std::path::PathBuf;

/// List the providers that hookgate knows, or show one of them
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Print an array of objects with `id`, `name`, `confidence`, …
    #[arg(long)]
    pub json: bool,
    /// A folder of own definitions, over the embedded ones; may be repeated
    #[arg(long, value_name = "DIR")]
    pub providers_dir: Vec<PathBuf>,
    /// Without one: the list.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The parts of `hookgate providers`.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// One provider: what it signs, what to enter in its dashboard, what it expects back
    Show(ShowArgs),
}

/// The arguments of `hookgate providers show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The provider's id or one of its aliases
    #[arg(value_name = "ID")]
    pub id: String,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// A folder of own definitions, over the embedded ones; may be repeated
    #[arg(long, value_name = "DIR")]
    pub providers_dir: Vec<PathBuf>,
}
