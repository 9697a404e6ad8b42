//! `hookgate demo`: a gateway that tells its own story.

/// Show what hookgate does, with no set-up at all
///
/// Runs a gateway on an embedded database, sends it signed samples (a good one, its duplicate, one tampered, one
/// late, an out-of-order pair, a burst) and shows what happened and why.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Exit after the table; 0 if every outcome was the right one
    #[arg(long)]
    pub once: bool,
    /// Port of the ingress on loopback
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub port: u16,
    /// Port of the admin listener on loopback
    #[arg(long, value_name = "N", default_value_t = 8081)]
    pub admin_port: u16,
}
