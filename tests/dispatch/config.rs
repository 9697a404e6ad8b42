//! What a destination's config may not say.

use hookgate::dispatch::{self, Dispatcher};
use hookgate::egress::Network;
use http::HeaderValue;

use super::fixture::{destination, signed};

#[test]
fn a_configured_header_cannot_take_a_name_of_ours_or_of_the_connection() {
    let with_header = |name: &'static str| {
        let mut destination = destination("https://crm.example.com/");
        destination.headers.insert(name, HeaderValue::from_static("value"));
        dispatch::check(&destination).map_err(|error| error.to_string())
    };
    for name in [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "proxy-authorization",
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
        "webhook-anything",
        "idempotency-key",
        "x-hookgate-event-id",
        "x-hookgate-anything",
        "traceparent",
    ] {
        let error = with_header(name).expect_err(name);
        assert!(error.starts_with(&format!("destinations.crm.headers: {name} ")), "{error}");
    }
    with_header("authorization").unwrap();
    with_header("x-api-key").unwrap();
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
