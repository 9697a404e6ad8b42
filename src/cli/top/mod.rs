//! `hookgate top`: what happens now, by endpoint and destination.
//!
//! It reads the metrics pages of running gateways, so it shows what Grafana shows: rates are sums over the gateways, and
//! backlogs, which all of them read from the one store, are the largest that one of them has seen.

mod figures;
mod page;
mod picture;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::output::out_while_read;
use super::{Shell, from_here, warn};
use crate::app::sender::Sender;
use crate::config::Config;
use crate::model::{Headers, Request};

pub use figures::{DestinationLine, EndpointLine, Figures, Waiting};
pub use page::Page;

/// The largest page that is read.
const MAX_PAGE: usize = 64 << 20;

/// Show live rates, backlog, lag and failures by endpoint and destination
///
/// Ctrl-C ends it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A gateway's admin listener, such as <http://127.0.0.1:8081>; may be repeated [default: admin.listen]
    #[arg(long, value_name = "URL")]
    pub url: Vec<String>,
    /// Between two looks
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = every)]
    pub every: Duration,
    /// Print one picture, after two looks, and exit
    #[arg(long)]
    pub once: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

fn every(text: &str) -> Result<Duration, String> {
    let every = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    let allowed = Duration::from_millis(100)..=Duration::from_hours(1);
    if allowed.contains(&every) { Ok(every) } else { Err("expected 100ms to 1h".into()) }
}

/// Looks, and draws, until it is stopped.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let config = shell.load(Vec::new())?.config;
    let gateways = Gateways::new(&args.url, &config);
    let mut before = gateways.look().await?;
    let mut looked = Instant::now();
    loop {
        tokio::time::sleep(args.every).await;
        let now = gateways.look().await?;
        let seconds = looked.elapsed().as_secs_f64();
        looked = Instant::now();
        // A gateway that came or went would look like a leap of the counters.
        let same = before.up == now.up;
        let up = [now.up.iter().filter(|up| **up).count(), now.up.len()];
        let figures = Figures::new(same.then_some(&before.page), &now.page, seconds, up);
        if !show(&figures, args)? || args.once {
            return Ok(ExitCode::SUCCESS);
        }
        before = now;
    }
}

fn show(figures: &Figures, args: &Args) -> anyhow::Result<bool> {
    if args.json {
        return Ok(out_while_read(format_args!("{}", serde_json::to_string(figures)?))?);
    }
    if !args.once && std::io::stdout().is_terminal() {
        // To the upper left corner, and everything after it is cleared.
        let mut terminal = std::io::stdout().lock();
        terminal.write_all(b"\x1b[H\x1b[2J")?;
        terminal.flush()?;
    }
    Ok(out_while_read(format_args!("{}", picture::draw(figures)))?)
}

/// The gateways that are asked.
struct Gateways {
    senders: Vec<(String, Sender)>,
    request: Request,
}

/// One look at all of them.
struct Look {
    page: Page,
    /// Which of them answered.
    up: Vec<bool>,
}

impl Gateways {
    fn new(urls: &[String], config: &Config) -> Self {
        let own = || format!("http://{}", from_here(config.admin.listen));
        let urls = if urls.is_empty() { vec![own()] } else { urls.to_vec() };
        let mut headers = Headers::default();
        if let Some(token) = &config.admin.metrics_token {
            headers.push("authorization", [b"Bearer ", token.expose()].concat());
        }
        let request = Request {
            method: "GET".into(),
            path: "/metrics".into(),
            ..Request::bare(headers, bytes::Bytes::new())
        };
        let senders =
            urls.into_iter().map(|url| (url.clone(), Sender::new(&url).reading(MAX_PAGE))).collect();
        Self { senders, request }
    }

    async fn look(&self) -> anyhow::Result<Look> {
        let mut look = Look { page: Page::default(), up: Vec::new() };
        let mut problems = Vec::new();
        for (url, sender) in &self.senders {
            match page(sender, &self.request).await.with_context(|| url.clone()) {
                Ok(page) => {
                    look.page.join(page);
                    look.up.push(true);
                }
                Err(problem) => {
                    problems.push(format!("{problem:#}"));
                    look.up.push(false);
                }
            }
        }
        if !look.up.contains(&true) {
            bail!("no gateway answers: {}", problems.join("; "));
        }
        for problem in problems {
            warn(format_args!("{problem}"));
        }
        Ok(look)
    }
}

async fn page(sender: &Sender, request: &Request) -> anyhow::Result<Page> {
    let answer = sender.send(request).await.map_err(anyhow::Error::msg)?;
    match answer.status {
        200 => Ok(Page::parse(&String::from_utf8_lossy(&answer.body))),
        401 | 403 => bail!("it wants another admin.metrics_token than this configuration has"),
        status => bail!("it answered {status}"),
    }
}
