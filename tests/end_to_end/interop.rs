//! Signed by Stripe's packages, verified by Stripe's packages: our own signer stands on theirs.

use serde_json::json;

use super::{EFFECTS, INBOX, NOTE_EFFECT};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::destination::Destination;
use crate::support::gateway::GatewayConfig;
use crate::support::interop::Sdk;
use crate::support::stripe;

#[test]
fn our_test_signer_makes_what_stripes_own_packages_make_and_accept() {
    let body = stripe::invoice_paid("evt_1", "in_1", 4200);
    let now = stripe::now();
    let ours = stripe::signature_at(stripe::SECRET, &body, now);
    for sdk in Sdk::all() {
        assert_eq!(sdk.stripe_sign(stripe::SECRET, &body, now), ours, "{}", sdk.language);
        let request = json!({ "secret": stripe::SECRET, "headers": { "stripe-signature": ours } });
        sdk.verify("stripe", &request, &body).expect("a genuine request");
        let mut tampered = body.clone();
        tampered[10] ^= 1;
        sdk.verify("stripe", &request, &tampered).expect_err("one byte differs");
    }
}

async fn requests_signed_by_stripes_packages_are_processed_and_tampered_ones_are_not(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let gateway = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT).start().await;
    for (number, sdk) in Sdk::all().into_iter().enumerate() {
        let body = stripe::event(&format!("evt_{number}"), "customer.created", &json!({ "name": "Zoë 💶" }));
        let signature = sdk.stripe_sign(stripe::SECRET, &body, stripe::now());
        let mut tampered = body.clone();
        let last = tampered.len() - 2;
        tampered[last] = b' ';
        let forged = gateway.post(&signature, tampered).await.expect("an answer");
        assert_eq!(forged.summary(), (400, "rejected"), "{}", sdk.language);
        let rows = i64::try_from(number).expect("few");
        assert_eq!(database.count(INBOX).await, rows, "{}", sdk.language);
        let genuine = gateway.post(&signature, body).await.expect("an answer");
        assert_eq!(genuine.summary(), (200, "processed"), "{}", sdk.language);
        assert_eq!(database.count(EFFECTS).await, rows + 1, "{}", sdk.language);
    }
}

async fn forwards_are_accepted_by_the_standard_webhooks_packages(engine: Engine) {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let database = Database::new(engine).await;
    let destination = Destination::start().await;
    let config = GatewayConfig::new(&database.url, "sync")
        .destination("crm", &destination.url(), Some(secret))
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n");
    let gateway = config.start().await;
    let body = stripe::event("evt_1", "customer.created", &json!({ "name": "Zoë 💶" }));
    gateway.deliver(body.clone()).await.expect("an answer");
    let delivery = destination.wait_for(1).await.remove(0);

    assert_eq!(delivery.body, body, "the provider's bytes, one for one");
    assert_eq!(delivery.header("x-hookgate-event-id"), "evt_1");
    assert_eq!(delivery.header("x-hookgate-event-type"), "customer.created");
    assert_eq!(delivery.header("x-hookgate-endpoint"), "billing");
    assert_eq!(delivery.header("x-hookgate-provider"), "stripe");
    for sdk in Sdk::all() {
        let verify = |body: &[u8]| sdk.standard_verify(secret, &delivery.headers, body);
        verify(&delivery.body).unwrap_or_else(|e| panic!("{}: {e}", sdk.language));
        let mut tampered = delivery.body.to_vec();
        tampered[20] ^= 1;
        verify(&tampered).expect_err("one byte differs");
    }
}

both_engines!(
    requests_signed_by_stripes_packages_are_processed_and_tampered_ones_are_not,
    forwards_are_accepted_by_the_standard_webhooks_packages,
);
