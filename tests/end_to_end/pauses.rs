//! Operators hold back and let go on, with commands, while gateways run.

use serde_json::json;

use super::PROCESSED;
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::GatewayConfig;
use crate::support::{stripe, wait};

both_engines!(
    events_of_a_paused_handler_wait_for_it,
    a_replay_waits_for_what_is_paused,
    a_paused_endpoint_in_sync_mode_asks_its_provider_to_send_again,
    what_is_not_there_cannot_be_paused,
);

fn body(id: &str, event_type: &str) -> Vec<u8> {
    stripe::event(id, event_type, &json!({ "id": "obj_1" }))
}

async fn events_of_a_paused_handler_wait_for_it(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "async")
        .handler("stripe_billing", "invoice.*")
        .with("[inbox]\npoll_interval = \"100ms\"\n");
    let gateway = config.start().await;
    config.run(&["pause", "handler", "stripe_billing", "--reason", "wrong prices", "--as", "ann"]);
    for body in [stripe::invoice_paid("evt_1", "in_1", 4200), body("evt_2", "customer.created")] {
        assert_eq!(gateway.deliver(body).await.expect("an answer").summary(), (200, "accepted"));
    }
    database.wait_for(PROCESSED, 1).await;
    let waiting = "SELECT event_id, CAST(attempts AS text) FROM webhook_inbox WHERE processed_at IS NULL";
    assert_eq!(database.pairs(waiting).await, [("evt_1".to_owned(), "0".to_owned())]);
    let listed: serde_json::Value = serde_json::from_str(&config.run(&["pauses", "--json"])).expect("JSON");
    assert_eq!(listed["pauses"][0]["kind"], "handler");
    assert_eq!(listed["pauses"][0]["who"], "cli:ann");
    assert_eq!(listed["pauses"][0]["reason"], "wrong prices");
    wait::until("the metric", async || {
        let labels = [("kind", "handler"), ("name", "stripe_billing")];
        (gateway.metrics().await.sum("hookgate_paused", &labels) > 0.5).then_some(())
    })
    .await;
    config.run(&["resume", "handler", "stripe_billing"]);
    database.wait_for(PROCESSED, 2).await;
}

async fn a_replay_waits_for_what_is_paused(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync")
        .sql_handler("note", super::NOTE_EFFECT)
        .with("[inbox]\npoll_interval = \"100ms\"\n");
    let gateway = config.start().await;
    for id in ["evt_1", "evt_2"] {
        assert_eq!(gateway.deliver(body(id, "a")).await.expect("an answer").summary(), (200, "processed"));
    }
    for (kind, name) in [("endpoint", "billing"), ("handler", "note")] {
        config.run(&["pause", kind, name]);
        config.run(&["events", "replay", "--all", "--yes", "--detach"]);
        // It has been looked at, and given back undone.
        database
            .wait_for("SELECT count(*) FROM replays WHERE finished_at IS NULL AND lease_epoch > 1", 1)
            .await;
        assert_eq!(
            database.count("SELECT count(*) FROM replays WHERE finished_at IS NULL AND done > 0").await,
            0,
            "{kind}"
        );
        config.run(&["resume", kind, name]);
        database.wait_for("SELECT count(*) FROM replays WHERE finished_at IS NULL", 0).await;
    }
    assert_eq!(database.count("SELECT count(*) FROM effects").await, 6);
}

async fn a_paused_endpoint_in_sync_mode_asks_its_provider_to_send_again(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", super::NOTE_EFFECT);
    let gateway = config.start().await;
    let said = config.run(&["pause", "endpoint", "billing"]);
    assert!(said.contains("endpoint billing is in sync mode"), "{said}");
    let answer = gateway.deliver(body("evt_1", "a")).await.expect("an answer");
    assert_eq!(answer.summary(), (503, "error"));
    super::assert_untouched(&database).await;
    config.run(&["resume", "endpoint", "billing"]);
    let answer = gateway.deliver(body("evt_1", "a")).await.expect("an answer");
    assert_eq!(answer.summary(), (200, "processed"));
}

async fn what_is_not_there_cannot_be_paused(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "async").sql_handler("note", super::NOTE_EFFECT);
    let _gateway = config.start().await;
    for command in ["pause", "resume"] {
        let (code, _, errors) = config.try_run(&[command, "endpoint", "biling"]);
        assert_eq!(code, 1);
        assert!(errors.contains("there is no endpoint \"biling\": did you mean `billing`?"), "{errors}");
    }
    assert_eq!(config.try_run(&["pause", "thing", "billing"]).0, 2);
    assert_eq!(database.count("SELECT count(*) FROM pauses").await, 0);
}
