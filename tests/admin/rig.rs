//! The operators' pages with a store that answers as the test says.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hookgate::admin::{AdminState, router};
use hookgate::clock::{Clock as _, SystemClock, Timestamp};
use hookgate::config::{self, Config, Retention, Sources};
use hookgate::ingress::{Drain, Limits, bind, listen};
use hookgate::model::{Event, EventKey, Secret};
use hookgate::observe::{Metrics, Monitor};
use hookgate::store::{
    Backlog, CircuitRecord, Condition, Connections, Ledger, Pause, Pruned, SecretMatches, SecretUse,
    StoreError,
};
use tokio_util::sync::CancellationToken;

/// Shorter than any test's patience.
const INTERVAL: Duration = Duration::from_millis(20);

pub struct Rig {
    pub address: SocketAddr,
    pub store: Arc<Scripted>,
    pub draining: CancellationToken,
}

impl Rig {
    /// Pages that believe to be on loopback.
    pub async fn on_loopback() -> Self {
        Self::start(&empty_config(), "127.0.0.1:8081", None).await
    }

    /// Pages that believe to be reachable from elsewhere.
    pub async fn elsewhere(token: Option<&str>) -> Self {
        Self::start(&empty_config(), "0.0.0.0:8081", token).await
    }

    pub async fn start(config: &Config, said_to_listen_on: &str, token: Option<&str>) -> Self {
        let metrics = Metrics::new(config).unwrap();
        let store = Arc::new(Scripted {
            up: AtomicBool::new(true),
            waiting: Mutex::default(),
            ahead: AtomicI64::new(0),
        });
        let monitor = Monitor::new(Arc::clone(&store) as Arc<dyn Ledger>, Arc::clone(&metrics), INTERVAL);
        let mut admin = config.admin.clone();
        admin.listen = said_to_listen_on.parse().unwrap();
        admin.metrics_token = token.map(|token| Secret::new(token.as_bytes()));
        let draining = CancellationToken::new();
        let state = AdminState { admin, metrics, store: monitor.health(), draining: draining.clone() };
        tokio::spawn(monitor.run(CancellationToken::new()));
        let tcp = bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let address = tcp.local_addr().unwrap();
        let minute = Duration::from_mins(1);
        let limits = Limits { connections: 100, headers: minute, idle: minute };
        tokio::spawn(async move {
            let never = Drain { signal: CancellationToken::new(), delay: Duration::ZERO, timeout: minute };
            listen(tcp, None, limits, router(state), &never).await
        });
        Self { address, store, draining }
    }
}

/// The defaults: no endpoint, no destination.
pub fn empty_config() -> Config {
    config::load(&Sources::default()).expect("the defaults are valid").config
}

/// A store that is up or down, and in which this waits.
pub struct Scripted {
    pub up: AtomicBool,
    pub waiting: Mutex<(Vec<Backlog>, Vec<Backlog>)>,
    /// How far the database's clock is before ours, in seconds.
    pub ahead: AtomicI64,
}

impl Scripted {
    fn answer<T>(&self, answer: T) -> Result<T, StoreError> {
        if self.up.load(SeqCst) { Ok(answer) } else { Err(StoreError::Timeout) }
    }
}

#[async_trait]
impl Ledger for Scripted {
    async fn backlog(&self) -> Result<(Vec<Backlog>, Vec<Backlog>), StoreError> {
        self.answer(self.waiting.lock().unwrap().clone())
    }

    async fn circuits(&self) -> Result<Vec<CircuitRecord>, StoreError> {
        self.answer(Vec::new())
    }

    async fn count_events(&self, _: &str, _: u64, _: u64) -> Result<(), StoreError> {
        self.answer(())
    }

    async fn count_matches(&self, _: &[SecretUse]) -> Result<(), StoreError> {
        self.answer(())
    }

    async fn secret_matches(&self) -> Result<Vec<SecretMatches>, StoreError> {
        self.answer(Vec::new())
    }

    async fn quarantine_rows(&self, _: &[Arc<str>]) -> Result<Vec<(Arc<str>, i64)>, StoreError> {
        self.answer(Vec::new())
    }

    async fn last_verified(&self) -> Result<Vec<(String, Timestamp)>, StoreError> {
        self.answer(Vec::new())
    }

    async fn event_counts(&self, _: u32) -> Result<Vec<(String, u64, u64)>, StoreError> {
        self.answer(Vec::new())
    }

    async fn event_types(&self) -> Result<Vec<(String, String, i64)>, StoreError> {
        self.answer(Vec::new())
    }

    async fn find(&self, _: &EventKey) -> Result<Option<Event>, StoreError> {
        self.answer(None)
    }

    async fn pauses(&self) -> Result<Vec<Pause>, StoreError> {
        self.answer(Vec::new())
    }

    async fn prune(&self, _: &Retention, _: u32) -> Result<Pruned, StoreError> {
        self.answer(Pruned::default())
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.answer(())
    }

    async fn condition(&self) -> Result<Condition, StoreError> {
        let now = SystemClock.now() + chrono::TimeDelta::seconds(self.ahead.load(SeqCst));
        self.answer(Condition { now, durable: false })
    }

    fn connections(&self) -> Connections {
        Connections { busy: 2, idle: 5 }
    }
}
