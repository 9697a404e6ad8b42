//! One request's misfortune is not another's.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::gateway::{Gateway, PATH, signed};
use crate::support::http::{get, post};
use crate::support::wait::until;

const PROCESSED: [(&str, &str); 2] = [("endpoint", "billing"), ("outcome", "processed")];

#[tokio::test]
async fn a_handler_that_panics_is_answered_500_and_the_next_request_works() {
    let gateway = Gateway::start("").await;
    assert_eq!(gateway.send("evt_1", "test.panic").await.summary(), (500, "error"));
    assert_eq!(gateway.send("evt_2", "invoice.paid").await.summary(), (200, "ignored"));
    assert_eq!(gateway.send("evt_1", "test.panic").await.summary(), (500, "error"), "it left no row behind");
}

#[tokio::test]
async fn above_the_limit_of_requests_at_once_clients_are_told_to_come_back() {
    let gateway = Gateway::start("max_in_flight = 1").await;
    let first = async { gateway.send("evt_1", "test.hold").await };
    let second = async {
        let shed = loop {
            let answer = gateway.send("evt_2", "invoice.paid").await;
            if answer.status == 503 {
                break answer;
            }
        };
        gateway.hold.add_permits(1);
        shed
    };
    let (first, shed) = tokio::join!(first, second);
    assert_eq!(shed.summary(), (503, "error"));
    assert_eq!(shed.headers["retry-after"], "5");
    assert_eq!(first.summary(), (200, "processed"));
    assert_eq!(gateway.send("evt_3", "invoice.paid").await.status, 200, "the slot is free again");
}

#[tokio::test]
async fn bodies_that_do_not_come_to_their_end_keep_nobody_out() {
    let gateway = Gateway::start("max_in_flight = 4").await;
    let head =
        format!("POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\nExpect: 100-continue\r\n\r\n");
    let mut slow = Vec::new();
    for _ in 0..8 {
        let mut stream = TcpStream::connect(gateway.ingress).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut begun = [0; 25];
        stream.read_exact(&mut begun).await.unwrap();
        assert_eq!(&begun, b"HTTP/1.1 100 Continue\r\n\r\n", "its body is being read");
        stream.write_all(b"x").await.unwrap();
        slow.push(stream);
    }
    assert_eq!(gateway.send("evt_1", "invoice.paid").await.summary(), (200, "ignored"));
}

#[tokio::test]
async fn a_client_that_hangs_up_stops_nothing_and_keeps_its_slot_until_the_work_is_done() {
    let gateway = Gateway::start("max_in_flight = 1").await;
    let (body, signature) = signed("evt_1", "test.hold");
    drop(at_work(&gateway, &body, &signature).await);
    assert_eq!(gateway.send("evt_2", "invoice.paid").await.status, 503, "the work still goes on");
    gateway.hold.add_permits(1);
    gateway.reaches("hookgate_events_total", &PROCESSED, 1.0).await;
    let again =
        post(gateway.ingress, PATH, &[("stripe-signature", signature.as_bytes())], body).await.unwrap();
    assert_eq!(again.summary(), (200, "duplicate"));
}

#[tokio::test]
async fn the_drain_waits_for_work_whose_client_has_gone() {
    let gateway = Gateway::start("").await;
    let (body, signature) = signed("evt_1", "test.hold");
    drop(at_work(&gateway, &body, &signature).await);
    let (ingress, hold) = (gateway.ingress, Arc::clone(&gateway.hold));
    let drained = tokio::spawn(gateway.drain());
    until("the listener to be closed", async || TcpStream::connect(ingress).await.is_err().then_some(()))
        .await;
    hold.add_permits(1);
    assert_eq!(drained.await.unwrap(), (true, 1), "nothing was cut, and the event is processed");
}

/// A connection on which a request was sent that a handler works on now.
async fn at_work(gateway: &Gateway, body: &[u8], signature: &str) -> TcpStream {
    let before = gateway.begun.load(SeqCst);
    let mut stream = TcpStream::connect(gateway.ingress).await.unwrap();
    let length = body.len();
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nHost: x\r\nStripe-Signature: {signature}\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
    until("the handler to be at work", async || (gateway.begun.load(SeqCst) > before).then_some(())).await;
    stream
}

#[tokio::test]
async fn every_series_exists_from_the_start_and_strangers_add_none() {
    const BATCH: usize = 1_000;
    const MISSING: &[u8] = b"HTTP/1.1 404";
    let gateway = Gateway::start("").await;
    let names = async || {
        let page = get(gateway.admin, "/metrics").await.unwrap().text();
        let series =
            page.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
        series.map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    gateway.reaches("hookgate_store_up", &[], 1.0).await;
    let before = names().await;
    for wanted in [
        r#"hookgate_requests_total{endpoint="billing",outcome="processed",provider="stripe"}"#,
        r#"hookgate_rejections_total{endpoint="billing",provider="stripe",reason="stale_timestamp"}"#,
        r#"hookgate_events_total{endpoint="billing",outcome="duplicate",provider="stripe"}"#,
        r#"hookgate_event_types_total{endpoint="billing",event_type="test.hold"}"#,
        r#"hookgate_event_types_total{endpoint="billing",event_type="other"}"#,
        r#"hookgate_secret_matches_total{endpoint="billing",secret="1"}"#,
        r#"hookgate_inbox_backlog{endpoint="billing",provider="stripe"}"#,
        r#"hookgate_workers_alive{queue="outbox"}"#,
        r#"hookgate_request_duration_seconds_bucket{endpoint="billing",provider="stripe",le="10"}"#,
    ] {
        assert!(before.iter().any(|name| name == wanted), "{wanted} is missing");
    }
    let mut stream = TcpStream::connect(gateway.ingress).await.unwrap();
    for batch in 0..100 {
        let mut requests = String::new();
        for n in 0..BATCH {
            write!(requests, "GET /{batch}/{n} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        }
        let (mut reader, mut writer) = stream.split();
        let answers = async {
            let (mut seen, mut bytes) = (0, Vec::new());
            while seen < BATCH {
                assert!(reader.read_buf(&mut bytes).await.unwrap() > 0, "the connection was closed");
                seen += bytes.windows(MISSING.len()).filter(|w| *w == MISSING).count();
                // What may be the beginning of the next answer stays.
                bytes.drain(..bytes.len().saturating_sub(MISSING.len() - 1));
            }
        };
        let (written, ()) = tokio::join!(writer.write_all(requests.as_bytes()), answers);
        written.unwrap();
    }
    gateway.send("evt_1", "made.up.by.nobody").await;
    gateway.reaches("hookgate_last_verified_timestamp_seconds", &[("endpoint", "billing")], 1.0).await;
    let mut after = names().await;
    after.retain(|name| !name.starts_with("hookgate_last_verified"));
    assert_eq!(after, before);
    assert!(gateway.metrics().await.sum("hookgate_event_types_total", &[("event_type", "other")]) > 0.0);
}
