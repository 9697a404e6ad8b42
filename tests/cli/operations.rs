//! `hookgate events`, `dead`, `deliveries`, `quarantine`: what they print, and what they do not.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{command, hookgate, table_rows};
use crate::support::database::{Database, Engine};
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::stripe;

/// A gateway that has processed `evt_1` and `evt_2`, forwarded both to nobody, and met a contradiction of `evt_1`.
struct Story {
    config: GatewayConfig,
    gateway: Gateway,
    _database: Database,
}

async fn story() -> Story {
    let database = Database::new(Engine::Sqlite).await;
    let config = GatewayConfig::new(&database.url, "sync")
        .destination("crm", "http://127.0.0.1:1/", None)
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n");
    let gateway = config.start().await;
    let object = json!({ "note": format!("a secret in a body: {}", stripe::SECRET), "colour": "\u{1b}[31mred\u{202e}der" });
    for (id, object) in [("evt_1", &object), ("evt_2", &json!({})), ("evt_1", &json!({ "other": true }))] {
        gateway.deliver(stripe::event(id, "customer.created", object)).await.expect("an answer");
    }
    Story { config, gateway, _database: database }
}

impl Story {
    fn json(&self, command: &[&str]) -> Value {
        serde_json::from_str(&self.config.run(&[command, &["--json"]].concat())).expect("JSON")
    }
}

#[tokio::test]
async fn lists_are_tables_for_people_and_json_for_programs() {
    let story = story().await;
    let listed = story.config.run(&["events", "list"]);
    let rows = table_rows(&listed);
    assert_eq!(rows.len(), 2, "{listed}");
    assert_eq!(rows[1][1..], ["billing", "customer.created", "evt_1", "processed", "0", "–"], "{listed}");

    let first = story.json(&["events", "list", "--limit", "1"]);
    assert_eq!(first["events"][0]["event_id"], "evt_2");
    let next = first["next"].as_str().expect("there is more");
    let second = story.json(&["events", "list", "--limit", "1", "--after", next]);
    assert_eq!((&second["events"][0]["event_id"], &second["next"]), (&json!("evt_1"), &json!(null)));
    assert_eq!(second["events"][0]["state"], "processed");

    let none = story.json(&["events", "list", "--since", "1h", "--type", "invoice.*"]);
    assert_eq!(none["events"], json!([]));
    let deliveries = story.json(&["deliveries", "list", "--destination", "crm", "--id", "evt_1"]);
    assert_eq!(deliveries["deliveries"][0]["event_id"], "evt_1");
    let kept = story.json(&["quarantine", "list", "--endpoint", "billing"]);
    assert_eq!(
        (&kept["quarantine"][0]["reason"], &kept["quarantine"][0]["verified"]),
        (&json!("conflict"), &json!(true))
    );
    assert_eq!(story.json(&["dead", "list"])["dead"], json!([]));
    drop(story.gateway);
}

#[tokio::test]
async fn bytes_are_shown_only_when_asked_for_and_secrets_never() {
    let story = story().await;
    let event = story.json(&["events", "show", "evt_1"]);
    assert_eq!(event.get("body"), None, "{event}");
    assert_eq!(event["deliveries"][0]["destination"], "crm");
    assert!(event["headers"].to_string().contains("stripe-signature"), "{event}");
    let event = story.json(&["events", "show", "evt_1", "--body"]);
    let body = event["body"].as_str().expect("the bytes");
    assert!(body.contains("a secret in a body: [removed]"), "{body}");

    let delivery = story.json(&["deliveries", "list", "--id", "evt_1"])["deliveries"][0]["id"].to_string();
    let kept = story.json(&["quarantine", "list"])["quarantine"][0]["id"].to_string();
    for command in
        [["events", "show", "evt_1"], ["deliveries", "show", &delivery], ["quarantine", "show", &kept]]
    {
        let without = story.config.run(&command);
        assert!(!without.contains("pending_webhooks"), "{without}");
        let with = story.config.run(&[&command[..], &["--body"]].concat());
        assert!(with.contains("pending_webhooks"), "{with}");
        for shown in [&without, &with] {
            assert!(!shown.contains(stripe::SECRET), "{command:?}: {shown}");
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{command:?}: {shown}");
        }
    }
}

#[tokio::test]
async fn what_is_not_there_or_not_enough_is_said() {
    let story = story().await;
    for (command, says) in [
        (&["events", "show", "evt_9"][..], "evt_9"),
        (&["deliveries", "show", "99"], "99"),
        (&["quarantine", "show", "99"], "99"),
        (&["events", "replay", "--cancel", "99"], "99"),
        (&["events", "replay", "evt_9"], "evt_9"),
        (&["events", "replay"], "--all"),
        (&["events", "replay", "--all", "--state", "dead"], "dead redrive"),
        (&["dead", "redrive"], "--all"),
        (&["dead", "redrive", "--all", "--state", "flagged"], "--state"),
    ] {
        let (code, out, told) = story.config.try_run(command);
        assert!(code == 1 && told.contains(says) && out.is_empty(), "{command:?} {code}: {out}{told}");
    }
    for wrong in [
        &["events"][..],
        &["events", "list", "--state", "nonsense"],
        &["events", "list", "--since", "nonsense"],
        &["events", "list", "--limit", "0"],
        &["events", "replay", "evt_1", "--id", "evt_2"],
        &["events", "replay", "evt_1", "--rate", "0"],
        &["dead", "list", "--queue", "nonsense"],
    ] {
        let (code, out, told) = story.config.try_run(wrong);
        assert!(code == 2 && out.is_empty(), "{wrong:?} {code}: {out}{told}");
    }
    // A named event that waits for nobody.
    assert_eq!(story.config.try_run(&["dead", "redrive", "evt_1"]).0, 1);
}

#[tokio::test]
async fn new_events_are_printed_as_they_come_in() {
    let story = story().await;
    let mut tail = command(
        story.config.folder(),
        &["events", "tail", "--json", "--limit", "1", "--config", "hookgate.toml"],
    )
    .stdout(Stdio::piped())
    .spawn()
    .expect("run hookgate");
    let mut lines = BufReader::new(tail.stdout.take().expect("stdout is piped")).lines();
    let mut next =
        || -> Value { serde_json::from_str(&lines.next().expect("a line").expect("UTF-8")).expect("JSON") };
    assert_eq!(next()["event_id"], "evt_2");
    for id in ["evt_3", "evt_4"] {
        story.gateway.deliver(stripe::event(id, "customer.created", &json!({}))).await.expect("an answer");
        assert_eq!(next()["event_id"], id);
    }
    // Nobody reads any more: at the next line it ends by itself.
    drop(lines);
    story.gateway.deliver(stripe::event("evt_5", "customer.created", &json!({}))).await.expect("an answer");
    assert!(tail.wait().expect("it ends").success());
}

#[test]
fn a_database_without_the_schema_names_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    for command in
        [&["events", "list"][..], &["dead", "list"], &["deliveries", "list"], &["quarantine", "list"]]
    {
        let run = hookgate(folder.path(), &[], command);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""));
        assert!(run.stderr.contains("hookgate migrate"), "{}", run.stderr);
    }
}
