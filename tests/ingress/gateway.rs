//! A whole gateway inside the test, on SQLite, with handlers that the test holds in its hand.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use async_trait::async_trait;
use hookgate::app::Builder;
use hookgate::config::{self, Sources};
use hookgate::handler::{Handler, HandlerError, Outcome, Registry};
use hookgate::model::Event;
use hookgate::store::Tx;
use serde_json::json;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::sync::Semaphore;

use crate::support::http::{Answer, post};
use crate::support::metrics::Metrics;
use crate::support::stripe;
use crate::support::wait::until;

pub const PATH: &str = "/stripe/webhook";
const DATABASE: &str = "hookgate.db";

pub struct Gateway {
    pub ingress: SocketAddr,
    pub admin: SocketAddr,
    /// Each permit lets one event of type `test.hold` go on.
    pub hold: Arc<Semaphore>,
    /// Events of type `test.hold` whose handler was called.
    pub begun: Arc<AtomicUsize>,
    app: hookgate::app::Gateway,
    folder: tempfile::TempDir,
}

impl Gateway {
    /// One `sync` Stripe endpoint, `billing`, that takes at most 4 KiB; `server` is added to `[server]`.
    pub async fn start(server: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hookgate.toml");
        std::fs::write(&file, toml(server, &folder.path().join(DATABASE).display().to_string())).unwrap();
        let (hold, begun) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut handlers = Registry::new();
        handlers.register("hold", Arc::new(Hold(Arc::clone(&hold), Arc::clone(&begun)))).unwrap();
        handlers.register("panic", Arc::new(Panic)).unwrap();
        let names = handlers.names().map(str::to_owned).collect();
        let sources = Sources { files: vec![file], handlers: names, ..Sources::default() };
        let config = config::load(&sources).expect("a valid configuration").config;
        let app = Builder::new(config, handlers).start().await.expect("a gateway");
        Self { ingress: app.ingress(), admin: app.admin(), hold, begun, app, folder }
    }

    /// Posts a signed event.
    pub async fn send(&self, event_id: &str, event_type: &str) -> Answer {
        let (body, signature) = signed(event_id, event_type);
        post(self.ingress, PATH, &[("stripe-signature", signature.as_bytes())], body).await.unwrap()
    }

    pub async fn metrics(&self) -> Metrics {
        Metrics::scrape(self.admin).await
    }

    /// Waits until this metric of the endpoint has reached a value.
    pub async fn reaches(&self, name: &str, labels: &[(&str, &str)], value: f64) {
        until(&format!("{name} {labels:?} to reach {value}"), async || {
            (self.metrics().await.sum(name, labels) >= value).then_some(())
        })
        .await;
    }

    /// Ends it: whether nothing was cut, and how many events are processed in the database that it leaves.
    pub async fn drain(self) -> (bool, i64) {
        let clean = self.app.drain().await;
        let file = SqliteConnectOptions::new().filename(self.folder.path().join(DATABASE));
        let mut left = SqliteConnection::connect_with(&file).await.unwrap();
        let processed = sqlx::query_scalar("SELECT count(processed_at) FROM webhook_inbox");
        (clean, processed.fetch_one(&mut left).await.unwrap())
    }
}

/// A body and its `stripe-signature`.
pub fn signed(event_id: &str, event_type: &str) -> (Vec<u8>, String) {
    let body = stripe::event(event_id, event_type, &json!({ "id": "obj_1" }));
    let signature = stripe::signature(&body);
    (body, signature)
}

fn toml(server: &str, database: &str) -> String {
    format!(
        r#"
[server]
listen = "127.0.0.1:0"
{server}
[admin]
listen = "127.0.0.1:0"
[database]
url = "sqlite://{database}"
[endpoints.billing]
provider = "stripe"
paths = ["{PATH}", "/alias"]
secrets = ["literal:{secret}"]
mode = "sync"
max_body = "4KiB"
[[routes]]
endpoint = "billing"
types = ["test.hold"]
handler = "hold"
[[routes]]
endpoint = "billing"
types = ["test.panic"]
handler = "panic"
"#,
        secret = stripe::SECRET
    )
}

struct Hold(Arc<Semaphore>, Arc<AtomicUsize>);

#[async_trait]
impl Handler for Hold {
    async fn handle(&self, _: &mut Tx, _: &Event) -> Result<Outcome, HandlerError> {
        self.1.fetch_add(1, SeqCst);
        self.0.acquire().await.expect("never closed").forget();
        Ok(Outcome::Done)
    }
}

struct Panic;

#[async_trait]
impl Handler for Panic {
    async fn handle(&self, _: &mut Tx, _: &Event) -> Result<Outcome, HandlerError> {
        panic!("a handler of the test panics on purpose")
    }
}
