//! Freshness, both ways.

use hookgate::model::Reason::{FutureTimestamp, StaleTimestamp};

use super::support::{
    EVENT, NOW, SECRET, at, decide, proof, provider, reason, refusal, request, signed, stripe,
};

#[test]
fn stripe_allows_300_seconds_either_way_and_no_more() {
    let provider = provider("stripe", &[]);
    for (age, expected) in [
        (0, None),
        (299, None),
        (300, None),
        (301, Some(StaleTimestamp)),
        (315_360_000, Some(StaleTimestamp)),
        (-5, None),
        (-300, None),
        (-301, Some(FutureTimestamp)),
        (-315_360_000, Some(FutureTimestamp)),
    ] {
        let decision = decide(&stripe(EVENT, NOW - age), &provider, NOW);
        match expected {
            None => drop(proof(decision)),
            Some(expected) => assert_eq!(reason(decision), expected, "{age} s"),
        }
    }
}

#[test]
fn every_signed_time_is_held_to_its_tolerance() {
    for id in ["slack", "standard_webhooks"] {
        let provider = provider(id, &[]);
        let genuine = signed(&provider, SECRET, &request(&[], r#"{"type":"a"}"#), at(NOW));
        proof(decide(&genuine, &provider, NOW + 300));
        assert_eq!(reason(decide(&genuine, &provider, NOW + 301)), StaleTimestamp, "{id}");
        assert_eq!(reason(decide(&genuine, &provider, NOW - 301)), FutureTimestamp, "{id}");
    }
}

#[test]
fn a_unit_is_never_guessed_but_the_likely_mistake_is_named() {
    let milliseconds = stripe_with_time("1800000000123");
    let rejection = refusal(decide(&milliseconds, &provider("stripe", &[]), NOW));
    assert_eq!(rejection.reason, FutureTimestamp);
    assert!(rejection.detail.contains("looks like milliseconds"), "{}", rejection.detail);
}

/// Signed over this very text of a time.
fn stripe_with_time(text: &str) -> hookgate::model::Request {
    let generic = provider("generic_hmac", &[("text", &format!("{text}.{{body}}"))]);
    let request = signed(&generic, SECRET, &request(&[], EVENT), at(NOW));
    let signature = request.headers.text("x-signature").expect("signed").to_owned();
    super::support::with_header(
        &request,
        "stripe-signature",
        &[format!("t={text},v1={signature}").as_bytes()],
    )
}

#[test]
fn the_time_is_signed_as_the_text_that_came() {
    let decision = decide(&stripe_with_time("01800000000"), &provider("stripe", &[]), NOW);
    proof(decision);
}
