//! Questions about one event, and tokens for providers that answer their own clients only.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use hookgate::model::Secret;
use hookgate::verify::{Answer, KeyRequest, OAuth};

use super::server::{Asked, Server, ok, with};
use super::{at, body, failure, keys, request};

fn question(url: String) -> KeyRequest {
    KeyRequest { cache: None, ..request(url) }
}

#[tokio::test]
async fn every_question_is_asked_anew() {
    let server = Server::start(|_| ok("paid")).await;
    let (keys, question) = (keys(), question(server.url("/payments/tr_1")));
    for _ in 0..3 {
        assert_eq!(body(keys.answer("e", &question, at(0)).await), "paid");
    }
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn events_that_the_provider_does_not_know_are_asked_for_thirty_times_a_minute() {
    let server = Server::start(|_| with("404 Not Found", "", "")).await;
    let keys = keys();
    for id in 0..100 {
        keys.answer("e", &question(server.url(&format!("/payments/{id}"))), at(0)).await;
    }
    assert_eq!(server.count(), 30);
    keys.answer("e", &question(server.url("/payments/x")), at(60)).await;
    assert_eq!(server.count(), 31);
}

#[tokio::test]
async fn eight_questions_are_open_at_a_time() {
    let server = Server::start(|_| ok("paid")).await;
    server.hold();
    let keys = keys();
    let tasks: Vec<_> = (0..9)
        .map(|id| {
            let (keys, question) = (Arc::clone(&keys), question(server.url(&format!("/payments/{id}"))));
            tokio::spawn(async move { keys.answer("e", &question, at(0)).await })
        })
        .collect();
    crate::support::wait::until("eight", async || (server.count() == 8).then_some(())).await;
    let late = failure(keys.answer("e", &question(server.url("/payments/late")), at(0)).await);
    assert!(late.contains("8 questions"), "{late}");
    server.let_go();
    let mut refused = 0;
    for task in tasks {
        refused += usize::from(matches!(task.await.unwrap(), Answer::Failed(_)));
    }
    assert_eq!((refused, server.count()), (1, 8));
}

fn with_token(server: &Server, path: &str) -> KeyRequest {
    let oauth = OAuth {
        url: server.url("/token"),
        client_id: "app".into(),
        client_secret: Secret::new("s3cret"),
        scope: "keys".into(),
    };
    KeyRequest { oauth: Some(oauth), ..request(server.url(path)) }
}

/// Gives a new token each time, and keys only to who shows the one that counts.
fn guarded(
    tokens: Arc<AtomicUsize>,
    valid: Arc<AtomicUsize>,
) -> impl Fn(&Asked) -> Option<String> + Send + Sync {
    move |asked| {
        if asked.head.starts_with("post /token") {
            assert!(asked.head.contains("authorization: basic yxbwonmzy3jlda=="), "{}", asked.head);
            assert_eq!(asked.body, "grant_type=client_credentials&scope=keys");
            let number = tokens.fetch_add(1, SeqCst) + 1;
            valid.store(number, SeqCst);
            return ok(&format!(r#"{{"access_token":"token{number}","expires_in":7200}}"#));
        }
        let shown = format!("authorization: bearer token{}", valid.load(SeqCst));
        if asked.head.contains(&shown) { ok("key") } else { with("401 Unauthorized", "", "") }
    }
}

#[tokio::test]
async fn a_token_is_had_once_and_again_when_it_is_taken_back() {
    let (tokens, valid) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let server = Server::start(guarded(Arc::clone(&tokens), Arc::clone(&valid))).await;
    let keys = keys();
    assert_eq!(body(keys.answer("e", &with_token(&server, "/k1"), at(0)).await), "key");
    assert_eq!(body(keys.answer("e", &with_token(&server, "/k2"), at(60)).await), "key");
    assert_eq!(tokens.load(SeqCst), 1);
    valid.store(999, SeqCst);
    assert_eq!(body(keys.answer("e", &with_token(&server, "/k3"), at(120)).await), "key");
    assert_eq!(tokens.load(SeqCst), 2);
    assert_eq!(body(keys.answer("e", &with_token(&server, "/k4"), at(7300)).await), "key");
    assert_eq!(tokens.load(SeqCst), 3);
}

#[tokio::test]
async fn without_the_clients_own_secret_nothing_is_asked() {
    let server = Server::start(|_| ok("key")).await;
    let mut request = with_token(&server, "/k1");
    if let Some(oauth) = &mut request.oauth {
        oauth.client_secret = Secret::new("");
    }
    let why = failure(keys().answer("e", &request, at(0)).await);
    assert!(why.contains("set the client's id and secret"), "{why}");
    assert_eq!(server.count(), 0);
}
