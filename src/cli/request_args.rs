//! One HTTP request and its keys as flags, shared by `verify` and `sign`.

use std::path::PathBuf;

/// The request and the keys.
#[derive(Debug, clap::Args)]
pub struct RequestArgs {
    /// The provider's id
    #[arg(value_name = "PROVIDER")]
    pub provider: String,
    /// The key as the provider shows it: `env:NAME`, `file:PATH` or `literal:VALUE`; may be repeated, positions start at 1
    #[arg(long = "secret", value_name = "REF")]
    pub secrets: Vec<String>,
    /// A constant that the definition takes (`webhook_id`, `client_id`, `url`, …); may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// The request's method
    #[arg(long, value_name = "M", default_value = "POST")]
    pub method: String,
    /// The full public URL that the provider called
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// A header of the request; may be repeated, order and repetition are kept
    #[arg(short = 'H', long = "header", value_name = "Name: value")]
    pub headers: Vec<String>,
    /// The body's exact bytes; `-` is standard input [default: an empty body]
    #[arg(long, value_name = "F|-")]
    pub body_file: Option<PathBuf>,
    /// The clock: Unix seconds, RFC 3339, or `request` for the request's own signed time [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Which of the provider's variants, where it has several
    #[arg(long, value_name = "V")]
    pub variant: Option<String>,
    /// A folder of own definitions, over the embedded ones; may be repeated
    #[arg(long, value_name = "DIR")]
    pub providers_dir: Vec<PathBuf>,
}
