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
    /// Stored under this id and processed.
    Event(&'static str),
    /// Rejected with this reason, and kept in quarantine.
    Kept(&'static str),
}

fn bodies() -> Vec<(&'static str, Vec<u8>, Fate)> {
    let with = |id: &str, rest: &str| {
        format!(r#"{{"id":"{id}","object":"event","type":"customer.created",{rest}}}"#).into_bytes()
    };
    let nested = |levels: usize| format!(r#""data":{}1{}"#, "[".repeat(levels), "]".repeat(levels));
    let digits = format!(r#""data":{{"amount":{}}}"#, "9".repeat(400));
    let (malformed, no_id) = (Fate::Kept("malformed_body"), Fate::Kept("no_event_id"));
    vec![
        ("an escaped NUL", with("evt_1", r#""data":{"object":{"name":"a\u0000b"}}"#), Fate::Event("evt_1")),
        ("a lone surrogate", with("evt_2", r#""data":{"object":{"name":"\ud800"}}"#), Fate::Event("evt_2")),
        ("a key twice", with("evt_3", r#""data":{"object":{"id":"a","id":"b"}}"#), Fate::Event("evt_3")),
        ("beyond all doubles", with("evt_4", r#""data":{"object":{"amount":1e400}}"#), Fate::Event("evt_4")),
        ("a number of 400 digits", with("evt_5", &digits), Fate::Event("evt_5")),
        ("100 levels", with("evt_6", &nested(100)), Fate::Event("evt_6")),
        ("200 levels", with("evt_7", &nested(200)), Fate::Event("evt_7")),
        ("100,000 levels", with("evt_8", &nested(100_000)), Fate::Event("evt_8")),
        ("bytes that are no UTF-8", b"{\"id\":\"evt_9\",\"type\":\"\xff\xfe\"}".to_vec(), malformed),
        ("half of an object", br#"{"id":"evt_10","type":"customer.crea"#.to_vec(), malformed),
        ("something after the object", with("evt_11", r#""data":{}}{"a":1"#), malformed),
        ("an empty body", Vec::new(), malformed),
        ("no id", br#"{"type":"customer.created"}"#.to_vec(), no_id),
        ("an empty id", br#"{"id":"","type":"customer.created"}"#.to_vec(), no_id),
        ("an id that is null", br#"{"id":null,"type":"customer.created"}"#.to_vec(), no_id),
    ]
}

async fn strange_bodies_are_stored_or_kept_byte_for_byte(engine: Engine) {
    for mode in ["sync", "async"] {
        let database = Database::new(engine).await.with_effects().await;
        database.execute("CREATE TABLE payloads (payload text)").await;
        let handler =
            format!("{NOTE_EFFECT} INSERT INTO payloads (payload) VALUES (CAST(:payload AS text));");
        let gateway = GatewayConfig::new(&database.url, mode).sql_handler("note", &handler).start().await;
        let (mut rows, mut rejections) = (0, 0);
        for (case, body, fate) in bodies() {
            let case = format!("{mode}, {case}");
            let answer = gateway.deliver(body.clone()).await.expect(&case);
            match fate {
                Fate::Event(id) => {
                    rows += 1;
                    assert_eq!(answer.status, 200, "{case}: {}", answer.text());
                    let stored = format!("SELECT body FROM webhook_inbox WHERE event_id = '{id}'");
                    assert_eq!(database.bytes(&stored).await, [body], "{case}");
                    database.wait_for(PROCESSED, rows).await;
                    assert_eq!(database.count(EFFECTS).await, rows, "{case}");
                }
                Fate::Kept(reason) => {
                    assert!(answer.status.is_client_error(), "{case}: {}", answer.status);
                    rejections += 1;
                    let told = gateway.wait_for_lines("webhook.rejected", rejections).await;
                    assert_eq!(field(&told[rejections - 1], "reason"), reason, "{case}");
                    let kept = format!("SELECT body FROM quarantine WHERE reason = '{reason}'");
                    assert!(database.bytes(&kept).await.contains(&body), "{case}: not kept as it came");
                }
            }
        }
        assert_eq!(database.count(INBOX).await, rows);
        // The view shows as JSON what is JSON to the database, and nothing keeps an operator from reading it.
        let shown =
            database.count("SELECT count(*) FROM webhook_inbox_events WHERE payload IS NOT NULL").await;
        assert_eq!(shown, database.count("SELECT count(*) FROM payloads WHERE payload IS NOT NULL").await);
        assert!(!gateway.log().contains("panicked"), "{mode}: a panic");
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
