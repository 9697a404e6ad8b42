//! Servers that misbehave, and surroundings that would like to have a say.

use std::time::Duration;

use hookgate::config::Destination;
use tokio::net::TcpListener;

use super::fixture::{Reply, Server, destination, dispatcher, ending, forward, network, now, send, status};

fn impatient(url: &str) -> Destination {
    Destination { timeout: Duration::from_millis(300), ..destination(url) }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let server = Server::start(Reply::Silence).await;
    let attempt = send(&impatient(&server.url()), &forward("{}", &[])).await;
    assert_eq!(ending(&attempt), ("failed", Some("timeout"), None));
    server.is_left().await;
}

#[tokio::test]
async fn a_head_that_never_ends_is_given_up() {
    for (first, rest) in [("HTTP/1.1 200 OK\r\n", "x: y\r\n"), ("", "HTTP/1.1 100 Continue\r\n\r\n")] {
        let server = Server::start(Reply::Endless(first.into(), rest.into())).await;
        let attempt = send(&impatient(&server.url()), &forward("{}", &[])).await;
        assert_eq!((attempt.outcome.as_str(), attempt.status), ("failed", None), "{rest:?}");
        server.is_left().await;
    }
}

#[tokio::test]
async fn more_headers_than_anybody_needs_are_a_broken_answer() {
    let head = format!("HTTP/1.1 200 OK\r\n{}content-length: 0\r\n\r\n", "x: y\r\n".repeat(10_000));
    let server = Server::start(Reply::Bytes(head.into())).await;
    let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
    assert_eq!(ending(&attempt), ("failed", Some("protocol"), None));
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_a_broken_answer() {
    let server = Server::start(Reply::Bytes(b"220 smtp.example.com ESMTP\r\n".to_vec())).await;
    let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
    assert_eq!(ending(&attempt), ("failed", Some("protocol"), None));
}

#[tokio::test]
async fn a_huge_answer_is_not_read_to_its_end() {
    let chunk = [b"10000\r\n".to_vec(), vec![b'x'; 0x1_0000], b"\r\n".to_vec()].concat();
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let server = Server::start(Reply::Endless(head, chunk)).await;
    let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
    assert_eq!(ending(&attempt), ("succeeded", None, Some(200)));
    server.is_left().await;
    let taken = server.written();
    assert!(taken < 32 << 20, "{taken} bytes: more than what the buffers of the kernel hold");
}

#[tokio::test]
async fn a_slow_drip_after_the_status_ends_with_the_time_limit_and_the_status_counts() {
    let first = b"HTTP/1.1 202 Accepted\r\ncontent-length: 1000000\r\n\r\n".to_vec();
    let server = Server::start(Reply::Bytes(first)).await;
    let attempt = send(&impatient(&server.url()), &forward("{}", &[])).await;
    assert_eq!(ending(&attempt), ("succeeded", None, Some(202)));
    server.is_left().await;
}

#[tokio::test]
async fn a_compressed_answer_is_not_unpacked() {
    let reply = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope".to_vec();
    let server = Server::start(Reply::Bytes(reply)).await;
    let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
    assert_eq!(ending(&attempt), ("succeeded", None, Some(200)));
    assert_eq!(server.requests()[0].header("accept-encoding"), None);
}

#[tokio::test]
async fn a_connection_closed_before_the_answer_is_a_failure() {
    for reply in ["", "HTTP/1.1 200 OK\r\ncontent-"] {
        let server = Server::start(Reply::ThenClose(reply.into())).await;
        let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
        assert_eq!(ending(&attempt), ("failed", Some("closed"), None), "{reply:?}");
        assert_eq!(server.requests().len(), 1, "nothing is sent twice behind the queue's back");
    }
}

#[tokio::test]
async fn a_connection_closed_amid_the_body_of_an_answer_leaves_its_status() {
    for (code, expected) in [(200, ("succeeded", None)), (503, ("failed", Some("status.503")))] {
        let reply = format!("HTTP/1.1 {code} X\r\ncontent-length: 100\r\n\r\nshort");
        let server = Server::start(Reply::ThenClose(reply.into())).await;
        let attempt = send(&destination(&server.url()), &forward("{}", &[])).await;
        assert_eq!((attempt.outcome.as_str(), attempt.error.as_deref()), expected);
    }
}

#[tokio::test]
async fn a_kept_connection_that_the_server_closed_does_not_fail_the_next_delivery_for_good() {
    let server =
        Server::start(Reply::ThenClose(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec())).await;
    let destination = destination(&server.url());
    let dispatcher = dispatcher(&network(std::sync::Arc::default()), &destination);
    for round in 0..50 {
        let mut tries = 0;
        loop {
            tries += 1;
            let attempt = dispatcher.send(&destination, &forward("{}", &[]), tries, now()).await;
            if attempt.status == Some(200) {
                break;
            }
            assert_eq!(attempt.error.as_deref(), Some("closed"), "round {round}");
            assert!(tries < 5, "round {round}: a fresh connection is always there to be had");
        }
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_a_connect_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let attempt = send(&destination(&format!("http://{address}/")), &forward("{}", &[])).await;
    assert_eq!(ending(&attempt), ("failed", Some("connect"), None));
}

#[tokio::test]
async fn a_delivery_that_is_dropped_half_way_does_no_harm() {
    let server = Server::start(Reply::Silence).await;
    let destination = destination(&server.url());
    let dispatcher = dispatcher(&network(std::sync::Arc::default()), &destination);
    let message = forward("{}", &[]);
    tokio::select! {
        attempt = dispatcher.send(&destination, &message, 1, now()) => panic!("{attempt:?}"),
        () = server.is_asked() => {}
    }
    server.is_left().await;
}

#[tokio::test]
async fn proxy_variables_of_the_environment_are_not_read() {
    let proxy = Server::start(status(502, "")).await;
    let url = format!("http://{}", proxy.address);
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "dispatch::head::every_body_arrives_byte_for_byte", "--test-threads=1"]);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(name, &url);
    }
    child.env_remove("no_proxy").env_remove("NO_PROXY");
    let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    assert_eq!(proxy.connections(), 0);
}
