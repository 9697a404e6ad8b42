//! Retention, as a provider and an operator see it.

use serde_json::json;

use super::{EFFECTS, INBOX, NOTE_EFFECT};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::GatewayConfig;
use crate::support::stripe;

both_engines!(a_pruned_payload_is_still_a_duplicate_and_a_pruned_key_is_a_new_event);

async fn a_pruned_payload_is_still_a_duplicate_and_a_pruned_key_is_a_new_event(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT);
    let gateway = config.start().await;
    let prune = || config.run(&["prune"]).lines().next().unwrap_or_default().to_owned();
    let send = async |amount: u32| {
        let body = stripe::event("evt_1", "customer.created", &json!({ "amount": amount }));
        let answer = gateway.deliver(body).await.expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.outcome().to_owned()
    };
    assert_eq!(send(1).await, "processed");
    assert_eq!(prune(), "webhook_inbox: 0 rows deleted, 0 payloads emptied");
    assert_eq!(send(2).await, "conflict");
    age(&database, engine, 31).await;
    assert_eq!(prune(), "webhook_inbox: 0 rows deleted, 1 payloads emptied");
    assert_eq!(send(1).await, "duplicate");
    assert_eq!(send(2).await, "duplicate", "there is no body left to contradict");
    age(&database, engine, 91).await;
    assert_eq!(prune(), "webhook_inbox: 1 rows deleted, 0 payloads emptied");
    assert_eq!(database.count(INBOX).await, 0);
    assert_eq!(send(2).await, "processed");
    assert_eq!(database.count(EFFECTS).await, 2);
}

async fn age(database: &Database, engine: Engine, days: u32) {
    let past = match engine {
        Engine::Postgres => format!("now() - interval '{days} days'"),
        Engine::Sqlite => format!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{days} days')"),
    };
    database.execute(&format!("UPDATE webhook_inbox SET received_at = {past}")).await;
}
