//! Replays, ordered by the command and worked off by a gateway.

use serde_json::{Value, json};

use super::crashes::SHORT_LEASES;
use super::{EFFECTS, NOTE_EFFECT};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::destination::Destination;
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::stripe;

both_engines!(
    a_replay_does_the_work_again_and_leaves_the_rows_as_they_are,
    a_replay_of_one_route_does_only_that,
    a_replay_that_dies_goes_on_where_it_was,
    a_replay_is_cancelled,
    an_event_whose_payload_is_gone_cannot_be_replayed,
    an_event_whose_handler_fails_is_passed_over,
    a_dead_event_is_redriven,
);

const ROWS: &str =
    "SELECT event_id, concat(processed_at, ' ', outcome, ' ', attempts) FROM webhook_inbox ORDER BY seq";
const ROWS_SQLITE: &str =
    "SELECT event_id, processed_at || ' ' || outcome || ' ' || attempts FROM webhook_inbox ORDER BY seq";

fn rows(engine: Engine) -> &'static str {
    if engine == Engine::Sqlite { ROWS_SQLITE } else { ROWS }
}

async fn deliver(gateway: &Gateway, ids: &[&str]) {
    for id in ids {
        let answer = gateway.deliver(stripe::event(id, "customer.created", &json!({}))).await;
        assert_eq!(answer.expect("an answer").status, 200);
    }
}

async fn noting(database: &Database) -> (GatewayConfig, Gateway) {
    let config =
        GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT).with(SHORT_LEASES);
    let gateway = config.start().await;
    deliver(&gateway, &["evt_1", "evt_2", "evt_3"]).await;
    assert_eq!(database.count(EFFECTS).await, 3);
    (config, gateway)
}

async fn a_replay_does_the_work_again_and_leaves_the_rows_as_they_are(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let (config, gateway) = noting(&database).await;
    let before = database.pairs(rows(engine)).await;
    let lag = async || gateway.metrics().await.sum("hookgate_event_lag_seconds_count", &[]);
    let lag_before = lag().await;

    let counted = config.run(&["events", "replay", "--all", "--dry-run"]);
    assert!(counted.contains("billing") && counted.contains('3'), "{counted}");
    let (code, _, told) = config.try_run(&["events", "replay", "--all"]);
    assert!(code == 1 && told.contains("--yes"), "{code}: {told}");
    assert_eq!(database.count("SELECT count(*) FROM replays").await, 0);

    let told = config.run(&["events", "replay", "--endpoint", "billing", "--yes", "--json", "--as", "ada"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let replay = &told["replays"][0];
    assert_eq!(
        (&replay["done"], &replay["failed"], &replay["outcome"]),
        (&json!(3), &json!(0), &json!("done"))
    );
    assert_eq!(database.count(EFFECTS).await, 6);
    assert_eq!(database.pairs(rows(engine)).await, before, "the rows are as they were");
    assert!((lag().await - lag_before).abs() < 0.5, "a replay has no lag");
    let audit = database.pairs("SELECT action, who FROM audit_log").await;
    assert_eq!(audit, [("events.replay".into(), "cli:ada".into())]);
    assert_eq!(gateway.wait_for_lines("event.replayed", 3).await.len(), 3);

    // One event needs no more words.
    config.run(&["events", "replay", "evt_2"]);
    assert_eq!(database.count("SELECT count(*) FROM effects WHERE event_id = 'evt_2'").await, 3);
}

async fn a_replay_of_one_route_does_only_that(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let destination = Destination::start().await;
    let config = GatewayConfig::new(&database.url, "sync")
        .sql_handler("note", NOTE_EFFECT)
        .destination("crm", &destination.url(), None)
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n")
        .with(SHORT_LEASES);
    let gateway = config.start().await;
    deliver(&gateway, &["evt_1"]).await;
    let first = destination.wait_for(1).await.remove(0);

    let (code, _, told) = config.try_run(&["events", "replay", "evt_1", "--route", "nonsense"]);
    assert!(code == 1 && told.contains("note") && told.contains("forward:crm"), "{code}: {told}");
    config.run(&["events", "replay", "evt_1", "--route", "note"]);
    assert_eq!(database.count(EFFECTS).await, 2);
    assert_eq!(database.count("SELECT count(*) FROM outbox").await, 1);

    config.run(&["events", "replay", "evt_1", "--route", "forward:crm"]);
    let second = destination.wait_for(2).await.remove(1);
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    config.run(&["events", "replay", "evt_1", "--route", "forward", "--new-id"]);
    let third = destination.wait_for(3).await.remove(2);
    assert_ne!(third.header("webhook-id"), first.header("webhook-id"));
    assert_eq!((third.body, database.count(EFFECTS).await), (first.body, 2));
}

async fn a_replay_that_dies_goes_on_where_it_was(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let (config, gateway) = noting(&database).await;
    gateway.terminate().await;
    let doomed = config.start_to_crash_at("replay.before_commit:2").await;
    config.run(&["events", "replay", "--all", "--yes", "--detach"]);
    doomed.ended().await;
    assert_eq!(database.count(EFFECTS).await, 4, "one was done, and the second one died before its COMMIT");
    let _gateway = config.start().await;
    config.run(&["events", "replay", "--watch", "1"]);
    assert_eq!(database.count(EFFECTS).await, 6);
    assert_eq!(database.count("SELECT done FROM replays").await, 3);
}

async fn a_replay_is_cancelled(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let (config, gateway) = noting(&database).await;
    config.run(&["events", "replay", "--all", "--yes", "--rate", "0.01", "--detach"]);
    database.wait_for("SELECT done FROM replays", 1).await;
    let told = config.run(&["events", "replay", "--cancel", "1"]);
    assert_eq!(told, "replay 1: cancelled after 1 of 3 events\n");
    let (code, shown, _) = config.try_run(&["events", "replay", "--watch", "1"]);
    assert!(code == 1 && shown.contains("cancelled"), "{code}: {shown}");
    let (code, _, told) = config.try_run(&["events", "replay", "--cancel", "1"]);
    assert!(code == 1 && told.contains("had ended"), "{code}: {told}");
    let end = gateway.terminate().await;
    assert!(end.status.success(), "a waiting replay holds up no drain");
    assert_eq!(database.count(EFFECTS).await, 4);
}

async fn an_event_whose_payload_is_gone_cannot_be_replayed(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let (config, _gateway) = noting(&database).await;
    let nothing = if engine == Engine::Sqlite { "x''" } else { "''" };
    let sql = format!("UPDATE webhook_inbox SET body = {nothing}, headers = '[]' WHERE event_id = 'evt_2'");
    database.execute(&sql).await;
    let (code, _, told) = config.try_run(&["events", "replay", "evt_2"]);
    assert!(code == 1 && told.contains("payload of evt_2 is gone"), "{code}: {told}");
    let (code, shown, told) = config.try_run(&["events", "replay", "--type", "customer.*", "--yes"]);
    assert!(code == 1 && told.contains("evt_2: payload_gone"), "{code}: {shown}{told}");
    assert_eq!(database.count(EFFECTS).await, 5, "the others were done");
}

async fn an_event_whose_handler_fails_is_passed_over(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let (config, _gateway) = noting(&database).await;
    forbid(&database, engine, "evt_2").await;
    let (code, shown, told) = config.try_run(&["events", "replay", "--all", "--yes"]);
    assert!(code == 1 && told.contains("evt_2: handler.sql."), "{code}: {shown}{told}");
    assert_eq!(database.count(EFFECTS).await, 5);
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox WHERE review_at IS NOT NULL").await, 0);
}

/// No effect of this event can be noted any more.
async fn forbid(database: &Database, engine: Engine, id: &str) {
    let sql = match engine {
        Engine::Postgres => {
            format!("ALTER TABLE effects ADD CONSTRAINT forbidden CHECK (event_id <> '{id}') NOT VALID")
        }
        Engine::Sqlite => format!(
            "CREATE TRIGGER forbidden BEFORE INSERT ON effects WHEN new.event_id = '{id}' \
             BEGIN SELECT RAISE(ABORT, 'forbidden'); END"
        ),
    };
    database.execute(&sql).await;
}

async fn a_dead_event_is_redriven(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    forbid(&database, engine, "evt_1").await;
    let config =
        GatewayConfig::new(&database.url, "async").sql_handler("note", NOTE_EFFECT).with(SHORT_LEASES);
    let gateway = config.start().await;
    deliver(&gateway, &["evt_1"]).await;
    database.execute("UPDATE webhook_inbox SET attempts = 10").await; // it has been tried for long
    database.wait_for("SELECT count(*) FROM webhook_inbox WHERE review_at IS NOT NULL", 1).await;
    let allow = if engine == Engine::Sqlite {
        "DROP TRIGGER forbidden"
    } else {
        "ALTER TABLE effects DROP CONSTRAINT forbidden"
    };
    database.execute(allow).await;
    let (code, _, told) = config.try_run(&["events", "replay", "evt_1"]);
    assert!(code == 1 && told.contains("dead redrive evt_1"), "{code}: {told}");
    let (code, _, told) = config.try_run(&["dead", "resolve", "evt_1"]);
    assert!(code == 1 && told.contains("it is dead: `hookgate dead redrive` is for that"), "{code}: {told}");
    assert_eq!(config.run(&["dead", "redrive", "evt_1"]), "inbox: 1 redriven\noutbox: 0 redriven\n");
    database.wait_for(EFFECTS, 1).await;
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox WHERE outcome = 'processed'").await, 1);
}
