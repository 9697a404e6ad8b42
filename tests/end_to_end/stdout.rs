//! Messages as lines on standard output.

use serde_json::{Value, json};

use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::GatewayConfig;
use crate::support::stripe;

async fn each_message_is_one_line_with_its_body_and_headers(engine: Engine) {
    let database = Database::new(engine).await;
    let config = GatewayConfig::new(&database.url, "async")
        .with("[destinations.pipe]\ntype = \"stdout\"\ncloudevents = true\n")
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"pipe\"]\n");
    let gateway = config.start().await;
    let bodies =
        ["evt_1", "evt_2"].map(|id| stripe::event(id, "customer.created", &json!({ "name": "A\nB" })));
    for body in &bodies {
        gateway.deliver(body.clone()).await.expect("an answer");
    }
    database.wait_for("SELECT count(*) FROM outbox WHERE published_at IS NOT NULL", 2).await;
    let written = config.written();
    let mut lines: Vec<Value> =
        written.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines.sort_by_key(|line| line["headers"]["x-hookgate-event-id"].to_string());
    assert_eq!(lines.len(), 2, "{written}");
    for (line, body) in lines.iter().zip(&bodies) {
        assert_eq!(line["body"].as_str().expect("text").as_bytes(), body);
        assert_eq!(line["destination"], "pipe");
        assert_eq!(line["type"], "customer.created");
        assert_eq!(line["message_id"], line["headers"]["webhook-id"]);
        assert_eq!(line["message_id"], line["headers"]["ce-id"]);
        assert_eq!(line["headers"]["content-type"], "application/json");
    }
}

both_engines!(each_message_is_one_line_with_its_body_and_headers);
