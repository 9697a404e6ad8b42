//! Whole gateways behind a transaction pooler.

use futures_util::future::join_all;
use http::StatusCode;

use crate::support::database::{Database, Engine};
use crate::support::destination::Destination;
use crate::support::gateway::{Gateway, GatewayConfig, field};
use crate::support::pooler::PgBouncer;
use crate::support::stripe;

/// Events; each is booked and delivered.
const EVENTS: i64 = 600;

#[tokio::test]
async fn twelve_hundred_labelled_operations_behind_a_transaction_pooler_are_all_right() {
    let database = Database::new(Engine::Postgres).await;
    let pooler = PgBouncer::start(&database.url, "transaction");
    let destination = Destination::start().await;
    // Both migrate through the pooler, one after the other.
    let sync = config(&pooler.url(&database.url), "sync", &destination).start().await;
    let later = config(&pooler.url(&database.url), "async", &destination).start().await;
    for gateway in [&sync, &later] {
        let line = &gateway.wait_for_lines("listening", 1).await[0];
        assert_eq!(field(line, "transaction_pooler"), true);
    }
    let numbers: Vec<i64> = (1..=EVENTS).collect();
    for some in numbers.chunks(40) {
        join_all(some.iter().map(|&n| deliver(if n % 2 == 0 { &sync } else { &later }, n))).await;
    }
    let right = "SELECT count(*) FROM ledger_entries l JOIN invoices i ON i.id = l.invoice_id \
                 WHERE l.invoice_id = 'in_' || l.amount AND i.amount_paid = l.amount";
    database.wait_for(right, EVENTS).await;
    assert_eq!(database.count("SELECT count(*) FROM ledger_entries").await, EVENTS);
    database.wait_for("SELECT count(*) FROM outbox WHERE published_at IS NOT NULL", EVENTS).await;
    let mut delivered: Vec<i64> =
        destination.deliveries().iter().map(|delivery| label(&delivery.body)).collect();
    delivered.sort_unstable();
    assert_eq!(delivered, numbers);
    for gateway in [sync, later] {
        let end = gateway.terminate().await;
        assert!(end.status.success() && !end.output.contains("\"ERROR\""), "{}", end.output);
    }
}

/// The event that says its number three times: as its id, as its invoice and as its amount.
async fn deliver(gateway: &Gateway, n: i64) {
    let body = stripe::invoice_paid(&format!("evt_{n}"), &format!("in_{n}"), n);
    let answer = gateway.deliver(body).await.expect("an answer");
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
}

/// The number of a forwarded event whose three labels agree.
fn label(body: &[u8]) -> i64 {
    let event: serde_json::Value = serde_json::from_slice(body).expect("JSON");
    let invoice = &event["data"]["object"];
    let n = invoice["amount_paid"].as_i64().expect("an amount");
    assert_eq!((&event["id"], &invoice["id"]), (&format!("evt_{n}").into(), &format!("in_{n}").into()));
    n
}

fn config(url: &str, mode: &str, destination: &Destination) -> GatewayConfig {
    GatewayConfig::new(url, mode)
        .handler("stripe_billing", "invoice.*")
        .destination("crm", &destination.url(), None)
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n")
        .with("[inbox]\npoll_interval = \"50ms\"\n[outbox]\npoll_interval = \"50ms\"\n")
}
