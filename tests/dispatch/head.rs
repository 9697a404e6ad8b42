//! The head and body of what goes out, line for line and byte for byte.

use hookgate::config::Destination;
use hookgate::model::{Content, Message};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest as _, Sha256};

use super::fixture::{
    Received, Server, destination, dispatcher, forward, network, now, payload, send, status,
};

async fn deliver(change: impl FnOnce(&mut Destination), message: &Message) -> Received {
    let server = Server::start(status(200, "")).await;
    let mut destination = destination(&server.url());
    change(&mut destination);
    let attempt = send(&destination, message).await;
    assert_eq!(attempt.status, Some(200), "{attempt:?}");
    let mut requests = server.requests();
    assert_eq!(requests.len(), 1);
    requests.remove(0)
}

fn lines(received: &Received) -> Vec<String> {
    let mut lines: Vec<String> =
        received.head.iter().filter(|line| !line.starts_with("host: ")).cloned().collect();
    lines[1..].sort();
    lines
}

#[tokio::test]
async fn a_forward_carries_the_providers_headers_without_its_credentials_and_ours() {
    let message = forward(
        r#"{"id":"evt_1"}"#,
        &[
            ("host", "hooks.example.com"),
            ("user-agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)"),
            ("accept", "*/*; q=0.5, application/xml"),
            ("cache-control", "no-cache"),
            ("content-type", "application/json; charset=utf-8"),
            ("content-length", "999"),
            ("stripe-signature", "t=1,v1=00"),
            ("x-note", "first"),
            ("x-note", "second"),
            ("authorization", "Basic c2VjcmV0"),
            ("proxy-authorization", "Basic c2VjcmV0"),
            ("cookie", "session=1"),
            ("x-gitlab-token", "[removed]"),
            ("connection", "keep-alive, X-Hop"),
            ("x-hop", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("trailer", "x-sum"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("http2-settings", "AAMAAABk"),
            ("expect", "100-continue"),
            ("x-hookgate-event-id", "forged"),
            ("x-hookgate-outcome", "forged"),
            ("webhook-id", "msg_theirs"),
            ("webhook-signature", "v1,theirs"),
            ("idempotency-key", "theirs"),
            ("traceparent", "00-00000000000000000000000000000001-0000000000000001-00"),
            ("tracestate", "a=b"),
        ],
    );
    let received = deliver(|_| (), &message).await;
    assert_eq!(
        lines(&received),
        [
            "POST /hooks?tenant=7 HTTP/1.1",
            "accept: */*; q=0.5, application/xml",
            "cache-control: no-cache",
            "content-length: 14",
            "content-type: application/json; charset=utf-8",
            "idempotency-key: webhook:stripe:billing:evt_1:msg_2b1c",
            "stripe-signature: t=1,v1=00",
            "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "user-agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)",
            "webhook-id: msg_2b1c",
            "webhook-timestamp: 1772366400",
            "x-hookgate-attempt: 1",
            "x-hookgate-endpoint: billing",
            "x-hookgate-event-id: evt_1",
            "x-hookgate-event-type: invoice.paid",
            "x-hookgate-original-idempotency-key: theirs",
            "x-hookgate-original-webhook-id: msg_theirs",
            "x-hookgate-original-webhook-signature: v1,theirs",
            "x-hookgate-provider: stripe",
            "x-hookgate-received-at: 2026-03-01T11:59:58.000000Z",
            "x-note: first",
            "x-note: second",
        ]
    );
    assert_eq!(received.body, br#"{"id":"evt_1"}"#);
}

#[tokio::test]
async fn a_handlers_message_says_what_it_is_about() {
    let received = deliver(|_| (), &payload(r#"{"invoice_id":"in_1","amount":1200}"#)).await;
    assert_eq!(
        lines(&received),
        [
            "POST /hooks?tenant=7 HTTP/1.1",
            "content-length: 35",
            "content-type: application/json",
            "idempotency-key: webhook:stripe:billing:evt_1:msg_2b1c",
            "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            concat!("user-agent: hookgate/", env!("CARGO_PKG_VERSION")),
            "webhook-id: msg_2b1c",
            "webhook-timestamp: 1772366400",
            "x-hookgate-aggregate-id: in_1",
            "x-hookgate-aggregate-type: Invoice",
            "x-hookgate-attempt: 1",
            "x-hookgate-endpoint: billing",
            "x-hookgate-event-id: evt_1",
            "x-hookgate-event-type: InvoicePaymentBooked",
            "x-hookgate-provider: stripe",
            "x-hookgate-received-at: 2026-03-01T11:59:58.000000Z",
        ]
    );
}

#[tokio::test]
async fn drop_signature_leaves_out_the_providers_signature_and_nothing_else() {
    let message = forward("{}", &[("stripe-signature", "t=1,v1=00"), ("x-note", "kept")]);
    let received = deliver(|destination| destination.drop_signature = true, &message).await;
    assert_eq!(received.header("stripe-signature"), None);
    assert_eq!(received.header("x-note"), Some("kept"));
}

#[tokio::test]
async fn the_destinations_own_headers_win_over_the_providers() {
    let message = forward("{}", &[("authorization", "Basic theirs"), ("x-tenant", "theirs")]);
    let mut own = HeaderMap::new();
    own.insert("authorization", HeaderValue::from_static("Bearer ours"));
    own.insert("x-tenant", HeaderValue::from_static("ours"));
    let received = deliver(|destination| destination.headers = own, &message).await;
    assert_eq!(received.header("authorization"), Some("Bearer ours"));
    assert_eq!(received.header("x-tenant"), Some("ours"));
}

#[tokio::test]
async fn every_body_arrives_byte_for_byte() {
    let all: Vec<u8> = (0..=255).collect();
    for body in [
        Vec::new(),
        all.repeat(4096),
        b"{ \"a\" :\t1e400,\r\n\"a\":\"\\u0000\xff\xfe\" } \n".to_vec(),
        "{\"größe\":\"é\"}".into(),
    ] {
        let received = deliver(|_| (), &forward(body.clone(), &[])).await;
        assert_eq!(Sha256::digest(&received.body), Sha256::digest(&body), "{} bytes", body.len());
    }
}

#[tokio::test]
async fn nothing_that_a_provider_writes_can_add_a_header() {
    let mut message = forward("{}", &[("x-bad", "a\r\nx-evil: 1"), ("x bad", "1"), ("x-evil\r\n", "1")]);
    message.key.event_id = "evt\r\nx-evil: 1".into();
    message.event_type = "Push Hook".into();
    message.aggregate_id = message.key.event_id.clone();
    message.trace_context = Some("00\r\nx-evil: 1".into());
    message.message_id = "msg\nx-evil: 1".into();
    message.content_type = Some("text/plain\r\nx-evil: 1".into());
    let received = deliver(|_| (), &message).await;
    assert!(!received.head.iter().any(|line| line.starts_with("x-evil")), "{:?}", received.head);
    assert_eq!(received.header("x-hookgate-event-id"), Some("evt%0D%0Ax-evil: 1"));
    assert_eq!(received.header("x-hookgate-event-type"), Some("Push Hook"));
    assert_eq!(received.header("webhook-id"), Some("msg%0Ax-evil: 1"));
}

#[tokio::test]
async fn ids_that_no_header_can_hold_can_be_read_back() {
    for (id, expected) in [
        ("größe", "gr%C3%B6%C3%9Fe"),
        ("100%", "100%25"),
        (" a b ", "%20a b%20"),
        ("  ", "%20%20"),
        ("", ""),
        ("a\tb", "a%09b"),
    ] {
        let mut message = forward("{}", &[]);
        message.key.event_id = id.into();
        let received = deliver(|_| (), &message).await;
        let header = received.head.iter().find_map(|line| line.strip_prefix("x-hookgate-event-id:")).unwrap();
        assert_eq!(header.trim(), expected, "{id:?}");
    }
}

#[tokio::test]
async fn all_attempts_carry_one_id_and_one_idempotency_key() {
    let server = Server::start(status(503, "")).await;
    let destination = destination(&server.url());
    let dispatcher = dispatcher(&network(std::sync::Arc::default()), &destination);
    let message = forward("{}", &[]);
    for attempt in 1..=3 {
        let now = now() + chrono::Duration::seconds(i64::from(attempt));
        dispatcher.send(&destination, &message, attempt, now).await;
    }
    let requests = server.requests();
    let all = |name: &str| requests.iter().map(|r| r.header(name).unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(all("webhook-id"), ["msg_2b1c"; 3]);
    assert_eq!(all("idempotency-key"), ["webhook:stripe:billing:evt_1:msg_2b1c"; 3]);
    assert_eq!(all("x-hookgate-attempt"), ["1", "2", "3"]);
    assert_eq!(
        all("webhook-timestamp"),
        ["1772366401", "1772366402", "1772366403"],
        "the time is each attempt's own"
    );
    assert_eq!(server.connections(), 1, "the connection is kept");
}

#[tokio::test]
async fn two_messages_of_one_event_have_two_idempotency_keys() {
    let other =
        Message { message_id: "msg_other".into(), content: Content::Payload("{}".into()), ..payload("{}") };
    let first = deliver(|_| (), &payload("{}")).await;
    let second = deliver(|_| (), &other).await;
    assert_ne!(first.header("idempotency-key"), second.header("idempotency-key"));
}
