//! Destinations that do not take a message at once, or never.

use serde_json::json;

use crate::support::database::{Database, Engine, both_engines};
use crate::support::destination::{Behaviour, Destination};
use crate::support::gateway::GatewayConfig;
use crate::support::stripe;

async fn a_message_is_sent_until_it_is_taken_always_under_the_same_id(engine: Engine) {
    let database = Database::new(engine).await;
    let destination = Destination::start().await;
    destination.script([503, 500, 429].map(|status| Behaviour::Answer(status, Vec::new())));
    let gateway = forwarding(&database, &destination).start().await;
    gateway.deliver(body()).await.expect("an answer");
    database.wait_for("SELECT count(*) FROM outbox WHERE published_at IS NOT NULL", 1).await;
    let deliveries = destination.deliveries();
    assert_eq!(deliveries.len(), 4);
    for (number, delivery) in deliveries.iter().enumerate() {
        assert_eq!(delivery.header("webhook-id"), deliveries[0].header("webhook-id"));
        assert_eq!(delivery.header("idempotency-key"), deliveries[0].header("idempotency-key"));
        assert_eq!(delivery.header("x-hookgate-attempt"), (number + 1).to_string());
    }
    assert_eq!(database.count("SELECT count(*) FROM delivery_attempts").await, 4);
}

async fn a_message_that_is_refused_for_good_waits_for_a_person(engine: Engine) {
    let database = Database::new(engine).await;
    let destination = Destination::start().await;
    destination.script([Behaviour::Answer(410, Vec::new())]);
    let gateway = forwarding(&database, &destination).start().await;
    gateway.deliver(body()).await.expect("an answer");
    database.wait_for("SELECT count(*) FROM outbox WHERE review_at IS NOT NULL", 1).await;
    // Its neighbour is not held up.
    let next = stripe::event("evt_2", "customer.created", &json!({}));
    gateway.deliver(next).await.expect("an answer");
    database.wait_for("SELECT count(*) FROM outbox WHERE published_at IS NOT NULL", 1).await;
    assert_eq!(destination.deliveries().len(), 2);
}

both_engines!(
    a_message_is_sent_until_it_is_taken_always_under_the_same_id,
    a_message_that_is_refused_for_good_waits_for_a_person,
);

fn forwarding(database: &Database, destination: &Destination) -> GatewayConfig {
    GatewayConfig::new(&database.url, "sync")
        .destination("crm", &destination.url(), None)
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n")
        .with("[outbox]\npoll_interval = \"50ms\"\nbackoff_cap = \"1s\"\n")
}

fn body() -> Vec<u8> {
    stripe::event("evt_1", "customer.created", &json!({}))
}
