//! Which of an endpoint's secrets are in use, as an operator sees it.

use serde_json::{Value, json};

use super::NOTE_EFFECT;
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::GatewayConfig;
use crate::support::stripe;
use crate::support::wait;

both_engines!(the_use_of_each_secret_is_known_after_a_new_order_and_a_restart);

const OLD: &str = "whsec_old_0123456789abcdef0123456789";
const NEXT: &str = "whsec_next_0123456789abcdef012345678";

async fn the_use_of_each_secret_is_known_after_a_new_order_and_a_restart(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = |secrets: &[&str]| {
        // What stands between the quotes of the first one.
        let list = secrets.join("\", \"literal:");
        GatewayConfig::new(&database.url, "sync").secret(&list).sql_handler("note", NOTE_EFFECT)
    };
    let deliver = async |gateway: &crate::support::gateway::Gateway, secret: &str, id: &str| {
        let body = stripe::event(id, "customer.created", &json!({}));
        let signature = stripe::signature_at(secret, &body, stripe::now());
        gateway.post(&signature, body).await.expect("an answer").outcome().to_owned()
    };
    let first = config(&[OLD, NEXT]);
    let gateway = first.start().await;
    assert_eq!(deliver(&gateway, OLD, "evt_1").await, "processed");
    assert_eq!(deliver(&gateway, OLD, "evt_2").await, "processed");
    let listed = |config: &GatewayConfig| -> Value {
        serde_json::from_str(&config.run(&["endpoints", "list", "--json"])).expect("JSON")
    };
    let known = wait::until("both matches to be known", async || {
        let listed = listed(&first);
        (listed[0]["secrets"][0]["matches"] == 2).then_some(listed)
    })
    .await;
    let (old, next) = (&known[0]["secrets"][0], &known[0]["secrets"][1]);
    assert_eq!(
        (&old["status"], &next["status"], &next["advice"]),
        (&json!("in_use"), &json!("never"), &json!("never matched"))
    );
    assert_eq!(old["secret"], "whsec_…6789");
    assert!(next["watched_since"].is_string() && next["matched_at"].is_null(), "{next}");
    let end = gateway.terminate().await;
    assert!(end.status.success(), "{}", end.output);

    // The other way round, and ten days later.
    let past = match engine {
        Engine::Postgres => {
            "since - interval '10 days', matched_at = matched_at - interval '10 days'".to_owned()
        }
        Engine::Sqlite => {
            let form = "'%Y-%m-%dT%H:%M:%fZ'";
            format!(
                "strftime({form}, since, '-10 days'), matched_at = strftime({form}, matched_at, '-10 days')"
            )
        }
    };
    database.execute(&format!("UPDATE secret_matches SET since = {past}")).await;
    let second = config(&[NEXT, OLD]);
    let gateway = second.start().await;
    assert_eq!(deliver(&gateway, NEXT, "evt_3").await, "processed");
    // The last counts are written when the gateway ends.
    gateway.terminate().await;
    let known = listed(&second);
    let (next, old) = (&known[0]["secrets"][0], &known[0]["secrets"][1]);
    assert_eq!((&next["status"], &next["matches"]), (&json!("in_use"), &json!(1)));
    assert_eq!(old["advice"], "has matched nothing for 10 days: safe to remove");
    let shown = second.run(&["endpoints", "list"]);
    assert!(shown.contains("safe to remove"), "{shown}");
    for secret in [OLD, NEXT] {
        assert!(!shown.contains(secret) && !known.to_string().contains(secret), "a secret is shown");
    }
}
