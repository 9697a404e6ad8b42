//! Order and its guard, through two gateways on one database.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::json;

use super::PROCESSED;
use crate::support::database::{Database, Engine};
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::{stripe, wait};

/// Events and keys; `HOOKGATE_TEST_ORDER=10000/100` makes it more.
fn size() -> (usize, usize) {
    let asked = std::env::var("HOOKGATE_TEST_ORDER").ok();
    let read = |text: &str| {
        let (events, keys) = text.split_once('/')?;
        Some((events.parse().ok()?, keys.parse().ok()?))
    };
    asked.map_or((2_000, 50), |text| read(&text).expect("EVENTS/KEYS"))
}

/// Work that fails now and then, and says in which order it was done.
const FLAKY: &str = "CREATE FUNCTION flaky(id text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN \
                     IF random() < 0.05 THEN RAISE EXCEPTION 'not now'; END IF; RETURN id; END $$";

fn body(key: usize, number: usize) -> Vec<u8> {
    let object = json!({ "id": format!("obj_{key}"), "at": number });
    stripe::event(&format!("evt_{key}_{number}"), "customer.updated", &object)
}

async fn deliver(gateway: &Gateway, body: Vec<u8>) {
    let answer = gateway.deliver(body).await.expect("an answer");
    assert_eq!(answer.summary(), (200, "accepted"));
}

#[tokio::test]
async fn events_of_one_key_are_worked_on_in_their_order_by_two_gateways_whatever_fails() {
    let database = Database::new(Engine::Postgres).await;
    database.execute("CREATE TABLE steps (place bigserial, event_id text NOT NULL)").await;
    database.execute(FLAKY).await;
    let config = GatewayConfig::new(&database.url, "async")
        .with("ordering_key = true")
        .sql_handler("step", "INSERT INTO steps (event_id) SELECT flaky(:event_id);")
        .with(
            "[inbox]\nconcurrency = 8\nbackoff_cap = \"1s\"\nmax_attempts = 50\npoll_interval = \"100ms\"\n",
        );
    let gateways = [config.start().await, config.start().await];
    let (events, keys) = size();
    // Each event is sent when the one before it is acknowledged, to the other gateway.
    let send = async |key: usize| {
        for number in 0..events / keys {
            deliver(&gateways[(key + number) % 2], body(key, number)).await;
        }
    };
    join_all((0..keys).map(send)).await;
    let count: i64 = events.try_into().expect("few");
    let left = "SELECT count(*) FROM webhook_inbox WHERE processed_at IS NULL";
    let mut before = count;
    while before > 0 {
        // The patience is for a part of them, not for all.
        let fewer = async || {
            let now = database.count(left).await;
            (now == 0 || now + 100 <= before).then_some(now)
        };
        before = wait::until("events to be done", fewer).await;
    }
    assert_eq!(database.count(PROCESSED).await, count);

    let steps = database.pairs("SELECT event_id, place::text FROM steps ORDER BY steps.place").await;
    assert_eq!(steps.len(), events);
    let mut by_key: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (event_id, _) in &steps {
        let (key, number) = event_id.rsplit_once('_').expect("a number");
        by_key.entry(key).or_default().push(number.parse().expect("a number"));
    }
    assert_eq!(by_key.len(), keys);
    for (key, numbers) in by_key {
        assert!(numbers.is_sorted(), "{key}: {numbers:?}");
    }
    let failures = database.count("SELECT count(*) FROM webhook_inbox WHERE attempts > 1").await;
    assert!(failures > 0, "some have failed on the way");
    for gateway in &gateways {
        assert!(!gateway.lines("event.processed").is_empty(), "both have worked");
    }
}

#[tokio::test]
async fn what_is_older_than_the_last_that_was_applied_is_passed_over() {
    let database = Database::new(Engine::Postgres).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "async")
        .with("ordering_key = \"{json:/data/object/id}\"\nversion = \"{json:/data/object/at}\"")
        .sql_handler("note", super::NOTE_EFFECT);
    let gateway = config.start().await;
    for number in [2, 1, 2, 3] {
        let id = format!("evt_{number}_{}", database.count("SELECT count(*) FROM webhook_inbox").await);
        let object = json!({ "id": "obj_1", "at": number });
        deliver(&gateway, stripe::event(&id, "customer.updated", &object)).await;
    }
    database.wait_for(PROCESSED, 4).await;
    let outcomes = "SELECT split_part(event_id, '_', 2), outcome FROM webhook_inbox ORDER BY seq";
    let outcomes = database.pairs(outcomes).await;
    let expected = [("2", "processed"), ("1", "superseded"), ("2", "processed"), ("3", "processed")];
    assert_eq!(outcomes, expected.map(|(number, outcome)| (number.to_owned(), outcome.to_owned())));
    assert_eq!(database.count(super::EFFECTS).await, 3);
    let lines = gateway.wait_for_lines("event.superseded", 1).await;
    assert_eq!(lines[0]["version"], 1);
    let labels = [("handler", "note"), ("outcome", "superseded")];
    assert!(gateway.metrics().await.sum("hookgate_process_attempts_total", &labels) > 0.5);
}
