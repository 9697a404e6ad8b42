//! SIGKILL at random moments under load, with a sender that redelivers as a provider does.
//!
//! The history (what was acknowledged) is checked against the database and the destination after the last restart.
//! Each test kills [`kills`] times: few, so that every run can afford it; `HOOKGATE_TEST_KILLS=100` for hundreds.

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

async fn sync_acknowledgements_survive_random_kills(engine: Engine) {
    survive(engine, "sync").await;
}

async fn async_acknowledgements_survive_random_kills(engine: Engine) {
    survive(engine, "async").await;
}

both_engines!(sync_acknowledgements_survive_random_kills, async_acknowledgements_survive_random_kills);

fn kills() -> u32 {
    std::env::var("HOOKGATE_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
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
            tokio::time::sleep(Duration::from_millis(rand::random_range(20..900))).await;
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
    history.check(&database, &destination).await;
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

    async fn check(&self, database: &Database, destination: &Destination) {
        let inbox: BTreeMap<String, String> = database
            .pairs("SELECT event_id, COALESCE(review_reason, '') FROM webhook_inbox")
            .await
            .into_iter()
            .collect();
        let mut effects = BTreeMap::<String, usize>::new();
        for (event_id, _) in database.pairs("SELECT event_id, '' FROM effects").await {
            *effects.entry(event_id).or_default() += 1;
        }
        let mut messages = BTreeMap::<String, BTreeSet<String>>::new();
        for delivery in destination.deliveries() {
            let event_id = delivery.header("x-hookgate-event-id").to_owned();
            messages.entry(event_id).or_default().insert(delivery.header("webhook-id").to_owned());
        }
        let unsent: BTreeMap<String, String> = database
            .pairs("SELECT aggregate_id, COALESCE(review_reason, '') FROM outbox WHERE published_at IS NULL")
            .await
            .into_iter()
            .collect();

        let mut lost = Vec::new();
        let mut wrong = Vec::new();
        for id in self.acknowledged.keys() {
            let Some(review) = inbox.get(id) else {
                lost.push(id);
                continue;
            };
            match effects.get(id).copied().unwrap_or(0) {
                1 => {}
                0 if !review.is_empty() => continue,
                times => wrong.push(format!("{id}: {times} effects")),
            }
            match messages.get(id).map_or(0, BTreeSet::len) {
                1 => {}
                0 if unsent.get(id).is_some_and(|reason| !reason.is_empty()) => {}
                ids => wrong.push(format!("{id}: delivered under {ids} message ids")),
            }
        }
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        assert!(wrong.is_empty(), "not exactly once: {wrong:?}");
        assert!(
            effects.values().all(|times| *times == 1),
            "an effect of an event without acknowledgement, twice"
        );
        self.check_bytes(database).await;
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
