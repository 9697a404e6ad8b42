//! `hookgate backlog`: what waits, and for how long.

/// Print backlog, oldest age, needs review, duplicate rate per endpoint, and events per type in the last hour
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
