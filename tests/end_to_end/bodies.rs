//! Genuine requests whose bodies are strange: they become a row with the same bytes, or they are rejected and kept
//! with the same bytes. No panic, no row that nobody can finish.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::{EFFECTS, INBOX, NOTE_EFFECT, PROCESSED};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::{GatewayConfig, field};
use crate::support::stripe;

/// What is to become of a body.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// Stored and processed.
    Event,
    /// Rejected with this reason, and kept in quarantine.
    Kept(&'static str),
}

fn bodies() -> Vec<(&'static str, Vec<u8>, Fate)> {
    let with = |rest: &str| {
        format!(r#"{{"id":"evt_1","object":"event","type":"customer.created",{rest}}}"#).into_bytes()
    };
    let nested = |levels: usize| format!(r#""data":{}1{}"#, "[".repeat(levels), "]".repeat(levels));
    vec![
        ("an escaped NUL", with(r#""data":{"object":{"name":"a\u0000b"}}"#), Fate::Event),
        ("a lone surrogate", with(r#""data":{"object":{"name":"\ud800"}}"#), Fate::Event),
        ("a key twice", with(r#""data":{"object":{"id":"a","id":"b"}}"#), Fate::Event),
        ("a number beyond all doubles", with(r#""data":{"object":{"amount":1e400}}"#), Fate::Event),
        ("a number of 400 digits", with(&format!(r#""data":{{"amount":{}}}"#, "9".repeat(400))), Fate::Event),
        ("100 levels", with(&nested(100)), Fate::Event),
        ("200 levels", with(&nested(200)), Fate::Kept("malformed_body")),
        ("100,000 levels", with(&nested(100_000)), Fate::Kept("malformed_body")),
        (
            "bytes that are no UTF-8",
            b"{\"id\":\"evt_1\",\"type\":\"\xff\xfe\"}".to_vec(),
            Fate::Kept("malformed_body"),
        ),
        (
            "half of an object",
            br#"{"id":"evt_1","type":"customer.crea"#.to_vec(),
            Fate::Kept("malformed_body"),
        ),
        ("something after the object", with(r#""data":{}}{"a":1"#), Fate::Kept("malformed_body")),
        ("an empty body", Vec::new(), Fate::Kept("malformed_body")),
        ("no id", br#"{"type":"customer.created"}"#.to_vec(), Fate::Kept("no_event_id")),
        ("an empty id", br#"{"id":"","type":"customer.created"}"#.to_vec(), Fate::Kept("no_event_id")),
        (
            "an id that is null",
            br#"{"id":null,"type":"customer.created"}"#.to_vec(),
            Fate::Kept("no_event_id"),
        ),
    ]
}

async fn strange_bodies_are_stored_or_kept_byte_for_byte(engine: Engine) {
    for mode in ["sync", "async"] {
        for (case, body, fate) in bodies() {
            let database = Database::new(engine).await.with_effects().await;
            let gateway =
                GatewayConfig::new(&database.url, mode).sql_handler("note", NOTE_EFFECT).start().await;
            let case = format!("{mode}, {case}");
            let answer = gateway.deliver(body.clone()).await.expect(&case);
            match fate {
                Fate::Event => {
                    assert_eq!(answer.status, 200, "{case}: {}", answer.text());
                    database.wait_for(PROCESSED, 1).await;
                    assert_eq!(database.count(EFFECTS).await, 1, "{case}");
                    assert_eq!(database.bytes("SELECT body FROM webhook_inbox").await, [body], "{case}");
                }
                Fate::Kept(reason) => {
                    assert!(answer.status.is_client_error(), "{case}: {}", answer.status);
                    let told = gateway.lines("webhook.rejected");
                    assert_eq!(field(&told[0], "reason"), reason, "{case}");
                    assert_eq!(database.count(INBOX).await, 0, "{case}");
                    assert_eq!(database.bytes("SELECT body FROM quarantine").await, [body], "{case}");
                }
            }
            // Whatever came, the next event goes through.
            let next = stripe::event("evt_next", "customer.created", &serde_json::json!({}));
            assert_eq!(gateway.deliver(next).await.expect(&case).status, 200, "{case}: the next event");
            database.wait_for("SELECT count(*) FROM effects WHERE event_id = 'evt_next'", 1).await;
            assert!(!gateway.log().contains("panicked"), "{case}: a panic");
        }
    }
}

/// Genuine bodies that have been through a mill: bytes changed, left out, doubled, the end cut off.
async fn damaged_bodies_are_never_lost_and_never_our_error(engine: Engine) {
    let seed: u64 = rand::random();
    eprintln!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let database = Database::new(engine).await.with_effects().await;
    let gateway = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT).start().await;
    let mut sent = BTreeSet::new();
    for number in 0..150 {
        let body = damaged(&stripe::invoice_paid(&format!("evt_{number}"), "in_1", 4200), &mut random);
        let answer = gateway.deliver(body.clone()).await.expect("an answer");
        let shown = String::from_utf8_lossy(&body);
        assert!(!answer.status.is_server_error(), "seed {seed}: {} for {shown}", answer.status);
        sent.insert(body);
    }
    let stored = database.bytes("SELECT body FROM webhook_inbox").await;
    let kept = database.bytes("SELECT body FROM quarantine").await;
    let found: BTreeSet<Vec<u8>> = stored.into_iter().chain(kept).collect();
    assert_eq!(found, sent, "seed {seed}");
    assert_eq!(database.count(INBOX).await, database.count(PROCESSED).await, "seed {seed}: a stuck row");
}

fn damaged(body: &[u8], random: &mut StdRng) -> Vec<u8> {
    let mut body = body.to_vec();
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..body.len());
        match random.random_range(0..5) {
            0 => body[at] = random.random(),
            1 => body[at] ^= 1 << random.random_range(0..8),
            2 => drop(body.remove(at)),
            3 => body.extend_from_within(at..),
            _ => body.truncate(at.max(1)),
        }
    }
    body
}

both_engines!(
    strange_bodies_are_stored_or_kept_byte_for_byte,
    damaged_bodies_are_never_lost_and_never_our_error,
);
