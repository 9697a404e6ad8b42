//! `hookgate send`: sample events, signed with the endpoint's own secret.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use bytes::Bytes;
use comfy_table::Table;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use futures_util::stream::{self, StreamExt as _};
use indicatif::ProgressBar;

use super::{Shell, from_here, out, request_args, warn};
use crate::app::sender::{self, Answer, Sender};
use crate::clock::{Clock, SystemClock, Timestamp};
use crate::config::{Config, Endpoint};
use crate::model::{Headers, Request, Secret};
use crate::provider::{Sample, SampleIds};

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
    /// How many requests
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
    #[arg(long, value_name = "F", conflicts_with = "event_type")]
    pub body_file: Option<PathBuf>,
    /// What signs, in place of the endpoint's first secret: the private key where the endpoint's is public
    #[arg(long, value_name = "REF")]
    pub secret: Option<String>,
    /// Scheme, host and port of the gateway [default: server.listen on loopback]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&rate) { Ok(rate) } else { Err("expected a number from 0 to 1".to_owned()) }
}

/// Sends, and prints what came back.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let config = shell.load(Vec::new())?.config;
    let endpoint = config.endpoints.get(&args.endpoint).with_context(|| unknown(&args.endpoint, &config))?;
    let template = Template::new(args, endpoint, &config)?;
    let sender = Sender::new(&args.url.clone().unwrap_or_else(|| local(&config)));
    let ids = ids(args);
    let progress = ProgressBar::new(ids.len() as u64); // draws only on a terminal
    let answers: Vec<Result<Answer, String>> = stream::iter(ids)
        .map(async |id: String| {
            let answer = match template.request(&id) {
                Ok(request) => sender.send(&request).await,
                Err(error) => Err(format!("{error:#}")),
            };
            progress.inc(1);
            answer
        })
        .buffer_unordered(args.concurrency.into())
        .collect()
        .await;
    progress.finish_and_clear();
    report(&answers)
}

/// One id for each request, some of them repeated.
fn ids(args: &Args) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for _ in 0..args.count {
        let repeats = !ids.is_empty() && rand::random::<f64>() < args.duplicate_rate;
        ids.push(if repeats {
            ids[rand::random_range(0..ids.len())].clone()
        } else {
            format!("{:024x}", rand::random::<u128>() >> 32)
        });
    }
    ids
}

/// How each request is made.
struct Template<'a> {
    endpoint: &'a Endpoint,
    secret: Option<Secret>,
    path: &'a str,
    origin: String,
    content: Content<'a>,
    tamper: bool,
    clock: Arc<dyn Clock>,
    /// The samples' own times: a copy of an event carries the same bytes.
    written_at: Timestamp,
}

enum Content<'a> {
    Sample(&'a Sample),
    Bytes(Bytes),
}

impl<'a> Template<'a> {
    fn new(args: &Args, endpoint: &'a Endpoint, config: &Config) -> anyhow::Result<Self> {
        let content = match &args.body_file {
            Some(file) => {
                Content::Bytes(std::fs::read(file).with_context(|| file.display().to_string())?.into())
            }
            None => Content::Sample(sample(endpoint, args.event_type.as_deref())?),
        };
        let own = || endpoint.secrets.first().map(|signing| signing.secret.clone());
        let given = args.secret.as_deref().map(request_args::secret).transpose()?;
        Ok(Self {
            endpoint,
            secret: given.or_else(own),
            path: endpoint.paths.first().context("the endpoint has no path")?,
            origin: config.server.public_url.clone().unwrap_or_else(|| local(config)),
            content,
            tamper: args.tamper,
            clock: Arc::new(SystemClock),
            written_at: SystemClock.now(),
        })
    }

    fn request(&self, id: &str) -> anyhow::Result<Request> {
        let now = self.clock.now();
        let (headers, body) = match &self.content {
            Content::Sample(sample) => {
                sample.render(&SampleIds { event: id.into(), object: id.into() }, self.written_at)
            }
            Content::Bytes(bytes) => {
                let mut headers = Headers::new();
                headers.push("content-type", *b"application/json");
                (headers, bytes.clone())
            }
        };
        let request = sender::post(&self.origin, self.path, headers, body);
        let mut request = match &self.secret {
            Some(secret) => {
                sender::signed(request, &self.endpoint.provider, secret, now).map_err(|e| anyhow!(e))?
            }
            None => request,
        };
        if self.tamper {
            request.body = sender::tampered(&request.body);
        }
        Ok(request)
    }
}

fn sample<'a>(endpoint: &'a Endpoint, event_type: Option<&str>) -> anyhow::Result<&'a Sample> {
    let samples = endpoint.provider.samples();
    let found = match event_type {
        Some(wanted) => samples.iter().find(|sample| sample.event_type == wanted),
        None => samples.first(),
    };
    let Some(sample) = found else {
        let types: Vec<&str> = samples.iter().map(|sample| sample.event_type.as_str()).collect();
        bail!(
            "{} has samples of these types: {}; or give --body-file",
            endpoint.provider.name(),
            types.join(", ")
        );
    };
    Ok(sample)
}

/// Where the gateway of this configuration listens, as seen from this machine.
fn local(config: &Config) -> String {
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", from_here(config.server.listen))
}

fn unknown(name: &str, config: &Config) -> String {
    let names: Vec<&str> = config.endpoints.keys().map(String::as_str).collect();
    format!(
        "no endpoint is named `{name}`; there are: {}",
        if names.is_empty() { "none".into() } else { names.join(", ") }
    )
}

/// Outcomes with their counts and latencies; 0 if every answer was a success.
fn report(answers: &[Result<Answer, String>]) -> anyhow::Result<ExitCode> {
    let mut groups: BTreeMap<(u16, &str), Vec<Duration>> = BTreeMap::new();
    let mut failures: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in answers {
        match answer {
            Ok(answer) => groups.entry((answer.status, &answer.outcome)).or_default().push(answer.latency),
            Err(error) => *failures.entry(error).or_default() += 1,
        }
    }
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_header(["outcome", "status", "requests", "p50", "p99", "max"]);
    for ((status, outcome), latencies) in &mut groups {
        latencies.sort_unstable();
        let at = |share: usize| format!("{:.1?}", latencies[(latencies.len() - 1) * share / 100]);
        let outcome = if outcome.is_empty() { "not a gateway's answer" } else { outcome };
        table.add_row([
            outcome.into(),
            status.to_string(),
            latencies.len().to_string(),
            at(50),
            at(99),
            at(100),
        ]);
    }
    if !groups.is_empty() {
        out(format_args!("{table}"))?;
    }
    for (error, count) in &failures {
        warn(format_args!("error: {error} ({count} of {})", answers.len()));
    }
    let accepted = failures.is_empty() && groups.keys().all(|(status, _)| (200..300).contains(status));
    Ok(if accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
