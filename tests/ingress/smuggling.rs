//! Requests that two servers could read in two ways: refused, or read in one way and the connection closed.

use super::rig::Rig;
use crate::support::http::{raw, raw_status};

/// What would be smuggled.
const HIDDEN: &str = "POST /hidden HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";

async fn refused(head: &str, body: &str) {
    let rig = Rig::generous().await;
    let answer =
        raw(rig.address, format!("POST / HTTP/1.1\r\nHost: x\r\n{head}\r\n{body}{HIDDEN}").as_bytes()).await;
    assert_eq!(raw_status(&answer), 400, "{head:?}: {}", String::from_utf8_lossy(&answer));
    assert_eq!(rig.requests(), 0, "{head:?}");
}

#[tokio::test]
async fn doubtful_lengths_are_refused() {
    for head in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length : 5\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "X-Folded: one\r\n two\r\nContent-Length: 0\r\n",
    ] {
        refused(head, "").await;
    }
}

#[tokio::test]
async fn a_length_beside_chunked_counts_for_nothing_and_ends_the_connection() {
    for head in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    ] {
        let rig = Rig::generous().await;
        let request = format!("POST / HTTP/1.1\r\nHost: x\r\n{head}\r\n2\r\nhi\r\n0\r\n\r\n{HIDDEN}");
        let answer = raw(rig.address, request.as_bytes()).await;
        let text = String::from_utf8_lossy(&answer);
        assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("hi"), "{text}");
        assert_eq!(rig.requests(), 1, "{head:?}");
    }
}

#[tokio::test]
async fn a_badly_framed_chunk_never_becomes_a_second_request() {
    for body in [
        "2\nhi\r\n0\r\n\r\n",
        "11111111111111111\r\nhi\r\n0\r\n\r\n",
        "-2\r\nhi\r\n0\r\n\r\n",
        "2 \rhi\r\n0\r\n\r\n",
        "2\r\nhiX\r\n0\r\n\r\n",
        "g\r\nhi\r\n0\r\n\r\n",
    ] {
        let rig = Rig::generous().await;
        let request =
            format!("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{body}{HIDDEN}");
        raw(rig.address, request.as_bytes()).await;
        assert!(rig.requests() <= 1, "{body:?} let a second request through");
    }
}

#[tokio::test]
async fn bytes_that_are_no_request_are_refused() {
    for bytes in
        ["\0\0\0\0", "GET\r\n\r\n", "POST / HTTP/9.9\r\n\r\n", "POST /a b HTTP/1.1\r\nHost: x\r\n\r\n"]
    {
        let rig = Rig::generous().await;
        let answer = raw(rig.address, bytes.as_bytes()).await;
        assert_eq!(raw_status(&answer), 400, "{bytes:?}");
        assert_eq!(rig.requests(), 0);
    }
}

#[tokio::test]
async fn a_raw_nul_in_a_header_is_refused() {
    refused("X-Nul: a\0b\r\nContent-Length: 0\r\n", "").await;
}
