//! Start, stop, and the steps that the README shows.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use super::{EFFECTS, INBOX, NOTE_EFFECT, PROCESSED, assert_untouched};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::GatewayConfig;
use crate::support::process::{self, Signal};
use crate::support::{http, stripe, wait};

#[tokio::test]
async fn a_second_gateway_on_the_same_sqlite_file_is_refused() {
    let database = Database::new(Engine::Sqlite).await;
    let config = GatewayConfig::new(&database.url, "sync");
    let first = config.start().await;
    let second = config.try_start(&[]).await.err().expect("two gateways on one file");
    assert!(!second.status.success());
    assert!(second.output.contains("hookgate.db"), "names the file:\n{}", second.output);
    // The first one is as well as before, and when it is gone the file is free, even after SIGKILL.
    assert_eq!(http::get(first.admin, "/readyz").await.expect("an answer").status, 200);
    first.kill().await;
    config.start().await;
}

async fn sigterm_under_load_finishes_what_is_in_hand(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT);
    let gateway = config.start().await;
    let (ingress, pid) = (gateway.ingress, gateway.pid());
    let senders = (0..8).map(|sender| async move {
        let mut acknowledged = 0;
        for number in 0.. {
            let body = stripe::event(&format!("evt_{sender}_{number}"), "customer.created", &json!({}));
            let signature = stripe::signature(&body);
            let headers: [(&str, &[u8]); 1] = [("stripe-signature", signature.as_bytes())];
            match http::post(ingress, crate::support::gateway::PATH, &headers, body).await {
                Ok(answer) if answer.status == 200 => acknowledged += 1,
                Ok(answer) => assert_eq!(answer.status, 503, "a drain answers 200 or 503: {}", answer.text()),
                Err(_) => break, // the listener is closed
            }
            if sender == 0 && number == 20 {
                process::signal(pid, Signal::Term);
            }
        }
        acknowledged
    });
    let acknowledged: i64 = join_all(senders).await.into_iter().sum();
    let end = gateway.ended().await;
    assert!(end.status.success(), "a clean drain exits with 0: {}\n{}", end.status, end.output);
    assert!(acknowledged >= 20);
    let [rows, effects] = [database.count(PROCESSED).await, database.count(EFFECTS).await];
    assert_eq!(rows, effects, "each row has its effect");
    assert!(rows >= acknowledged, "{acknowledged} were acknowledged, {rows} are stored");
    // The listener closes before the last answers, so at most one request of each sender can be stored unanswered.
    assert!(rows <= acknowledged + 8, "{acknowledged} were acknowledged, {rows} are stored");
}

#[tokio::test]
async fn a_request_in_work_is_answered_after_sigterm() {
    let database = Database::new(Engine::Postgres).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT);
    let gateway = config.start().await;
    let held = database.hold("effects").await;
    let body = stripe::event("evt_1", "customer.created", &json!({}));
    let (answer, ()) = tokio::join!(gateway.deliver(body), async {
        wait::until("the handler to be at work", async || (database.blocked().await == 1).then_some(()))
            .await;
        gateway.signal(Signal::Term);
        wait::until("the drain to begin", async || {
            let ready = http::get(gateway.admin, "/readyz").await;
            ready.map_or(true, |answer| answer.status == 503).then_some(())
        })
        .await;
        held.release().await;
    });
    assert_eq!(answer.expect("an answer").summary(), (200, "processed"));
    assert!(gateway.ended().await.status.success());
    assert_eq!((database.count(EFFECTS).await, database.count(PROCESSED).await), (1, 1));
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once_and_the_redelivery_heals() {
    let database = Database::new(Engine::Postgres).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT);
    let gateway = config.start().await;
    let held = database.hold("effects").await;
    let body = stripe::event("evt_1", "customer.created", &json!({}));
    let (answer, ()) = tokio::join!(gateway.deliver(body.clone()), async {
        wait::until("the handler to be at work", async || (database.blocked().await == 1).then_some(()))
            .await;
        gateway.signal(Signal::Term);
        wait::until("the drain to begin", async || {
            let ready = http::get(gateway.admin, "/readyz").await;
            ready.map_or(true, |answer| answer.status == 503).then_some(())
        })
        .await;
        gateway.signal(Signal::Term);
    });
    assert!(answer.is_err(), "nothing can have been answered: {answer:?}");
    gateway.ended().await;
    held.release().await;
    let gateway = config.start().await;
    let again = gateway.deliver(body).await.expect("an answer");
    assert_eq!(again.status, 200);
    assert_eq!((database.count(EFFECTS).await, database.count(PROCESSED).await), (1, 1));
}

/// The README's five steps, without the Stripe CLI: the same payload twice with its own header, and one wrong
/// character in the secret.
async fn the_readmes_steps_hold(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync")
        .handler("stripe_checkout", "checkout.session.*")
        .sql_handler("note", NOTE_EFFECT);
    let gateway = config.start().await;
    let body = stripe::checkout_completed("evt_1", "cs_test_1");
    let signature = stripe::signature(&body);

    let first = gateway.post(&signature, body.clone()).await.expect("an answer");
    assert_eq!(first.summary(), (200, "processed"));
    let again = gateway.post(&signature, body.clone()).await.expect("an answer");
    assert_eq!(again.summary(), (200, "duplicate"));
    let by_event = "SELECT count(*) FROM webhook_inbox WHERE event_id = 'evt_1'";
    let by_session = "SELECT count(*) FROM entitlements WHERE session_id = 'cs_test_1'";
    assert_eq!((database.count(by_event).await, database.count(by_session).await), (1, 1));
    assert_eq!(database.count(EFFECTS).await, 1);
    gateway.terminate().await;

    let wrong = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&wrong.url, "sync")
        .handler("stripe_checkout", "checkout.session.*")
        .sql_handler("note", NOTE_EFFECT);
    let gateway = config.start().await;
    let secret = stripe::SECRET.replace('4', "5");
    let signature = stripe::signature_at(&secret, &body, stripe::now());
    assert_eq!(gateway.post(&signature, body).await.expect("an answer").summary(), (400, "rejected"));
    assert_untouched(&wrong).await;
    assert_eq!(wrong.count("SELECT count(*) FROM entitlements").await, 0);
}

async fn an_event_that_nobody_wants_is_recorded_as_ignored(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let gateway =
        GatewayConfig::new(&database.url, "sync").handler("stripe_billing", "invoice.*").start().await;
    let body = stripe::event("evt_1", "customer.created", &json!({}));
    assert_eq!(gateway.deliver(body).await.expect("an answer").summary(), (200, "ignored"));
    assert_eq!((database.count(INBOX).await, database.count(PROCESSED).await), (1, 1));
    assert_eq!(gateway.wait_for_lines("event.ignored", 1).await.len(), 1);
    let backlog = gateway.metrics().await.sum("hookgate_inbox_backlog", &[("endpoint", "billing")]);
    assert!(backlog.abs() < 0.5);
}

both_engines!(
    sigterm_under_load_finishes_what_is_in_hand,
    the_readmes_steps_hold,
    an_event_that_nobody_wants_is_recorded_as_ignored,
);

/// A connection that says nothing does not keep the gateway from ending.
#[tokio::test]
async fn idle_connections_do_not_delay_the_end() {
    let database = Database::new(Engine::Sqlite).await;
    let config = GatewayConfig::new(&database.url, "sync");
    let gateway = config.start().await;
    let silent = tokio::net::TcpStream::connect(gateway.ingress).await.expect("connect");
    #[expect(clippy::disallowed_methods, reason = "the end is to come in much less than the drain's limit")]
    let ended = tokio::time::timeout(Duration::from_secs(20), gateway.terminate()).await;
    assert!(ended.expect("ends although a connection is open").status.success());
    drop(silent);
}
