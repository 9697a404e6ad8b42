//! One request and its reply, through the whole gateway.

use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::gateway::{Gateway, PATH, signed};
use super::rig::http2;
use crate::support::http::{Answer, post, raw, raw_status, request};
use crate::support::stripe;

fn json_of(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).expect("JSON")
}

#[tokio::test]
async fn the_reply_says_what_became_of_the_event() {
    let gateway = Gateway::start("").await;
    let first = gateway.send("evt_1", "invoice.paid").await;
    assert_eq!(first.summary(), (200, "ignored"));
    assert_eq!(first.headers["content-type"], "application/json");
    assert_eq!(
        json_of(&first),
        json!({ "outcome": "ignored", "events": [{ "id": "evt_1", "outcome": "ignored" }] })
    );
    let again = gateway.send("evt_1", "invoice.paid").await;
    assert_eq!(again.summary(), (200, "duplicate"));
    assert_ne!(first.headers["x-request-id"], again.headers["x-request-id"]);
}

#[tokio::test]
async fn aliases_are_one_endpoint() {
    let gateway = Gateway::start("").await;
    gateway.send("evt_1", "invoice.paid").await;
    let (body, signature) = signed("evt_1", "invoice.paid");
    let alias =
        post(gateway.ingress, "/alias", &[("stripe-signature", signature.as_bytes())], body).await.unwrap();
    assert_eq!(alias.outcome(), "duplicate");
}

#[tokio::test]
async fn a_path_is_an_endpoint_only_if_it_is_written_exactly_so() {
    let gateway = Gateway::start("").await;
    let (body, signature) = signed("evt_1", "invoice.paid");
    for path in [
        "/",
        "//stripe/webhook",
        "/stripe//webhook",
        "/./stripe/webhook",
        "/stripe/../stripe/webhook",
        "/stripe/%77ebhook",
        "/stripe%2Fwebhook",
        "/stripe/webhook/",
        "/stripe/webhook;x",
        "/Stripe/webhook",
        "/metrics",
        "/healthz",
        "/readyz",
        "/api/v1/events",
    ] {
        let answer =
            post(gateway.ingress, path, &[("stripe-signature", signature.as_bytes())], body.clone()).await;
        let answer = answer.unwrap();
        assert_eq!(answer.summary(), (404, "rejected"), "{path}");
        assert!(
            !answer.headers.contains_key("location") && answer.headers.contains_key("x-request-id"),
            "{path}"
        );
        assert_eq!(answer.headers["content-type"], "application/problem+json");
    }
    assert_eq!(gateway.send("evt_1", "invoice.paid").await.outcome(), "ignored", "none of them was taken");
}

#[tokio::test]
async fn a_query_does_not_change_the_endpoint() {
    let gateway = Gateway::start("").await;
    let (body, signature) = signed("evt_1", "invoice.paid");
    let path = format!("{PATH}?a=1");
    let answer =
        post(gateway.ingress, &path, &[("stripe-signature", signature.as_bytes())], body).await.unwrap();
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn other_methods_are_refused_with_the_ones_that_are_taken() {
    let gateway = Gateway::start("").await;
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::OPTIONS, Method::HEAD] {
        let answer = request(method.clone(), gateway.ingress, PATH, &[], "").await.unwrap();
        assert_eq!(answer.summary(), (405, "rejected"), "{method}");
        assert_eq!(answer.headers["allow"], "POST");
    }
    gateway.reaches("hookgate_rejections_total", &[("endpoint", "billing"), ("reason", "method")], 5.0).await;
}

#[tokio::test]
async fn what_is_not_genuine_is_told_nothing() {
    let gateway = Gateway::start("").await;
    let (body, good) = signed("evt_1", "invoice.paid");
    let old = stripe::signature_at(stripe::SECRET, &body, stripe::now() - 3_000);
    let wrong = good.replace("v1=", "v1=00");
    let mut bodies = Vec::new();
    for signature in [None, Some(""), Some("garbage"), Some(wrong.as_str()), Some(old.as_str())] {
        let headers: Vec<(&str, &[u8])> =
            signature.iter().map(|s| ("stripe-signature", s.as_bytes())).collect();
        let answer = post(gateway.ingress, PATH, &headers, body.clone()).await.unwrap();
        assert_eq!(answer.summary(), (400, "rejected"), "{signature:?}");
        bodies.push(answer.body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "the answers must not tell the reasons apart");
    assert_eq!(
        serde_json::from_slice::<Value>(&bodies[0]).unwrap(),
        json!({ "type": "about:blank", "title": "The request could not be verified", "status": 400 })
    );
}

#[tokio::test]
async fn bodies_above_the_limit_are_refused_whether_or_not_their_length_is_declared() {
    let gateway = Gateway::start("").await;
    let large = post(gateway.ingress, PATH, &[], vec![b'x'; 4097]).await.unwrap();
    assert_eq!(large.summary(), (413, "rejected"));
    assert!(large.text().contains("4096 bytes"), "{}", large.text());
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let head =
        format!("POST {PATH} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    let chunked = raw(gateway.ingress, format!("{head}{chunk}1\r\nx\r\n0\r\n\r\n").as_bytes()).await;
    assert_eq!(raw_status(&chunked), 413);
    gateway
        .reaches("hookgate_rejections_total", &[("endpoint", "billing"), ("reason", "too_large")], 2.0)
        .await;
}

#[tokio::test]
async fn a_body_that_does_not_stop_is_not_read_on() {
    let gateway = Gateway::start("").await;
    let mut stream = TcpStream::connect(gateway.ingress).await.unwrap();
    let head = format!("POST {PATH} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let mut sent = 0_usize;
    while stream.write_all(chunk.as_bytes()).await.is_ok() {
        sent += chunk.len();
        assert!(sent < 256 * 1024 * 1024, "the gateway reads on and on");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let gateway = Gateway::start("body_timeout = \"200ms\"").await;
    let slow = format!("POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    let answer = raw(gateway.ingress, slow.as_bytes()).await;
    assert_eq!(raw_status(&answer), 408, "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test]
async fn an_expecting_client_is_told_to_go_on_or_refused_at_once() {
    let gateway = Gateway::start("").await;
    let (body, signature) = signed("evt_1", "invoice.paid");
    let head = |length: usize| {
        format!(
            "POST {PATH} HTTP/1.1\r\nHost: x\r\nStripe-Signature: {signature}\r\nContent-Length: {length}\r\n\
             Expect: 100-continue\r\nConnection: close\r\n\r\n"
        )
    };
    let mut stream = TcpStream::connect(gateway.ingress).await.unwrap();
    stream.write_all(head(body.len()).as_bytes()).await.unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(&body).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let refused = raw(gateway.ingress, head(1_000_000).as_bytes()).await;
    assert_eq!(raw_status(&refused), 413, "and no 100 before it");
}

#[tokio::test]
async fn the_host_is_named_once_and_has_no_say() {
    let gateway = Gateway::start("").await;
    let (body, signature) = signed("evt_1", "invoice.paid");
    let send = async |target: &str, hosts: &str| {
        let head = format!(
            "POST {target} HTTP/1.1\r\n{hosts}Stripe-Signature: {signature}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            body.len()
        );
        raw_status(&raw(gateway.ingress, &[head.as_bytes(), &body].concat()).await)
    };
    assert_eq!(send(PATH, "").await, 400);
    assert_eq!(send(PATH, "Host: a\r\nHost: b\r\n").await, 400);
    assert_eq!(send(PATH, "Host: evil.test\r\nX-Forwarded-Host: other.test\r\n").await, 200);
    assert_eq!(send(&format!("http://evil.test{PATH}"), "Host: a\r\n").await, 200);
}

#[tokio::test]
async fn compressed_bodies_are_taken_as_they_came() {
    let gateway = Gateway::start("").await;
    // Not JSON, but signed: if it were decoded before the check, the signature would not fit.
    let body = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xabV*.)\xca\xccKW\xb2R\x00\x00".to_vec();
    let signature = stripe::signature(&body);
    let headers: [(&str, &[u8]); 2] =
        [("stripe-signature", signature.as_bytes()), ("content-encoding", b"gzip")];
    let answer = post(gateway.ingress, PATH, &headers, body).await.unwrap();
    assert!(answer.text().contains("genuine"), "{}", answer.text());
    gateway.reaches("hookgate_rejections_total", &[("reason", "malformed_body")], 1.0).await;
}

#[tokio::test]
async fn http_2_reaches_the_endpoint() {
    let gateway = Gateway::start("").await;
    let stream = TcpStream::connect(gateway.ingress).await.unwrap();
    assert_eq!(http2(stream, PATH, "{}").await.unwrap().0, 400, "unsigned");
    gateway.reaches("hookgate_rejections_total", &[("reason", "missing_signature")], 1.0).await;
}
