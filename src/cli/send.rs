//! `hookgate send`: sample events, signed with the endpoint's own secret.

use std::path::PathBuf;

/// Sign sample events with the endpoint's own secret, post them, print outcomes and latencies
///
/// Exit code 0 if all were accepted.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The endpoint's name in the configuration
    #[arg(value_name = "ENDPOINT")]
    pub endpoint: String,
    /// The event type of the samples [default: the definition's own sample]
    #[arg(long = "type", value_name = "T")]
    pub event_type: Option<String>,
    /// How many events
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub count: u32,
    /// How many requests at once
    #[arg(long, value_name = "C", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub concurrency: u16,
    /// The share of requests that repeat an earlier event, 0 to 1
    #[arg(long, value_name = "R", default_value_t = 0.0, value_parser = rate)]
    pub duplicate_rate: f64,
    /// Change one byte of the body after signing
    #[arg(long)]
    pub tamper: bool,
    /// Send these exact bytes instead of samples
    #[arg(long, value_name = "F")]
    pub body_file: Option<PathBuf>,
    /// Scheme, host and port of the gateway [default: server.listen on loopback]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&rate) { Ok(rate) } else { Err("expected a number from 0 to 1".to_owned()) }
}
