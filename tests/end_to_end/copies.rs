//! Copies of one event at the same moment.

use futures_util::future::join_all;

use super::INBOX;
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::{stripe, wait};

const BOOKED: &str = "SELECT count(*) FROM ledger_entries";
const MESSAGES: &str = "SELECT count(*) FROM outbox WHERE event_type = 'InvoicePaymentBooked'";

#[tokio::test]
async fn eight_copies_at_once_to_two_gateways_are_booked_once() {
    let database = Database::new(Engine::Postgres).await;
    let config = GatewayConfig::new(&database.url, "sync").handler("stripe_billing", "invoice.*");
    let gateways: [Gateway; 2] = tokio::join!(config.start(), config.start()).into();
    let body = stripe::invoice_paid("evt_1", "in_1", 4200);

    // Nothing can be booked before all eight have arrived.
    let held = database.hold("invoices").await;
    let requests = (0..8).map(|copy| gateways[copy % 2].deliver(body.clone()));
    let (answers, ()) = tokio::join!(join_all(requests), async {
        wait::until("eight requests in work", async || {
            (lines(&gateways, "webhook.received") == 8).then_some(())
        })
        .await;
        held.release().await;
    });

    let answers: Vec<_> = answers.into_iter().map(|answer| answer.expect("an answer")).collect();
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    let with = |outcome| answers.iter().filter(|answer| answer.outcome() == outcome).count();
    assert_eq!((with("processed"), with("duplicate")), (1, 7));
    assert_eq!(database.count(INBOX).await, 1);
    assert_eq!(database.count(BOOKED).await, 1);
    assert_eq!(database.count(MESSAGES).await, 1);
    // A silent 200 is a danger sign.
    wait::until("a line for each duplicate", async || {
        (lines(&gateways, "event.duplicate") == 7).then_some(())
    })
    .await;
    let [first, second] = [gateways[0].metrics().await, gateways[1].metrics().await];
    let counted = |outcome| {
        let labels = [("endpoint", "billing"), ("outcome", outcome)];
        first.sum("hookgate_events_total", &labels) + second.sum("hookgate_events_total", &labels)
    };
    assert_eq!((counted("processed"), counted("duplicate")), (1.0, 7.0));
}

fn lines(gateways: &[Gateway], name: &str) -> usize {
    gateways.iter().map(|gateway| gateway.lines(name).len()).sum()
}

async fn a_hundred_copies_at_once_to_one_gateway_are_booked_once(engine: Engine) {
    let database = Database::new(engine).await;
    let config = GatewayConfig::new(&database.url, "sync").handler("stripe_billing", "invoice.*");
    let gateway = config.start().await;
    let body = stripe::invoice_paid("evt_1", "in_1", 4200);
    let answers = join_all((0..100).map(|_| gateway.deliver(body.clone()))).await;
    let mut outcomes: Vec<_> = answers.iter().map(|a| a.as_ref().expect("an answer").summary()).collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, [[(200, "duplicate"); 99].as_slice(), &[(200, "processed")]].concat());
    assert_eq!(database.count(INBOX).await, 1);
    assert_eq!(database.count(BOOKED).await, 1);
    assert_eq!(database.count(MESSAGES).await, 1);
}

async fn both_paths_of_an_endpoint_are_one_endpoint(engine: Engine) {
    let database = Database::new(engine).await;
    let config = GatewayConfig::new(&database.url, "sync").handler("stripe_billing", "invoice.*");
    let gateway = config.start().await;
    let body = stripe::invoice_paid("evt_1", "in_1", 4200);
    assert_eq!(gateway.deliver(body.clone()).await.expect("an answer").summary(), (200, "processed"));
    let signature = stripe::signature(&body);
    let headers: [(&str, &[u8]); 1] = [("stripe-signature", signature.as_bytes())];
    let again = crate::support::http::post(gateway.ingress, "/webhooks/stripe", &headers, body).await;
    assert_eq!(again.expect("an answer").summary(), (200, "duplicate"));
    assert_eq!(database.count(BOOKED).await, 1);
}

async fn a_second_event_about_a_booked_invoice_books_nothing_and_says_so(engine: Engine) {
    let database = Database::new(engine).await;
    let config = GatewayConfig::new(&database.url, "sync").handler("stripe_billing", "invoice.*");
    let gateway = config.start().await;
    for id in ["evt_1", "evt_2"] {
        let answer = gateway.deliver(stripe::invoice_paid(id, "in_1", 4200)).await.expect("an answer");
        assert_eq!(answer.summary(), (200, "processed"));
    }
    assert_eq!(database.count(INBOX).await, 2);
    assert_eq!(database.count(BOOKED).await, 1);
    assert_eq!(database.count(MESSAGES).await, 1);
    assert_eq!(gateway.wait_for_lines("handler.idempotent", 1).await.len(), 1);
}

both_engines!(
    a_hundred_copies_at_once_to_one_gateway_are_booked_once,
    both_paths_of_an_endpoint_are_one_endpoint,
    a_second_event_about_a_booked_invoice_books_nothing_and_says_so,
);
