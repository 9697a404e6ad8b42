//! `hookgate serve`: the gateway itself.

use std::net::SocketAddr;

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
