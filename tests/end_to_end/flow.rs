//! Destinations that hang, that are broken, that want their own pace.

use serde_json::{Value, json};

use crate::support::database::{Database, Engine, both_engines};
use crate::support::destination::{Behaviour, Destination};
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::{stripe, wait};

both_engines!(
    destinations_that_hang_do_not_keep_messages_from_one_that_does_not,
    a_destination_that_is_busy_gets_the_next_message_as_soon_as_a_hand_is_free,
    a_rate_is_kept_and_nothing_is_claimed_beyond_it,
    a_broken_destination_is_left_alone_until_it_answers,
    an_ordered_destination_gets_the_messages_of_a_key_one_after_the_other,
);

/// No look at the queue without a wake-up.
const OUTBOX: &str = "[outbox]\npoll_interval = \"1m\"\nbackoff_cap = \"1s\"\n";

const PUBLISHED: &str = "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL";

fn route(destinations: &[&str]) -> String {
    format!("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = {destinations:?}\n")
}

async fn deliver(gateway: &Gateway, count: usize) {
    for n in 0..count {
        let event = stripe::event(&format!("evt_{n}"), "customer.created", &json!({ "id": "cus_1" }));
        gateway.deliver(event).await.expect("an answer");
    }
}

async fn destinations_that_hang_do_not_keep_messages_from_one_that_does_not(engine: Engine) {
    let database = Database::new(engine).await;
    let (first, second, well) =
        (Destination::start().await, Destination::start().await, Destination::start().await);
    for hole in [&first, &second] {
        hole.script((0..100).map(|_| Behaviour::Hold));
    }
    let config = GatewayConfig::new(&database.url, "sync")
        .destination("first", &first.url(), None)
        .destination("second", &second.url(), None)
        .destination("well", &well.url(), None)
        .with(&route(&["first", "second", "well"]))
        .with(&format!("{OUTBOX}concurrency = 2\n"));
    let gateway = config.start().await;
    deliver(&gateway, 20).await;
    // All of them, while every hand that the others can have is waiting.
    assert_eq!(well.wait_for(20).await.len(), 20);
    database.wait_for(PUBLISHED, 20).await;
    let hanging = first.deliveries().len() + second.deliveries().len();
    assert!((2..=4).contains(&hanging), "one hand each, and two that they share: {hanging}");
}

async fn a_destination_that_is_busy_gets_the_next_message_as_soon_as_a_hand_is_free(engine: Engine) {
    let database = Database::new(engine).await;
    let crm = Destination::start().await;
    crm.script([Behaviour::Hold]);
    let config = GatewayConfig::new(&database.url, "sync")
        .with(&format!("[destinations.crm]\ntype = \"http\"\nurl = \"{}\"\nconcurrency = 1\n", crm.url()))
        .with(&route(&["crm"]))
        .with(OUTBOX);
    let gateway = config.start().await;
    deliver(&gateway, 20).await;
    assert_eq!(crm.wait_for(1).await.len(), 1);
    crm.release();
    database.wait_for(PUBLISHED, 20).await;
}

async fn a_rate_is_kept_and_nothing_is_claimed_beyond_it(engine: Engine) {
    let database = Database::new(engine).await;
    let (slow, fast) = (Destination::start().await, Destination::start().await);
    let config = GatewayConfig::new(&database.url, "sync")
        .with(&format!("[destinations.slow]\ntype = \"http\"\nurl = \"{}\"\nrate = \"1/h\"\n", slow.url()))
        .with(&format!("[destinations.fast]\ntype = \"http\"\nurl = \"{}\"\nrate = \"1000/s\"\n", fast.url()))
        .with(&route(&["slow", "fast"]))
        .with(OUTBOX);
    let gateway = config.start().await;
    deliver(&gateway, 10).await;
    database
        .wait_for("SELECT count(*) FROM outbox WHERE destination = 'fast' AND published_at IS NOT NULL", 10)
        .await;
    slow.wait_for(1).await;
    database
        .wait_for("SELECT count(*) FROM outbox WHERE destination = 'slow' AND published_at IS NOT NULL", 1)
        .await;
    let waiting =
        "SELECT count(*) FROM outbox WHERE destination = 'slow' AND attempts = 0 AND lease_until IS NULL";
    assert_eq!(database.count(waiting).await, 9);
}

async fn a_broken_destination_is_left_alone_until_it_answers(engine: Engine) {
    let database = Database::new(engine).await;
    let crm = Destination::start().await;
    crm.script((0..3).map(|_| Behaviour::Answer(503, Vec::new())));
    let config = GatewayConfig::new(&database.url, "sync")
        .with(&format!("[destinations.crm]\ntype = \"http\"\nurl = \"{}\"\n", crm.url()))
        .with("concurrency = 1\nbackoff = [\"100ms\"]\ncircuit = { failures = 3, open = \"1d\" }\n")
        .with(&route(&["crm"]))
        .with(OUTBOX);
    let gateway = config.start().await;
    deliver(&gateway, 10).await;
    let opened = gateway.wait_for_lines("circuit.opened", 1).await;
    assert!(format!("{opened:?}").contains("status.503"), "{opened:?}");
    wait::until("the metric", async || {
        (gateway.metrics().await.sum("hookgate_circuit_state", &[("destination", "crm")]) > 1.5).then_some(())
    })
    .await;
    let shown: Value = serde_json::from_str(&config.run(&["destinations", "--json"])).expect("JSON");
    let shown = &shown["destinations"][0];
    assert_eq!(
        (&shown["destination"], &shown["circuit"], &shown["failures"]),
        (&json!("crm"), &json!("open"), &json!(3))
    );
    assert_eq!(shown["backlog"], 10, "{shown}");
    assert!(config.run(&["destinations"]).contains("open, 3 failures in a row, last: status.503"));
    assert_eq!(crm.deliveries().len(), 3, "while it is open nothing is sent");
    // Its time is over: one message goes, and as it is taken all others.
    let past = if engine == Engine::Postgres { "now()" } else { "'2000-01-01T00:00:00.000Z'" };
    database.execute(&format!("UPDATE circuits SET open_until = {past}")).await;
    gateway.deliver(stripe::event("evt_wake", "customer.created", &json!({}))).await.expect("an answer");
    database.wait_for(PUBLISHED, 11).await;
    assert_eq!(gateway.lines("circuit.half_open").len(), 1);
    assert_eq!(gateway.lines("circuit.closed").len(), 1);
    assert_eq!(database.count("SELECT count(*) FROM circuits").await, 0);
}

async fn an_ordered_destination_gets_the_messages_of_a_key_one_after_the_other(engine: Engine) {
    let database = Database::new(engine).await;
    let crm = Destination::start().await;
    crm.script([Behaviour::Hold, Behaviour::Answer(503, Vec::new())]);
    let config = GatewayConfig::new(&database.url, "sync")
        .with(&format!("[destinations.crm]\ntype = \"http\"\nurl = \"{}\"\nordered = true\n", crm.url()))
        .with("backoff = [\"100ms\"]\n")
        .with(&route(&["crm"]))
        .with(OUTBOX);
    let gateway = config.start().await;
    deliver(&gateway, 5).await;
    crm.wait_for(1).await;
    assert_eq!(database.count("SELECT count(*) FROM outbox WHERE attempts > 0").await, 1);
    crm.release();
    database.wait_for(PUBLISHED, 5).await;
    let order =
        "SELECT message_id, message_id FROM delivery_attempts WHERE outcome = 'succeeded' ORDER BY id";
    let sent = "SELECT message_id, message_id FROM outbox ORDER BY id";
    assert_eq!(database.pairs(order).await, database.pairs(sent).await);
}
