//! A worker that is frozen longer than its lease, and thaws when somebody else has done its work.

use super::crashes::SHORT_LEASES;
use super::{EFFECTS, NOTE_EFFECT, PROCESSED};
use crate::support::database::{Database, Engine};
use crate::support::destination::{Behaviour, Destination};
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::process::Signal;
use crate::support::{stripe, wait};

const PUBLISHED: &str = "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL";

#[tokio::test]
async fn a_dispatcher_that_lost_its_lease_changes_nothing() {
    let database = Database::new(Engine::Postgres).await.with_effects().await;
    let destination = Destination::start().await;
    destination.script([Behaviour::Hold]);
    let config = GatewayConfig::new(&database.url, "sync")
        .destination("crm", &destination.url(), None)
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n")
        .with(LONG_SENDS);
    let frozen = config.start().await;
    frozen.deliver(body()).await.expect("an answer");
    destination.wait_for(1).await;
    frozen.signal(Signal::Stop);

    // The second gateway takes over when the lease ends, sends again and settles.
    let successor = config.start().await;
    database.wait_for(PUBLISHED, 1).await;
    let settled = "SELECT CAST(published_at AS text), \
                   concat_ws(' ', lease_epoch, available_at, COALESCE(last_error, '-'), review_at) FROM outbox";
    let row = database.pairs(settled).await;

    // The first one wakes to its answer, or to the end of its time for one, and settles: as it records its attempt.
    destination.release();
    frozen.signal(Signal::Cont);
    database.wait_for("SELECT count(*) FROM delivery_attempts", 2).await;
    assert_eq!(database.pairs(settled).await, row, "the late settlement changed the row");
    assert_eq!(database.count("SELECT count(*) FROM delivery_attempts WHERE lease_lost").await, 1);
    wait::until("the lost lease to be counted", async || {
        (leases_lost(&frozen, "outbox").await >= 1.0).then_some(())
    })
    .await;
    assert!(leases_lost(&successor, "outbox").await < 0.5, "the successor's lease was good");
    let deliveries = destination.deliveries();
    assert_eq!(deliveries.len(), 2);
    assert_eq!(deliveries[0].header("webhook-id"), deliveries[1].header("webhook-id"));
}

#[tokio::test]
async fn a_worker_that_is_frozen_beyond_its_lease_has_its_effect_once() {
    let database = Database::new(Engine::Postgres).await.with_effects().await;
    let config =
        GatewayConfig::new(&database.url, "async").sql_handler("note", NOTE_EFFECT).with(SHORT_LEASES);
    let frozen = config.start().await;
    let successor = config.start().await;
    successor.signal(Signal::Stop);
    let held = database.hold("effects").await;
    assert_eq!(frozen.deliver(body()).await.expect("an answer").summary(), (200, "accepted"));
    wait::until("the handler to be at work", async || (database.blocked().await == 1).then_some(())).await;
    frozen.signal(Signal::Stop);

    // While it is frozen its lease ends, and another worker claims the event and waits for the row.
    successor.signal(Signal::Cont);
    database.wait_for("SELECT count(*) FROM webhook_inbox WHERE lease_epoch >= 2", 1).await;
    held.release().await;
    frozen.signal(Signal::Cont);

    database.wait_for(PROCESSED, 1).await;
    // Both are idle again: nobody will add to the effects.
    wait::until("both to be idle", async || (database.busy().await == 0).then_some(())).await;
    assert_eq!(database.count(EFFECTS).await, 1);
    let answer = successor.deliver(body()).await.expect("an answer");
    assert_eq!(answer.summary(), (200, "duplicate"));
    drop(frozen);
}

fn body() -> Vec<u8> {
    stripe::event("evt_1", "customer.created", &serde_json::json!({ "id": "cus_1" }))
}

async fn leases_lost(gateway: &Gateway, queue: &str) -> f64 {
    gateway.metrics().await.sum("hookgate_leases_lost_total", &[("queue", queue)])
}

/// A lease ends although the request it guards may still be answered.
const LONG_SENDS: &str = r#"
[outbox]
lease = "2s"
work_timeout = "1500ms"
poll_interval = "50ms"
"#;
