//! What is kept, and for how long.

use std::sync::Arc;

use hookgate::verify::{Answer, KeyRequest};

use super::server::{Server, ok, with};
use super::{at, body, failure, keys, request};
use crate::support::wait;

#[tokio::test]
async fn fifty_requests_for_one_key_cost_one_fetch() {
    let server = Server::start(|_| ok("key")).await;
    server.hold();
    let keys = keys();
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let (keys, request) = (Arc::clone(&keys), request(server.url("/a.pem")));
            tokio::spawn(async move { keys.answer("e", &request, at(0)).await })
        })
        .collect();
    wait::until("the one fetch", async || (server.count() > 0).then_some(())).await;
    server.let_go();
    for task in tasks {
        assert_eq!(body(task.await.unwrap()), "key");
    }
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_key_is_kept_as_long_as_the_definition_says_and_no_longer() {
    let server = Server::start(|_| ok("key")).await;
    let (keys, request) = (keys(), request(server.url("/a.pem")));
    for (second, fetches) in [(0, 1), (3599, 1), (3600, 2), (7000, 2)] {
        body(keys.answer("e", &request, at(second)).await);
        assert_eq!(server.count(), fetches, "after {second} s");
    }
}

#[tokio::test]
async fn the_provider_may_shorten_the_time_but_not_to_nothing() {
    let server = Server::start(|_| with("200 OK", "cache-control: public, max-age=300\r\n", "key")).await;
    let (keys, request) = (keys(), request(server.url("/a.pem")));
    for (second, fetches) in [(0, 1), (299, 1), (300, 2)] {
        body(keys.answer("e", &request, at(second)).await);
        assert_eq!(server.count(), fetches, "after {second} s");
    }
    server.answers(|_| with("200 OK", "cache-control: no-store\r\n", "key"));
    for (second, fetches) in [(600, 3), (659, 3), (660, 4)] {
        body(keys.answer("e", &request, at(second)).await);
        assert_eq!(server.count(), fetches, "after {second} s");
    }
}

#[tokio::test]
async fn a_key_serves_on_for_a_day_while_its_provider_fails() {
    let server = Server::start(|_| ok("key")).await;
    let (keys, request) = (keys(), request(server.url("/a.pem")));
    body(keys.answer("e", &request, at(0)).await);
    server.answers(|_| with("500 Broken", "", ""));
    assert_eq!(body(keys.answer("e", &request, at(4000)).await), "key");
    assert_eq!(server.count(), 2);
    // The failure is remembered for a while, and the key with it.
    assert_eq!(body(keys.answer("e", &request, at(4005)).await), "key");
    assert_eq!(server.count(), 2);
    assert_eq!(body(keys.answer("e", &request, at(80_000)).await), "key");
    assert!(failure(keys.answer("e", &request, at(3600 + 24 * 3600)).await).contains("500"));
}

#[tokio::test]
async fn a_key_that_the_provider_takes_back_is_gone() {
    let server = Server::start(|_| ok("key")).await;
    let (keys, request) = (keys(), request(server.url("/a.pem")));
    body(keys.answer("e", &request, at(0)).await);
    server.answers(|_| with("404 Not Found", "", ""));
    let answer = keys.answer("e", &request, at(4000)).await;
    assert!(matches!(answer, Answer::Reply { status: 404, .. }), "{answer:?}");
}

#[tokio::test]
async fn that_there_is_no_such_key_is_remembered() {
    let server = Server::start(|_| with("404 Not Found", "", "")).await;
    let (keys, request) = (keys(), request(server.url("/a.pem")));
    for (second, fetches) in [(0, 1), (1, 1), (299, 1), (301, 2)] {
        let answer = keys.answer("e", &request, at(second)).await;
        assert!(matches!(answer, Answer::Reply { status: 404, .. }), "{answer:?}");
        assert_eq!(server.count(), fetches, "after {second} s");
    }
}

#[tokio::test]
async fn a_set_without_the_key_is_fetched_again_once_a_minute() {
    let server = Server::start(|_| ok("old set")).await;
    let (keys, request) = (keys(), request(server.url("/jwks")));
    body(keys.answer("e", &request, at(0)).await);
    server.answers(|_| ok("new set"));
    let renew = KeyRequest { renew: true, ..request.clone() };
    // Fetched a moment ago: it will not have changed.
    assert_eq!(body(keys.answer("e", &renew, at(30)).await), "old set");
    assert_eq!(body(keys.answer("e", &renew, at(61)).await), "new set");
    for second in 62..120 {
        assert_eq!(body(keys.answer("e", &renew, at(second)).await), "new set");
    }
    assert_eq!(server.count(), 2);
    body(keys.answer("e", &renew, at(121)).await);
    assert_eq!(server.count(), 3);
}
