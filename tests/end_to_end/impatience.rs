//! Slow handlers and impatient providers; handlers that fail.

use std::time::Duration;

use super::{EFFECTS, INBOX, NOTE_EFFECT, PROCESSED, assert_untouched};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::{GatewayConfig, PATH, field};
use crate::support::{http, stripe, wait};

#[tokio::test]
async fn a_client_that_gives_up_and_redelivers_during_and_after_the_work_has_one_effect() {
    let database = Database::new(Engine::Postgres).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT);
    let (a, b) = tokio::join!(config.start(), config.start());
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({ "id": "cus_1" }));
    let signature = stripe::signature(&body);
    let headers: [(&str, &[u8]); 1] = [("stripe-signature", signature.as_bytes())];

    // The handler waits for the lock for as long as we like.
    let held = database.hold("effects").await;
    let answered =
        http::post_and_hang_up(a.ingress, PATH, &headers, body.clone(), Duration::from_millis(500)).await;
    assert!(!answered, "the handler was to be slower than the client");
    let (during_a, during_b, ()) = tokio::join!(a.deliver(body.clone()), b.deliver(body.clone()), async {
        wait::until("both copies to arrive", async || {
            (a.lines("webhook.received").len() == 2 && b.lines("webhook.received").len() == 1).then_some(())
        })
        .await;
        held.release().await;
    });
    assert_eq!(during_a.expect("an answer").summary(), (200, "duplicate"));
    assert_eq!(during_b.expect("an answer").summary(), (200, "duplicate"));
    for gateway in [&a, &b] {
        assert_eq!(gateway.deliver(body.clone()).await.expect("an answer").summary(), (200, "duplicate"));
        assert_eq!(
            gateway.wait_for_lines("event.duplicate", 2).await.len(),
            2,
            "each redelivery leaves its line"
        );
    }
    assert_eq!((database.count(EFFECTS).await, database.count(INBOX).await), (1, 1));
}

async fn work_is_committed_although_the_client_has_hung_up(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT);
    let gateway = config.start().await;
    for number in 0..20 {
        let body = stripe::event(&format!("evt_{number}"), "customer.created", &serde_json::json!({}));
        let signature = stripe::signature(&body);
        let headers: [(&str, &[u8]); 1] = [("stripe-signature", signature.as_bytes())];
        let patience = Duration::from_micros(500 * number);
        http::post_and_hang_up(gateway.ingress, PATH, &headers, body, patience).await;
    }
    // Whatever had arrived whole is done wholly, and the connections are as good as before.
    wait::until("the same number of rows and effects", async || {
        let rows = database.count(INBOX).await;
        (rows == database.count(EFFECTS).await && rows == database.count(PROCESSED).await).then_some(())
    })
    .await;
    let body = stripe::event("evt_last", "customer.created", &serde_json::json!({}));
    assert_eq!(gateway.deliver(body).await.expect("an answer").summary(), (200, "processed"));
}

async fn a_handler_that_fails_first_works_on_redelivery(engine: Engine) {
    let database = failing(engine).await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_IF_OPEN);
    let gateway = config.start().await;
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({}));

    let first = gateway.deliver(body.clone()).await.expect("an answer");
    assert_eq!(first.summary(), (500, "error"));
    assert_eq!(database.count(EFFECTS).await, 0);
    assert_eq!(gateway.wait_for_lines("event.failed", 1).await.len(), 1);

    database.execute("UPDATE door SET is_open = 1").await;
    let second = gateway.deliver(body.clone()).await.expect("an answer");
    assert_eq!(second.summary(), (200, "processed"), "a failed event must not be taken for a duplicate");
    assert_eq!(gateway.deliver(body).await.expect("an answer").summary(), (200, "duplicate"));
    assert_eq!((database.count(EFFECTS).await, database.count(PROCESSED).await), (1, 1));
}

async fn a_failed_event_leaves_no_row_behind(engine: Engine) {
    let database = failing(engine).await;
    let gateway = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_IF_OPEN).start().await;
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({}));
    assert_eq!(gateway.deliver(body).await.expect("an answer").summary(), (500, "error"));
    assert_untouched(&database).await;
}

async fn a_handler_that_fails_first_is_tried_again_by_the_worker(engine: Engine) {
    let database = failing(engine).await;
    let config = GatewayConfig::new(&database.url, "async")
        .sql_handler("note", NOTE_IF_OPEN)
        .with("[inbox]\nbackoff_cap = \"1s\"\npoll_interval = \"50ms\"\nmax_attempts = 1000\n");
    let gateway = config.start().await;
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({}));

    assert_eq!(gateway.deliver(body.clone()).await.expect("an answer").summary(), (200, "accepted"));
    gateway.wait_for_lines("event.failed", 1).await;
    assert_eq!(database.count(EFFECTS).await, 0);
    assert_eq!(gateway.deliver(body).await.expect("an answer").summary(), (200, "duplicate"));

    database.execute("UPDATE door SET is_open = 1").await;
    database.wait_for(PROCESSED, 1).await;
    assert_eq!((database.count(EFFECTS).await, database.count(INBOX).await), (1, 1));
}

async fn an_event_that_always_fails_waits_for_a_person(engine: Engine) {
    let database = failing(engine).await;
    let config = GatewayConfig::new(&database.url, "async")
        .sql_handler("note", NOTE_IF_OPEN)
        .with("[inbox]\nbackoff_cap = \"1s\"\npoll_interval = \"50ms\"\nmax_attempts = 3\n");
    let gateway = config.start().await;
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({}));
    assert_eq!(gateway.deliver(body).await.expect("an answer").summary(), (200, "accepted"));
    database.wait_for("SELECT count(*) FROM webhook_inbox WHERE review_at IS NOT NULL", 1).await;
    assert_eq!(database.count("SELECT CAST(attempts AS bigint) FROM webhook_inbox").await, 3);
    assert_eq!((database.count(EFFECTS).await, database.count(PROCESSED).await), (0, 0));
    assert_eq!(gateway.wait_for_lines("event.needs_review", 1).await.len(), 1);
}

#[tokio::test]
async fn a_single_statement_ends_at_its_own_timeout_long_before_the_unit_of_work() {
    let database = Database::new(Engine::Postgres).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync")
        .sql_handler("note", NOTE_EFFECT)
        .with("[inbox]\nstatement_timeout = \"300ms\"\nsync_timeout = \"5m\"\n");
    let gateway = config.start().await;
    let held = database.hold("effects").await;
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({}));
    // Nobody lets the lock go before there is an answer.
    let answer = gateway.deliver(body.clone()).await.expect("an answer");
    assert!(answer.summary().0 >= 500, "{:?}", answer.summary());
    // The deadline of the whole would have said `timeout`.
    let line = &gateway.wait_for_lines("event.failed", 1).await[0];
    assert_eq!(field(line, "code"), "store.timeout", "{line}");
    held.release().await;
    assert_eq!(gateway.deliver(body).await.expect("an answer").summary(), (200, "processed"));
    assert_eq!(database.count(EFFECTS).await, 1);
}

/// A handler that a constraint stops until the door is open.
const NOTE_IF_OPEN: &str = "INSERT INTO effects (event_id) VALUES (:event_id);
    INSERT INTO passages (is_open) SELECT is_open FROM door;";

async fn failing(engine: Engine) -> Database {
    let database = Database::new(engine).await.with_effects().await;
    database.execute("CREATE TABLE door (is_open integer NOT NULL)").await;
    database.execute("CREATE TABLE passages (is_open integer NOT NULL CHECK (is_open = 1))").await;
    database.execute("INSERT INTO door VALUES (0)").await;
    database
}

both_engines!(
    a_failed_event_leaves_no_row_behind,
    work_is_committed_although_the_client_has_hung_up,
    a_handler_that_fails_first_works_on_redelivery,
    a_handler_that_fails_first_is_tried_again_by_the_worker,
    an_event_that_always_fails_waits_for_a_person,
);
