//! Deliveries as CloudEvents over HTTP.

use hookgate::config::Destination;
use hookgate::dispatch;
use hookgate::model::Message;
use http::HeaderValue;

use super::fixture::{Received, Server, destination, forward, payload, send, status};

async fn deliver(message: &Message) -> Received {
    let server = Server::start(status(200, "")).await;
    let attempt = send(&cloudevents(&server.url()), message).await;
    assert_eq!(attempt.status, Some(200), "{attempt:?}");
    server.requests().remove(0)
}

fn cloudevents(url: &str) -> Destination {
    Destination { cloudevents: true, ..destination(url) }
}

fn attributes(received: &Received) -> Vec<&str> {
    let mut lines: Vec<_> =
        received.head.iter().map(String::as_str).filter(|line| line.starts_with("ce-")).collect();
    lines.sort_unstable();
    lines
}

#[tokio::test]
async fn a_forward_carries_the_attributes_beside_the_same_body_and_headers() {
    let received = deliver(&forward(r#"{ "id":"evt_1" }"#, &[("stripe-signature", "t=1")])).await;
    assert_eq!(
        attributes(&received),
        [
            "ce-id: msg_2b1c",
            "ce-source: urn:hookgate:stripe:billing",
            "ce-specversion: 1.0",
            "ce-time: 2026-03-01T11:59:58.000000Z",
            "ce-type: invoice.paid",
        ]
    );
    assert_eq!(received.body, br#"{ "id":"evt_1" }"#);
    assert_eq!(received.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(received.header("webhook-id"), Some("msg_2b1c"));
    assert_eq!(received.header("stripe-signature"), Some("t=1"));
}

#[tokio::test]
async fn a_handlers_message_names_what_it_is_about() {
    let received = deliver(&payload("{}")).await;
    assert_eq!(received.header("ce-subject"), Some("in_1"));
    assert_eq!(received.header("ce-type"), Some("InvoicePaymentBooked"));
}

#[tokio::test]
async fn an_event_without_a_type_gets_one_of_its_provider() {
    let received = deliver(&Message { event_type: String::new(), ..forward("", &[]) }).await;
    assert_eq!(received.header("ce-type"), Some("stripe.event"));
}

#[tokio::test]
async fn values_are_percent_encoded_as_the_binding_for_http_says() {
    let message = Message { event_type: "a \"b\" 100% €\n".to_owned(), ..forward("", &[]) };
    let received = deliver(&message).await;
    assert_eq!(received.header("ce-type"), Some("a%20%22b%22%20100%25%20%E2%82%AC%0A"));
}

#[tokio::test]
async fn a_provider_that_sends_cloudevents_itself_does_not_mix_its_attributes_with_ours() {
    let message = forward("{}", &[("ce-id", "theirs"), ("ce-tenant", "7")]);
    let received = deliver(&message).await;
    assert_eq!(received.header("ce-id"), Some("msg_2b1c"));
    assert_eq!(received.header("ce-tenant"), None);
    assert_eq!(received.header("x-hookgate-original-ce-id"), Some("theirs"));
    assert_eq!(received.header("x-hookgate-original-ce-tenant"), Some("7"));
}

#[test]
fn a_configured_header_cannot_be_an_attribute() {
    let mut destination = cloudevents("https://crm.example.com/");
    destination.headers.insert("ce-source", HeaderValue::from_static("x"));
    let error = dispatch::check(&destination).expect_err("it is reserved").to_string();
    assert!(error.starts_with("destinations.crm.headers: ce-source "), "{error}");
    destination.cloudevents = false;
    dispatch::check(&destination).unwrap();
}
