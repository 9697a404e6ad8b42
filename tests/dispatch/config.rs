//! What a destination's config may not say.

use std::collections::BTreeMap;

use hookgate::dispatch::{self, Dispatcher, Network};

use super::fixture::{destination, signed};

fn with_header(name: &str, value: &str) -> Result<(), String> {
    let mut destination = destination("https://crm.example.com/");
    destination.headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
    dispatch::check(&destination).map_err(|error| error.to_string())
}

#[test]
fn a_configured_header_cannot_break_the_request_or_take_one_of_our_names() {
    for name in [
        "host",
        "Host",
        "content-length",
        "transfer-encoding",
        "connection",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "proxy-authorization",
        "webhook-id",
        "Webhook-Signature",
        "webhook-timestamp",
        "idempotency-key",
        "x-hookgate-event-id",
        "X-Hookgate-Anything",
        "traceparent",
        "x\r\ny: z",
        "x y",
        "",
        "naïve",
    ] {
        let error = with_header(name, "value").expect_err(name);
        assert!(error.starts_with("destinations.crm.headers: "), "{error}");
    }
    for value in ["a\r\nx-evil: 1", "a\nb", "a\0b", "a\u{7f}"] {
        let error = with_header("authorization", value).expect_err("a control character");
        assert!(!error.contains("evil"), "a value may be a secret: {error}");
    }
    with_header("Authorization", "Bearer 0123456789").unwrap();
    with_header("x-api-key", "a b\tc").unwrap();
}

#[test]
fn a_signing_secret_that_is_none_is_refused_without_being_shown() {
    for (secret, expected) in [
        ("", "the secret is empty"),
        ("whsec_", "the secret is empty"),
        ("whsec_not base64!", "what follows `whsec_` is not base64"),
        ("whsk_Kq3nVtaQ1cQ9z0mYbX1uDw==", "asymmetric"),
    ] {
        let error =
            dispatch::check(&signed("https://crm.example.com/", &[secret])).expect_err(secret).to_string();
        assert!(error.starts_with("destinations.crm.sign: "), "{error}");
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("Kq3n") && !error.contains("not base64!"), "{error}");
    }
}

#[test]
fn a_dispatcher_is_not_made_of_a_bad_destination() {
    let bad = destination("http://169.254.169.254/latest/meta-data");
    let Err(error) = Dispatcher::over(&Network::default(), [&bad], []) else { panic!("it was made") };
    assert_eq!(
        error.to_string(),
        "destinations.crm.url: the host 169.254.169.254 is an address that no delivery may go to (link-local, \
         metadata, multicast or none)"
    );
}
