//! `hookgate verify`: one captured request, offline.

use super::RequestArgs;

/// Check one captured request offline and map it to events
///
/// Prints one JSON object. Exit code 0: verified, or a handshake that was answered; 1: rejected; 2: wrong use.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The request and the keys.
    #[command(flatten)]
    pub request: RequestArgs,
}
