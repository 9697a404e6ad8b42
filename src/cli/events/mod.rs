//! `hookgate events`: events of the inbox.

mod list;
mod progress;
mod replay;
mod show;
mod tail;

use std::process::ExitCode;

use super::Shell;
use super::desk::Desk;

/// Look at events, watch them come in, or work on them again
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Tail(tail::Args),
    Replay(replay::Args),
}

/// Asks, orders and prints.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(shell).await?;
    let ended = match &args.command {
        Command::List(args) => list::run(args, &desk).await,
        Command::Show(args) => show::run(args, &desk).await,
        Command::Tail(args) => tail::run(args, &desk).await,
        Command::Replay(args) => replay::run(args, &desk).await,
    };
    desk.close(ended).await
}
