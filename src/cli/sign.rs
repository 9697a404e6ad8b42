//! `hookgate sign`: the mirror of `verify`.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};

use super::request_args::{At, Captured};
use super::{RequestArgs, out, warn};
use crate::clock::{Clock as _, SystemClock};
use crate::verify::{self, Signed};

/// Print the headers that make a request genuine, for tests and for curl
///
/// One `name: value` a line, as curl's `-H @FILE` reads them; a changed URL or body is told with --json.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The request and the key (the first `--secret` signs).
    #[command(flatten)]
    pub request: RequestArgs,
    /// Print one JSON object with `headers`, `url` and `body`
    #[arg(long)]
    pub json: bool,
}

/// Signs the request and prints what to add to it.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let signed = args.request.read().and_then(|captured| Ok((sign(&captured)?, captured)));
    match signed {
        Ok((signed, captured)) => {
            print(args, &signed, &captured)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            warn(format_args!("error: {error:#}"));
            Ok(ExitCode::from(2))
        }
    }
}

fn sign(captured: &Captured) -> anyhow::Result<Signed> {
    let secret = captured.secrets.first().context("--secret REF is needed to sign")?;
    let now = match captured.at {
        At::Moment(moment) => moment,
        At::Request => SystemClock.now(),
    };
    verify::sign(&captured.provider, secret, &captured.request, now).map_err(|problem| anyhow!(problem))
}

fn print(args: &Args, signed: &Signed, captured: &Captured) -> anyhow::Result<()> {
    let url = signed.path_and_query.as_ref().map(|rest| {
        let origin = captured.request.origin.as_deref().unwrap_or_default();
        format!("{origin}{rest}")
    });
    if args.json {
        let headers: serde_json::Map<String, Value> =
            signed.headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let body = signed.body.as_ref().map(|body| String::from_utf8_lossy(body));
        out(format_args!("{}", json!({ "headers": headers, "url": url, "body": body })))?;
        return Ok(());
    }
    for (name, value) in &signed.headers {
        out(format_args!("{name}: {value}"))?;
    }
    if url.is_some() || signed.body.is_some() {
        warn(format_args!("the signature changes the URL or the body too: see --json"));
    }
    Ok(())
}
