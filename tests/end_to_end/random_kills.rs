//! SIGKILL at random moments under load, with a sender that redelivers as a provider does.
//!
//! The history (what was acknowledged) is checked against the database and the destination after the last restart.
//! Each test kills [`KILLS`] times, all four together more than 200 times; `HOOKGATE_TEST_KILLS` sets another number.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::NOTE_EFFECT;
use super::crashes::SHORT_LEASES;
use crate::support::database::{Database, Engine, both_engines};
use crate::support::destination::Destination;
use crate::support::gateway::{GatewayConfig, PATH};
use crate::support::{http, stripe, wait};

/// Senders at work at the same time.
const SENDERS: usize = 6;

/// How often each test kills the gateway.
const KILLS: u32 = 52;

/// How often a row's work may crash before the row is put aside for a person.
const CRASHES: i64 = 5;

async fn sync_acknowledgements_survive_random_kills(engine: Engine) {
    survive(engine, "sync").await;
}

async fn async_acknowledgements_survive_random_kills(engine: Engine) {
    survive(engine, "async").await;
}

both_engines!(sync_acknowledgements_survive_random_kills, async_acknowledgements_survive_random_kills);

fn kills() -> u32 {
    std::env::var("HOOKGATE_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS)
}

async fn survive(engine: Engine, mode: &str) {
    let database = Database::new(engine).await.with_effects().await;
    let destination = Destination::start().await;
    let config = GatewayConfig::new(&database.url, mode)
        .sql_handler("note", NOTE_EFFECT)
        .destination("crm", &destination.url(), None)
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n")
        .with(SHORT_LEASES);

    let (place, places) = watch::channel(None);
    let (stop, stopped) = watch::channel(false);
    let senders = join_all((0..SENDERS).map(|number| send(number, places.clone(), stopped.clone())));
    let (sent, last) = tokio::join!(senders, async {
        for _ in 0..kills() {
            let gateway = config.start().await;
            place.send_replace(Some(gateway.ingress));
            // Not a wait for a condition: the moment is to be any.
            tokio::time::sleep(Duration::from_millis(rand::random_range(5..600))).await;
            gateway.kill().await;
        }
        let last = config.start().await;
        place.send_replace(Some(last.ingress));
        stop.send_replace(true);
        last
    });
    let acknowledged: BTreeMap<String, Sent> = sent.into_iter().flatten().collect();
    let history = History { acknowledged };
    history.wait_for_rest(&database).await;
    history.check(mode, &database, &destination).await;
    eprintln!(
        "{engine:?} {mode}: {} kills, {} events acknowledged, {} deliveries",
        kills(),
        history.acknowledged.len(),
        destination.deliveries().len()
    );
    last.terminate().await;
}

/// What a sender knows of an event that was acknowledged.
struct Sent {
    body: Arc<[u8]>,
}

/// Sends event after event. Each is sent again until it is acknowledged, and one in five once more after that.
async fn send(
    number: usize,
    mut place: watch::Receiver<Option<SocketAddr>>,
    stopped: watch::Receiver<bool>,
) -> Vec<(String, Sent)> {
    let mut acknowledged = Vec::new();
    while !*stopped.borrow() {
        let id = format!("evt_{number}_{}", acknowledged.len());
        let body: Arc<[u8]> =
            stripe::event(&id, "customer.created", &serde_json::json!({ "id": "cus_1" })).into();
        deliver(&mut place, &body).await;
        if rand::random_bool(0.2) {
            deliver(&mut place, &body).await;
        }
        acknowledged.push((id, Sent { body }));
    }
    acknowledged
}

async fn deliver(place: &mut watch::Receiver<Option<SocketAddr>>, body: &Arc<[u8]>) {
    wait::until("an acknowledgement", async || {
        let to = (*place.borrow_and_update())?;
        let signature = stripe::signature(body);
        let headers: [(&str, &[u8]); 1] = [("stripe-signature", signature.as_bytes())];
        http::post(to, PATH, &headers, body.to_vec()).await.ok().filter(|answer| answer.status == 200)
    })
    .await;
}

/// The record of a run.
struct History {
    acknowledged: BTreeMap<String, Sent>,
}

impl History {
    /// Until nothing is left to do: no unprocessed row, no unpublished message, but those that wait for a person.
    async fn wait_for_rest(&self, database: &Database) {
        database
            .wait_for(
                "SELECT count(*) FROM webhook_inbox WHERE processed_at IS NULL AND review_at IS NULL",
                0,
            )
            .await;
        database
            .wait_for("SELECT count(*) FROM outbox WHERE published_at IS NULL AND review_at IS NULL", 0)
            .await;
    }

    async fn check(&self, mode: &str, database: &Database, destination: &Destination) {
        let stored = ids(database, "SELECT event_id, '' FROM webhook_inbox").await;
        let aside = self.check_aside(mode, database).await;
        let unsent = check_unsent(database).await;
        let mut effects = BTreeMap::<String, usize>::new();
        for (event_id, _) in database.pairs("SELECT event_id, '' FROM effects").await {
            *effects.entry(event_id).or_default() += 1;
        }
        let mut messages = BTreeMap::<String, BTreeSet<String>>::new();
        for delivery in destination.deliveries() {
            let event_id = delivery.header("x-hookgate-event-id").to_owned();
            messages.entry(event_id).or_default().insert(delivery.header("webhook-id").to_owned());
        }

        let lost: Vec<_> = self.acknowledged.keys().filter(|id| !stored.contains(*id)).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        let mut wrong = Vec::new();
        for id in &stored {
            let done = usize::from(!aside.contains(id));
            let times = effects.get(id).copied().unwrap_or(0);
            if times != done {
                wrong.push(format!("{id}: {times} effects, not {done}"));
            }
            let under = messages.get(id).map_or(0, BTreeSet::len);
            // One that was put aside unsent may have arrived before: the crashes came between sending and settling.
            if under != done && !(under == 0 && unsent.contains(id)) {
                wrong.push(format!("{id}: delivered under {under} message ids, not {done}"));
            }
        }
        assert!(wrong.is_empty(), "not exactly once: {wrong:?}");
        let unknown: Vec<_> =
            effects.keys().chain(messages.keys()).filter(|id| !stored.contains(*id)).collect();
        assert!(unknown.is_empty(), "effects or messages of events that are not stored: {unknown:?}");
        self.check_bytes(database).await;
    }

    /// The events that wait for a person with their work undone: exactly those whose work was crashed too often, and
    /// none where the work is done before the acknowledgement.
    async fn check_aside(&self, mode: &str, database: &Database) -> BTreeSet<String> {
        let aside = ids(database, "SELECT event_id, '' FROM webhook_inbox WHERE processed_at IS NULL").await;
        let crashed = format!(
            "SELECT event_id, '' FROM webhook_inbox WHERE review_at IS NOT NULL AND crash_attempts >= {CRASHES}"
        );
        assert_eq!(aside, ids(database, &crashed).await, "put aside, but not for the crashes of its work");
        assert!(
            mode == "async" || aside.is_empty(),
            "put aside, although sync work is not claimed: {aside:?}"
        );
        aside
    }

    /// Stored bytes are the sent bytes.
    async fn check_bytes(&self, database: &Database) {
        let stored = database.bytes("SELECT body FROM webhook_inbox").await;
        let stored: BTreeSet<Vec<u8>> = stored.iter().map(|body| Sha256::digest(body).to_vec()).collect();
        for (id, sent) in &self.acknowledged {
            assert!(
                stored.contains(Sha256::digest(&sent.body).as_slice()),
                "{id}: other bytes than were sent"
            );
        }
    }
}

/// The events whose message waits for a person: exactly those whose sending was crashed too often.
async fn check_unsent(database: &Database) -> BTreeSet<String> {
    let unsent = ids(database, "SELECT aggregate_id, '' FROM outbox WHERE published_at IS NULL").await;
    let crashed = format!(
        "SELECT aggregate_id, '' FROM outbox WHERE review_at IS NOT NULL AND crash_attempts >= {CRASHES}"
    );
    assert_eq!(unsent, ids(database, &crashed).await, "unsent, but not for the crashes of its sending");
    unsent
}

/// The first column.
async fn ids(database: &Database, sql: &str) -> BTreeSet<String> {
    database.pairs(sql).await.into_iter().map(|(id, _)| id).collect()
}
