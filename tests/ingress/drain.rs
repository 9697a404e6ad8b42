//! The end of a listener.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;

use super::rig::{Rig, http2, limits, read_answer};
use crate::support::wait::until;

const MINUTE: Duration = Duration::from_mins(1);
const REQUEST: &[u8] = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi";
const WAITING: &[u8] = b"POST /wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi";

#[tokio::test]
async fn connections_without_a_request_do_not_hold_up_the_end() {
    let rig = Rig::generous().await;
    let mut keep_alive = rig.send(REQUEST).await;
    read_answer(&mut keep_alive).await;
    let mut open = vec![keep_alive];
    for said in [
        b"".as_slice(),
        b"P",
        b"PRI * HTTP/2.0\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/1.1\r\nHo",
    ] {
        open.push(rig.send(said).await);
    }
    assert!(rig.stop().await.clean, "none of them may have to be cut at the deadline");
}

#[tokio::test]
async fn a_request_in_flight_is_answered_before_the_end() {
    let rig = Rig::generous().await;
    let mut http_1 = rig.send(WAITING).await;
    let http_2 = tokio::spawn(http2(rig.connect().await, "/wait", "hello"));
    rig.requests_reach(2).await;
    rig.signal.cancel();
    until("the listener to be closed", async || {
        tokio::net::TcpStream::connect(rig.address).await.is_err().then_some(())
    })
    .await;
    rig.gate.add_permits(2);
    assert!(read_answer(&mut http_1).await.ends_with("hi"));
    assert_eq!(http_2.await.unwrap().unwrap(), (200, "hello".into()));
    assert!(rig.stop().await.clean);
}

#[tokio::test]
async fn the_listener_stays_open_while_load_balancers_notice() {
    let rig = Rig::start(limits(10, MINUTE), Duration::from_secs(3), MINUTE, None).await;
    rig.signal.cancel();
    let mut late = rig.send(REQUEST).await;
    assert!(read_answer(&mut late).await.starts_with("HTTP/1.1 200"));
    assert!(rig.stop().await.clean);
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_at_the_deadline() {
    let rig = Rig::start(limits(10, MINUTE), Duration::ZERO, Duration::from_millis(100), None).await;
    let mut stuck = rig.send(WAITING).await;
    rig.requests_reach(1).await;
    assert!(!rig.stop().await.clean);
    let mut answer = Vec::new();
    let _ = stuck.read_to_end(&mut answer).await;
    assert!(answer.is_empty(), "no answer was made: {answer:?}");
}
