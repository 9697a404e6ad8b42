//! What strangers and broken providers can make the gateway do.

use super::server::{Server, ok, with};
use super::{at, body, failure, keys, request};

#[tokio::test]
async fn made_up_key_ids_cost_one_fetch_a_minute() {
    let server = Server::start(|_| with("404 Not Found", "", "")).await;
    let keys = keys();
    for second in 0..120 {
        for id in 0..10 {
            keys.answer("e", &request(server.url(&format!("/{second}-{id}"))), at(second)).await;
        }
    }
    assert_eq!(server.count(), 2);
    // Another endpoint does not pay for it.
    keys.answer("other", &request(server.url("/x")), at(120)).await;
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn made_up_key_ids_do_not_touch_the_keys_that_are_known() {
    let server =
        Server::start(
            |asked| {
                if asked.head.contains("/good") { ok("key") } else { with("404 Not Found", "", "") }
            },
        )
        .await;
    let keys = keys();
    body(keys.answer("e", &request(server.url("/good")), at(0)).await);
    for id in 0..2000 {
        let why = failure_or_404(keys.answer("e", &request(server.url(&format!("/{id}"))), at(1)).await);
        assert!(why.is_none_or(|why| why.contains("within a minute")));
    }
    assert_eq!(body(keys.answer("e", &request(server.url("/good")), at(2)).await), "key");
    assert_eq!(server.count(), 2);
}

fn failure_or_404(answer: hookgate::verify::Answer) -> Option<String> {
    match answer {
        hookgate::verify::Answer::Failed(why) => Some(why),
        hookgate::verify::Answer::Reply { status, .. } => {
            assert_eq!(status, 404);
            None
        }
    }
}

#[tokio::test]
async fn an_answer_of_more_than_64_kib_is_none() {
    let server = Server::start(|_| ok(&"x".repeat(64 * 1024))).await;
    let keys = keys();
    assert_eq!(body(keys.answer("e", &request(server.url("/fits")), at(0)).await).len(), 64 * 1024);
    server.answers(|_| ok(&"x".repeat(64 * 1024 + 1)));
    let why = failure(keys.answer("e", &request(server.url("/said")), at(60)).await);
    assert!(why.contains("larger than 65536"), "{why}");
    // Also where it does not say so beforehand.
    let chunk = format!("{:x}\r\n{}\r\n", 32 * 1024, "x".repeat(32 * 1024));
    let endless = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}", chunk.repeat(3));
    server.answers(move |_| Some(endless.clone()));
    let why = failure(keys.answer("e", &request(server.url("/unsaid")), at(120)).await);
    assert!(why.contains("larger than 65536"), "{why}");
}

#[tokio::test]
async fn a_provider_that_says_nothing_is_given_up_after_five_seconds() {
    let server = Server::start(|_| None).await;
    let keys = keys();
    let began = std::time::Instant::now();
    let why = failure(keys.answer("e", &request(server.url("/a")), at(0)).await);
    assert!(why.contains("timeout"), "{why}");
    assert!((4..30).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    // The failure is remembered, so the next request does not wait.
    failure(keys.answer("e", &request(server.url("/a")), at(5)).await);
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_fetch_that_is_dropped_leaves_room_for_the_next() {
    let server = Server::start(|_| ok("key")).await;
    server.hold();
    let (keys, wanted) = (keys(), request(server.url("/a")));
    let cut = {
        let (keys, wanted) = (keys.clone(), wanted.clone());
        tokio::spawn(async move { keys.answer("e", &wanted, at(0)).await })
    };
    crate::support::wait::until("the fetch", async || (server.count() > 0).then_some(())).await;
    cut.abort();
    let _ = cut.await;
    server.let_go();
    assert_eq!(body(keys.answer("e", &wanted, at(0)).await), "key");
}
