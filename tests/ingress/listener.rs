//! Connections: how many, how long, which protocol.

use std::time::Duration;

use hookgate::ingress::Limits;
use tokio::io::AsyncWriteExt as _;

use super::rig::{Rig, http2, limits, read_answer, read_to_end};
use crate::support::http::{raw, raw_status};

const SHORT: Duration = Duration::from_millis(200);
const REQUEST: &[u8] = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi";

#[tokio::test]
async fn http_1_and_http_2_are_spoken_on_one_port() {
    let rig = Rig::generous().await;
    let mut stream = rig.send(REQUEST).await;
    assert!(read_answer(&mut stream).await.ends_with("hi"));
    assert_eq!(http2(rig.connect().await, "/", "hello").await.unwrap(), (200, "hello".into()));
}

#[tokio::test]
async fn a_connection_serves_several_requests() {
    let rig = Rig::generous().await;
    let mut stream = rig.connect().await;
    for _ in 0..3 {
        stream.write_all(REQUEST).await.unwrap();
        assert!(read_answer(&mut stream).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn headers_that_never_end_are_cut() {
    let rig = Rig::impatient(SHORT).await;
    let stream = rig.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await;
    read_to_end(stream).await;
    assert_eq!(rig.requests(), 0);
}

#[tokio::test]
async fn connections_that_say_nothing_or_half_an_http_2_preface_are_cut() {
    let rig = Rig::impatient(SHORT).await;
    for said in [b"".as_slice(), b"P", b"PRI * HTTP/2.0\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        read_to_end(rig.send(said).await).await;
    }
}

#[tokio::test]
async fn idle_connections_are_closed_but_not_one_with_a_request_in_flight() {
    let rig = Rig::impatient(SHORT).await;
    let mut busy = rig.send(b"POST /wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi").await;
    rig.requests_reach(1).await;
    let mut idle = rig.send(REQUEST).await;
    read_answer(&mut idle).await;
    read_to_end(idle).await; // closed by the listener, after more than `SHORT`
    rig.gate.add_permits(1);
    assert!(read_answer(&mut busy).await.ends_with("hi"));
}

#[tokio::test]
async fn an_idle_http_2_connection_is_closed_even_if_it_answers_pings() {
    let rig = Rig::impatient(SHORT).await;
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake::<_, _, http_body_util::Empty<bytes::Bytes>>(
            hyper_util::rt::TokioExecutor::new(),
            hyper_util::rt::TokioIo::new(rig.connect().await),
        )
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    sender.ready().await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "a connection that is never closed would hang the test")]
    let closed = tokio::time::timeout(Duration::from_secs(30), connection).await;
    assert!(closed.is_ok(), "the listener should have closed it");
}

#[tokio::test]
async fn surplus_connections_wait_until_one_ends() {
    let rig =
        Rig::start(limits(1, Duration::from_mins(1)), Duration::ZERO, Duration::from_mins(1), None).await;
    let mut first = rig.send(REQUEST).await;
    read_answer(&mut first).await;
    let mut second = rig.send(REQUEST).await;
    // The first one is still served, so the listener is not merely slow.
    first.write_all(REQUEST).await.unwrap();
    read_answer(&mut first).await;
    assert_eq!(rig.requests(), 2, "the second connection must still wait");
    drop(first);
    assert!(read_answer(&mut second).await.ends_with("hi"));
}

#[tokio::test]
async fn too_many_headers_and_too_long_ones_are_refused() {
    let rig = Rig::generous().await;
    let many = "x-many: 1\r\n".repeat(200);
    let long = format!("x-long: {}\r\n", "a".repeat(200_000));
    for headers in [many, long] {
        let answer =
            raw(rig.address, format!("POST / HTTP/1.1\r\nHost: x\r\n{headers}\r\n").as_bytes()).await;
        assert_eq!(raw_status(&answer), 431);
    }
    assert_eq!(rig.requests(), 0);
}

#[tokio::test]
async fn a_kept_connection_may_idle_longer_than_headers_may_take() {
    let limits =
        Limits { connections: 10, headers: Duration::from_millis(100), idle: Duration::from_mins(1) };
    let rig = Rig::start(limits, Duration::ZERO, Duration::from_mins(1), None).await;
    let (mut kept, mut slow) = (rig.send(REQUEST).await, rig.send(REQUEST).await);
    read_answer(&mut kept).await;
    read_answer(&mut slow).await;
    slow.write_all(b"POST / HT").await.unwrap();
    read_to_end(slow).await; // its second request's headers took too long
    kept.write_all(REQUEST).await.expect("the idle one is still open");
    assert!(read_answer(&mut kept).await.ends_with("hi"));
}
