//! Freshness, both ways.

use hookgate::mapping::map;
use hookgate::model::Reason::{FutureTimestamp, MalformedSignature, SignatureMismatch, StaleTimestamp};
use uuid::Uuid;

use super::support::{
    EVENT, NOW, SECRET, acme, at, decide, proof, provider, reason, refusal, request, signed, stripe,
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

/// Signs a time of its own before the body; also says what the time of the event is.
fn timed(unit: &str) -> std::sync::Arc<hookgate::provider::Provider> {
    let rest = format!(
        "[[verify]]\nname = \"v1\"\nalgorithm = \"hmac-sha256\"\ntext = \"{{header:x-time}}{{body}}\"\n\
         signature = {{ from = \"{{header:x-sign}}\", encoding = [\"hex\", \"base64\"] }}\n\
         timestamp = {{ value = \"{{header:x-time}}\", unit = {unit}, past = \"60s\", future = \"60s\" }}\n\
         [event]\nformat = \"json\"\nid = \"{{body|sha256|hex}}\"\noccurred_at = {{ value = \"{{json:/at}}\", unit = {unit} }}\n"
    );
    acme(&rest, &[])
}

#[test]
fn every_unit_reads_what_it_writes_and_what_providers_write() {
    // NOW is 2027-01-15T08:00:00Z.
    for (unit, text) in [
        ("\"seconds\"", "1800000000"),
        ("\"milliseconds\"", "1800000000999"),
        ("\"rfc3339\"", "2027-01-15T08:00:00.1234567Z"),
        ("\"rfc3339\"", "2027-01-15T09:00:00.123456789012+01:00"),
        ("\"http-date\"", "Fri, 15 Jan 2027 08:00:00 GMT"),
        ("\"date-time\"", "2027-01-15 08:00:00"),
        ("[\"seconds\", \"rfc3339\"]", "2027-01-15T08:00:00Z"),
        ("[\"seconds\", \"rfc3339\"]", "1800000000"),
    ] {
        let provider = timed(unit);
        let body = format!("{{\"at\":\"{text}\"}}");
        let own = signed(&provider, SECRET, &request(&[], body.clone()), at(NOW));
        proof(decide(&own, &provider, NOW));
        let genuine = signed(&provider, SECRET, &request(&[("x-time", text)], body), at(NOW));
        let events = map(&proof(decide(&genuine, &provider, NOW)), &provider, &"e".into(), &[], Uuid::nil());
        let occurred_at = events.expect("maps")[0].occurred_at.expect("read");
        assert_eq!(occurred_at.timestamp(), NOW, "{unit} {text}");
        assert_eq!(reason(decide(&genuine, &provider, NOW + 61)), StaleTimestamp, "{unit} {text}");
    }
}

#[test]
fn a_time_in_no_unit_of_the_list_is_malformed() {
    for (unit, text) in [
        ("[\"seconds\", \"rfc3339\"]", "2027-01-15 08:00:00"),
        ("\"date-time\"", "2027-1-15 8:00:00"),
        ("\"date-time\"", "2027-01-15 08:00:00Z"),
        ("\"http-date\"", "2027-01-15 08:00:00"),
    ] {
        let provider = timed(unit);
        let genuine = signed(&provider, SECRET, &request(&[("x-time", text)], "{}"), at(NOW));
        assert_eq!(reason(decide(&genuine, &provider, NOW)), MalformedSignature, "{unit} {text}");
    }
}

#[test]
fn a_signature_may_be_written_in_each_of_the_forms_listed_and_no_other() {
    use base64::Engine as _;
    let provider = timed("\"seconds\"");
    let genuine = signed(&provider, SECRET, &request(&[], "{}"), at(NOW));
    let hex_form = genuine.headers.text("x-sign").expect("signed").to_owned();
    let bytes = hex::decode(&hex_form).expect("hex stands first");
    let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let base64url = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&bytes);
    let with = |value: &str| super::support::with_header(&genuine, "x-sign", &[value.as_bytes()]);
    proof(decide(&with(&base64), &provider, NOW));
    assert_eq!(reason(decide(&with(&base64url), &provider, NOW)), MalformedSignature);
    // Read as base64, and so as other bytes.
    assert_eq!(reason(decide(&with(&hex_form.to_uppercase()), &provider, NOW)), SignatureMismatch);
}
