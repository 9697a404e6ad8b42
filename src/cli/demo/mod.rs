//! `hookgate demo`: a gateway that tells its own story.
//!
//! It runs in a temporary folder on an embedded database, with secrets that are made up anew each time. What workers
//! forward goes to an endpoint of the same gateway, so that the demo also shows a delivery being verified.

mod player;
mod report;
mod story;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::time::{Instant, sleep};

use self::player::{Played, Player};
use self::story::STORY;
use super::{built_in_handlers, out, warn};
use crate::app::sender::Sender;
use crate::app::{Builder, Gateway};
use crate::clock::{Clock as _, SystemClock};
use crate::config::{self, Config, Sources};
use crate::handler::Registry;
use crate::store::{Param, Sql, Store};

/// Show what hookgate does, with no set-up at all
///
/// Runs a gateway on an embedded database, sends it signed samples (a good one, its duplicate, one tampered, one
/// late, an out-of-order pair, a burst) and shows what happened and why.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Exit after the table; 0 if every outcome was the right one
    #[arg(long)]
    pub once: bool,
    /// Port of the ingress on loopback [default: 8080, or a free one if that is taken]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Port of the admin listener on loopback [default: 8081, or a free one if that is taken]
    #[arg(long, value_name = "N")]
    pub admin_port: Option<u16>,
}

/// How long the workers may take to forward everything.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the demo.
pub async fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let folder =
        tempfile::Builder::new().prefix("hookgate-demo-").tempdir().context("no temporary folder")?;
    let ports = (port(args.port, 8080)?, port(args.admin_port, 8081)?);
    let gateway = start(folder.path(), ports).await?;
    let right = tell(&gateway, folder.path()).await?;
    if args.once {
        gateway.drain().await;
        return Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    out(format_args!("{}", report::where_to_look(&gateway, folder.path())))?;
    gateway.run().await;
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn start(folder: &Path, ports: (u16, u16)) -> anyhow::Result<Gateway> {
    let config = load(folder, ports)?;
    crate::observe::init_tracing(&config.log)?;
    Ok(Builder::new(config, Registry::new()).start().await?)
}

/// Sends everything, waits for the workers, prints the table.
async fn tell(gateway: &Gateway, folder: &Path) -> anyhow::Result<bool> {
    let config = load(folder, (gateway.ingress().port(), gateway.admin().port()))?;
    let origin = format!("http://{}", gateway.ingress());
    let player = Player { config: &config, sender: Sender::new(&origin), origin, now: SystemClock.now() };
    let mut told = Vec::new();
    for scene in STORY {
        told.push(player.play(scene).await?);
    }
    let drained = drained(gateway.store()).await?;
    let effects = Effects::read(gateway.store()).await?;
    out(format_args!("{}", report::table(&told)))?;
    out(format_args!("{}", report::effects(&effects)))?;
    let right = told.iter().all(Played::is_right) && effects.are_right() && drained;
    if !right {
        warn(format_args!("something did not go as it should: see the lines marked ✗"));
    }
    Ok(right)
}

/// Waits until no event and no message waits any more.
async fn drained(store: &Store) -> anyhow::Result<bool> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        let (inbox, outbox) = store.ledger.backlog().await?;
        if inbox.iter().chain(&outbox).all(|waiting| waiting.backlog == 0) {
            return Ok(true);
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(false)
}

/// What the database holds in the end.
struct Effects {
    invoice_status: String,
    ledger_entries: i64,
    messages_published: i64,
    messages_needing_review: i64,
    received_back: i64,
}

impl Effects {
    async fn read(store: &Store) -> anyhow::Result<Self> {
        const COUNTS: &str = "SELECT
            (SELECT max(status) FROM invoices),
            (SELECT count(*) FROM ledger_entries),
            (SELECT count(*) FROM outbox WHERE published_at IS NOT NULL),
            (SELECT count(*) FROM outbox WHERE review_at IS NOT NULL),
            (SELECT count(*) FROM webhook_inbox WHERE endpoint = 'inner')";
        let mut tx = store.inbox.begin(PATIENCE).await?;
        let row = tx.fetch_optional(Sql { postgres: COUNTS, sqlite: COUNTS }, &[]).await?;
        tx.rollback().await;
        match row.as_deref() {
            Some(
                [
                    Param::Text(status),
                    Param::Bigint(Some(ledger_entries)),
                    Param::Bigint(Some(messages_published)),
                    Param::Bigint(Some(messages_needing_review)),
                    Param::Bigint(Some(received_back)),
                ],
            ) => Ok(Self {
                invoice_status: status.clone().unwrap_or_else(|| "absent".into()),
                ledger_entries: *ledger_entries,
                messages_published: *messages_published,
                messages_needing_review: *messages_needing_review,
                received_back: *received_back,
            }),
            other => bail!("the counts came back as {other:?}"),
        }
    }

    fn are_right(&self) -> bool {
        self.invoice_status == "paid"
            && self.ledger_entries == 1
            && self.messages_published > 0
            && self.messages_needing_review == 0
            && self.received_back == self.messages_published
    }
}

fn load(folder: &Path, ports: (u16, u16)) -> anyhow::Result<Config> {
    let file = folder.join("hookgate.toml");
    if !file.exists() {
        std::fs::write(&file, configuration(folder, ports))?;
    }
    // Only the file: a variable of this shell must not change the story.
    let sources = Sources { files: vec![file], handlers: built_in_handlers(), ..Sources::default() };
    Ok(config::load(&sources)?.config)
}

fn configuration(folder: &Path, (port, admin_port): (u16, u16)) -> String {
    let secret = || format!("whsec_{}", STANDARD.encode(rand::random::<[u8; 24]>()));
    include_str!("demo.toml")
        .replace("{database}", &folder.join("hookgate.db").display().to_string())
        .replace("{port}", &port.to_string())
        .replace("{admin_port}", &admin_port.to_string())
        .replace("{billing}", &secret())
        .replace("{billing_test}", &secret())
        .replace("{github}", &secret())
        .replace("{slack}", &secret())
        .replace("{standard}", &secret())
        .replace("{inner}", &secret())
}

/// The port that was asked for, or the usual one, or a free one if that is taken.
fn port(asked: Option<u16>, usual: u16) -> anyhow::Result<u16> {
    let free = |port| std::net::TcpListener::bind(("127.0.0.1", port)).and_then(|socket| socket.local_addr());
    match asked {
        Some(port) => free(port).with_context(|| format!("port {port} is taken")),
        None => free(usual).or_else(|_| free(0)).context("no free port"),
    }
    .map(|address| address.port())
}
