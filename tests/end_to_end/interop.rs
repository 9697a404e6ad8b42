//! Signed by Stripe's packages, verified by Stripe's packages: our own signer stands on theirs.

use crate::support::interop::Sdk;
use crate::support::stripe;
use serde_json::json;

#[test]
fn our_test_signer_makes_what_stripes_own_packages_make_and_accept() {
    let body = stripe::invoice_paid("evt_1", "in_1", 4200);
    let now = stripe::now();
    let ours = stripe::signature_at(stripe::SECRET, &body, now);
    for sdk in Sdk::all() {
        assert_eq!(sdk.stripe_sign(stripe::SECRET, &body, now), ours, "{}", sdk.language);
        let question = json!({ "ask": "stripe.verify", "secret": stripe::SECRET,
            "headers": { "stripe-signature": ours } });
        let answer = sdk.ask(question.clone(), &body).expect("a genuine request");
        assert_eq!(answer["id"], "evt_1", "{}", sdk.language);
        let mut tampered = body.clone();
        tampered[10] ^= 1;
        sdk.ask(question, &tampered).expect_err("one byte differs");
    }
}
