//! Routes that look into events: filters, transforms, the first match.

use serde_json::{Value, json};

use crate::support::database::{Database, Engine, both_engines};
use crate::support::destination::Destination;
use crate::support::gateway::GatewayConfig;
use crate::support::stripe;

const REVIEW: &str =
    "SELECT count(*) FROM webhook_inbox WHERE review_at IS NOT NULL AND processed_at IS NULL";
const DONE: &str = "SELECT count(*) FROM webhook_inbox WHERE processed_at IS NOT NULL";
const SENT: &str = "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL";

async fn a_filter_lets_only_the_events_through_that_it_holds_for(engine: Engine) {
    let database = Database::new(engine).await;
    let destination = Destination::start().await;
    let gateway = config(&database, &destination, "async")
        .with(
            "[[routes]]\nendpoint = \"billing\"\nfilter = '.data.object.amount > 100'\nforward = [\"crm\"]\n",
        )
        .start()
        .await;
    for (id, amount) in [("evt_1", 100), ("evt_2", 101)] {
        gateway.deliver(event(id, amount)).await.expect("an answer");
    }
    database.wait_for(DONE, 2).await;
    database.wait_for(SENT, 1).await;
    assert_eq!(destination.deliveries()[0].header("x-hookgate-event-id"), "evt_2");
    assert_eq!(destination.deliveries()[0].header("x-hookgate-transformed"), "");
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox WHERE outcome = 'ignored'").await, 1);
}

async fn a_filter_that_fails_sends_the_event_to_review_and_nowhere_else(engine: Engine) {
    let database = Database::new(engine).await;
    let destination = Destination::start().await;
    let gateway = config(&database, &destination, "async")
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"charge.*\"]\nforward = [\"crm\"]\n")
        .with("[[routes]]\nendpoint = \"billing\"\nfilter = '.data.object.amount | ltrimstr(1) | error'\nforward = [\"erp\"]\n")
        .start()
        .await;
    gateway.deliver(event("evt_1", 1)).await.expect("an answer");
    database.wait_for(REVIEW, 1).await;
    assert_eq!(database.count("SELECT count(*) FROM outbox").await, 0);
    let sql = "SELECT count(*) FROM webhook_inbox WHERE last_error = 'filter.failed' AND attempts = 1";
    assert_eq!(database.count(sql).await, 1);
    let log = gateway.log();
    assert!(log.contains("the filter of the route at ") && log.contains("hookgate.toml:"), "{log}");
}

async fn a_failing_filter_in_sync_mode_is_answered_as_a_failure_and_leaves_nothing(engine: Engine) {
    let database = Database::new(engine).await;
    let destination = Destination::start().await;
    let gateway = config(&database, &destination, "sync")
        .with("[[routes]]\nendpoint = \"billing\"\nfilter = 'empty'\nforward = [\"crm\"]\n")
        .start()
        .await;
    let answer = gateway.deliver(event("evt_1", 1)).await.expect("an answer");
    assert_eq!(answer.status, 500);
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox").await, 0);
    assert_eq!(database.count("SELECT count(*) FROM outbox").await, 0);
}

async fn a_transform_is_sent_in_place_of_the_body_under_a_signature_of_its_own(engine: Engine) {
    let database = Database::new(engine).await;
    let destination = Destination::start().await;
    let gateway = config(&database, &destination, "async")
        .with(
            "[[routes]]\nendpoint = \"billing\"\nforward = [\"crm\"]\n\
             transform = '{id: $event.id, amount: .data.object.amount}'\n\
             [[routes]]\nendpoint = \"billing\"\nforward = [\"crm\"]\ntransform = '[.id]'\n\
             [[routes]]\nendpoint = \"billing\"\ntypes = [\"charge.*\"]\nforward = [\"crm\"]\n",
        )
        .start()
        .await;
    let body = event("evt_1", 7);
    gateway.deliver(body.clone()).await.expect("an answer");
    database.wait_for(SENT, 3).await;
    let deliveries = destination.deliveries();
    let of = |body: &[u8]| deliveries.iter().find(|it| it.body == body).expect("a delivery");
    let (object, list, whole) = (of(br#"{"id":"evt_1","amount":7}"#), of(br#"["evt_1"]"#), of(&body));
    for transformed in [object, list] {
        assert_eq!(transformed.header("x-hookgate-transformed"), "true");
        assert_eq!(transformed.header("content-type"), "application/json");
        assert_eq!(transformed.header("stripe-signature"), "");
        assert_eq!(transformed.header("x-hookgate-event-id"), "evt_1");
    }
    assert_eq!(whole.header("x-hookgate-transformed"), "");
    assert_ne!(whole.header("stripe-signature"), "");
    let ids = [object, list, whole].map(|it| it.header("webhook-id").to_owned());
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    // The original is still there.
    let original: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(original["data"]["object"]["amount"], 7);
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox WHERE body IS NOT NULL").await, 1);
}

async fn with_first_an_event_goes_to_the_first_route_that_wants_it(engine: Engine) {
    let database = Database::new(engine).await;
    let destination = Destination::start().await;
    let gateway = config(&database, &destination, "async\"\nmatch = \"first")
        .with("[[routes]]\nendpoint = \"billing\"\nfilter = '.data.object.amount > 100'\nforward = [\"crm\"]\ntransform = '\"large\"'\n")
        .with("[[routes]]\nendpoint = \"billing\"\nforward = [\"erp\"]\ntransform = '\"small\"'\n")
        .start()
        .await;
    for (id, amount) in [("evt_1", 1), ("evt_2", 1000)] {
        gateway.deliver(event(id, amount)).await.expect("an answer");
    }
    database.wait_for(SENT, 2).await;
    let mut got: Vec<(String, Vec<u8>)> = destination
        .deliveries()
        .iter()
        .map(|it| (it.header("x-hookgate-event-id").to_owned(), it.body.to_vec()))
        .collect();
    got.sort();
    let expected = [("evt_1", "\"small\""), ("evt_2", "\"large\"")];
    assert_eq!(got, expected.map(|(id, body)| (id.to_owned(), body.as_bytes().to_vec())));
}

both_engines!(
    a_filter_lets_only_the_events_through_that_it_holds_for,
    a_filter_that_fails_sends_the_event_to_review_and_nowhere_else,
    a_failing_filter_in_sync_mode_is_answered_as_a_failure_and_leaves_nothing,
    a_transform_is_sent_in_place_of_the_body_under_a_signature_of_its_own,
    with_first_an_event_goes_to_the_first_route_that_wants_it,
);

/// Two destinations, `crm` and `erp`, that are one server.
fn config(database: &Database, destination: &Destination, mode: &str) -> GatewayConfig {
    GatewayConfig::new(&database.url, mode)
        .destination("crm", &destination.url(), Some("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="))
        .destination("erp", &destination.url(), None)
        .with("[inbox]\npoll_interval = \"50ms\"\n[outbox]\npoll_interval = \"50ms\"\n")
}

fn event(id: &str, amount: i64) -> Vec<u8> {
    stripe::event(id, "charge.succeeded", &json!({ "amount": amount }))
}
