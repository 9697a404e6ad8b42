//! Gateways that are kept alive, killed, frozen and started again.

use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::http;
use crate::support::process::Signal;

/// What can be done to a gateway.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// SIGKILL.
    Kill,
    /// SIGSTOP, and SIGCONT after this time.
    Freeze(Duration),
    /// SIGTERM, and no further life.
    Stop,
}

/// How one life of a gateway ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By our SIGKILL.
    Killed,
    /// By our SIGTERM, cleanly.
    Stopped,
    /// It aborted itself: the poison.
    Aborted,
    /// It ended before it listened: its database connection was cut.
    NotStarted,
    /// None of these.
    Odd,
}

/// Reaches one gateway.
pub struct Reins {
    place: watch::Receiver<Option<SocketAddr>>,
    orders: mpsc::UnboundedSender<Order>,
}

impl Reins {
    /// Where it is, while it is.
    pub fn place(&self) -> watch::Receiver<Option<SocketAddr>> {
        self.place.clone()
    }

    /// Until it listens.
    pub async fn is_up(&self) {
        self.place().wait_for(Option::is_some).await.expect("the gateway is kept");
    }

    /// Gives an order; a kill has happened when this answers.
    pub async fn order(&self, order: Order) {
        self.orders.send(order).expect("the gateway is kept");
        if matches!(order, Order::Kill) {
            self.place().wait_for(Option::is_none).await.expect("the gateway is kept");
        }
    }
}

/// Keeps one gateway.
pub struct Keeper {
    config: GatewayConfig,
    place: watch::Sender<Option<SocketAddr>>,
    orders: mpsc::UnboundedReceiver<Order>,
    /// Where the logs and the metrics of its lives go.
    output: PathBuf,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Lives {
    /// How they ended, in order.
    pub ends: Vec<End>,
    /// The most memory that one of them held, in KiB.
    pub rss_kib: u64,
    /// The most files that one of them had open.
    pub files: usize,
}

/// A gateway's keeper, and the reins for others.
pub fn keeper(config: GatewayConfig, output: PathBuf) -> (Keeper, Reins) {
    let place = watch::Sender::new(None);
    let (send, orders) = mpsc::unbounded_channel();
    let reins = Reins { place: place.subscribe(), orders: send };
    (Keeper { config, place, orders, output }, reins)
}

/// A build that starts and is cut off again and again is not to be tried for ever.
const STARTS_IN_VAIN: usize = 20;

impl Keeper {
    /// Life after life, until told to stop.
    pub async fn run(mut self, environment: &[(&str, &str)]) -> Lives {
        let mut lives = Lives::default();
        loop {
            let mut gateway = match self.config.try_start(environment).await {
                Ok(gateway) => gateway,
                Err(end) => {
                    self.write(&lives, "log", &end.output);
                    lives.ends.push(End::NotStarted);
                    let in_vain = lives.ends.iter().filter(|end| **end == End::NotStarted).count();
                    assert!(in_vain < STARTS_IN_VAIN, "the gateway does not start: {}", end.output);
                    continue;
                }
            };
            self.place.send_replace(Some(gateway.ingress));
            let why = self.watch_over(&mut gateway, &mut lives).await;
            self.place.send_replace(None);
            let end = match why {
                Some(Order::Stop) => gateway.terminate().await,
                Some(_) => gateway.kill().await,
                None => gateway.ended().await,
            };
            self.write(&lives, "log", &end.output);
            lives.ends.push(match why {
                Some(Order::Stop) if end.status.success() => End::Stopped,
                Some(Order::Kill) => End::Killed,
                None if end.status.signal() == Some(ABORT) => End::Aborted,
                _ => End::Odd,
            });
            if matches!(why, Some(Order::Stop)) {
                return lives;
            }
        }
    }

    /// One life: until an order ends it, or it has ended by itself (nothing).
    async fn watch_over(&mut self, gateway: &mut Gateway, lives: &mut Lives) -> Option<Order> {
        let mut measured = Instant::now();
        loop {
            if gateway.is_gone() {
                return None;
            }
            if measured.elapsed() > Duration::from_millis(500) {
                measured = Instant::now();
                lives.measure(gateway.pid());
            }
            #[expect(clippy::disallowed_methods, reason = "nothing is lost when no order comes")]
            let order = tokio::time::timeout(Duration::from_millis(10), self.orders.recv()).await;
            match order.ok().flatten() {
                Some(Order::Freeze(time)) => {
                    gateway.signal(Signal::Stop);
                    tokio::time::sleep(time).await;
                    gateway.signal(Signal::Cont);
                }
                Some(Order::Stop) => {
                    if let Ok(page) = http::get(gateway.admin, "/metrics").await {
                        self.write(lives, "metrics", &page.text());
                    }
                    return Some(Order::Stop);
                }
                Some(Order::Kill) => return Some(Order::Kill),
                None => {}
            }
        }
    }

    fn write(&self, lives: &Lives, what: &str, text: &str) {
        let file = self.output.with_extension(format!("{}.{what}", lives.ends.len()));
        std::fs::write(file, text).expect("write what the gateway said");
    }
}

/// SIGABRT.
const ABORT: i32 = 6;

impl Lives {
    /// Where there is `/proc`.
    fn measure(&mut self, pid: u32) {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        self.rss_kib = self.rss_kib.max(rss.and_then(|text| text.parse().ok()).unwrap_or(0));
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        self.files = self.files.max(files);
    }
}
