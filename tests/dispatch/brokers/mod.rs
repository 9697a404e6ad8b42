//! Deliveries to real brokers on this machine, one file for each kind.

#[cfg(feature = "amqp")]
mod amqp;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqs")]
mod sqs;

use std::collections::BTreeMap;
use std::time::Duration;

use hookgate::config::{Broker, BrokerUrl, Destination, DestinationKind};
use hookgate::dispatch::Dispatcher;
use hookgate::model::{Attempt, Message, Secret};

use super::fixture;
use crate::support::wait;

/// Bytes that are no text.
const BYTES: &[u8] = b"{\"a\": \"\xff\x00\"}\r\n";

/// A destination that is signed and sends CloudEvents, and what sends to it.
struct Line {
    destination: Destination,
    dispatcher: Dispatcher,
}

impl Line {
    fn new(broker: Broker) -> Self {
        Self::patient(broker, Duration::from_secs(20))
    }

    fn patient(broker: Broker, timeout: Duration) -> Self {
        let destination = Destination {
            kind: DestinationKind::Broker(broker),
            sign: vec![Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
            cloudevents: true,
            timeout,
            ..fixture::destination("http://127.0.0.1/")
        };
        let dispatcher = fixture::dispatcher(&fixture::network(std::sync::Arc::default()), &destination);
        Self { destination, dispatcher }
    }

    async fn send(&self, message: &Message) -> Attempt {
        self.dispatcher.send(&self.destination, message, 1, fixture::now()).await
    }

    /// How one attempt ends: its outcome and code.
    async fn ending(&self, message: &Message) -> (String, Option<String>) {
        let attempt = self.send(message).await;
        (attempt.outcome.as_str().to_owned(), attempt.error)
    }

    /// Tries until it is taken, as the outbox does.
    async fn send_until_taken(&self, message: &Message) {
        wait::until("the broker to take it", async || {
            let (outcome, _) = self.ending(message).await;
            (outcome == "succeeded").then_some(())
        })
        .await;
    }
}

fn failed(code: &str) -> (String, Option<String>) {
    ("failed".to_owned(), Some(code.to_owned()))
}

fn rejected(code: &str) -> (String, Option<String>) {
    ("rejected".to_owned(), Some(code.to_owned()))
}

fn succeeded() -> (String, Option<String>) {
    ("succeeded".to_owned(), None)
}

#[allow(dead_code, reason = "not every kind has a URL")]
fn url(text: &str) -> BrokerUrl {
    BrokerUrl::parse(text).expect("a URL")
}

/// A forwarded event with a header of its provider's.
fn message() -> Message {
    let headers = [("content-type", "application/json; charset=utf-8"), ("stripe-signature", "t=1,v1=00")];
    Message { ordering_key: Some("cus_1".to_owned()), ..fixture::forward(BYTES, &headers) }
}

/// What every broker must have got beside the bytes, `ce` being how it spells CloudEvents.
fn assert_headers(headers: &BTreeMap<String, String>, ce: &str) {
    let expected = [
        ("webhook-id", "msg_2b1c"),
        ("x-hookgate-provider", "stripe"),
        ("x-hookgate-endpoint", "billing"),
        ("x-hookgate-event-id", "evt_1"),
        ("x-hookgate-event-type", "invoice.paid"),
        ("x-hookgate-attempt", "1"),
        ("idempotency-key", "webhook:stripe:billing:evt_1:msg_2b1c"),
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ("stripe-signature", "t=1,v1=00"),
    ];
    for (name, value) in expected {
        assert_eq!(headers.get(name).map(String::as_str), Some(value), "{name} of {headers:#?}");
    }
    let attributes = [
        ("specversion", "1.0"),
        ("id", "msg_2b1c"),
        ("source", "urn:hookgate:stripe:billing"),
        ("type", "invoice.paid"),
        ("time", "2026-03-01T11:59:58.000000Z"),
    ];
    for (name, value) in attributes {
        let name = format!("{ce}{name}");
        assert_eq!(headers.get(&name).map(String::as_str), Some(value), "{name} of {headers:#?}");
    }
    let signature = hookgate::dispatch::signature(
        &[hookgate::dispatch::SigningKey::parse(&Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
            .unwrap()],
        "msg_2b1c",
        fixture::now().timestamp(),
        BYTES,
    );
    assert_eq!(headers.get("webhook-signature"), signature.as_ref());
}
