//! `hookgate sign`: the mirror of `verify`.

use super::RequestArgs;

/// Print the headers that make a request genuine, for tests and for curl
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The request and the key (the first `--secret` signs).
    #[command(flatten)]
    pub request: RequestArgs,
}
