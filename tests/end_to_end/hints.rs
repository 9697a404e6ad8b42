//! What the log says of rejected requests, and the reply does not.

use serde_json::json;

use super::assert_untouched;
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::{GatewayConfig, PATH, field};
use crate::support::http::{self, Answer};
use crate::support::stripe;

const SECOND: &str = r#"
[endpoints.second]
provider = "stripe"
paths = ["/second"]
mode = "sync"
secrets = ["literal:whsec_second_0123456789abcdef0", { secret = "literal:whsec_old_0123456789abcdef0", until = "2026-01-01T00:00:00Z" }]
"#;

async fn a_mistake_is_named_in_the_log_and_the_sender_learns_nothing_of_it(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let gateway = GatewayConfig::new(&database.url, "sync").with(SECOND).start().await;
    let post = async |path: &str, signature: &str, body: Vec<u8>| {
        let headers = [("stripe-signature", signature.as_bytes())];
        http::post(gateway.ingress, path, &headers, body).await.expect("an answer")
    };
    let body = stripe::event("evt_1", "customer.created", &json!({ "id": "cus_MARK" }));
    let rewritten =
        serde_json::to_string_pretty(&serde_json::from_slice::<serde_json::Value>(&body).unwrap());
    let rewritten = rewritten.expect("JSON").into_bytes();
    let signature = stripe::signature(&body);

    let mistaken = post(PATH, &signature, rewritten.clone()).await;
    let old = stripe::signature_at("whsec_old_0123456789abcdef0", &body, stripe::now());
    let expired = post("/second", &old, body.clone()).await;
    let lines = gateway.wait_for_lines("webhook.rejected", 2).await;
    let hint = |line: usize| field(&lines[line], "hint").as_str().unwrap_or_default().to_owned();
    assert!(hint(0).contains("written as compact JSON"), "{}", lines[0]);
    assert!(hint(1).contains("signed with secret 2, which counted until 2026-01-01"), "{}", lines[1]);

    // A forgery that nothing explains: the replies are the same but for the request's id and the date.
    let forged = post(PATH, &format!("t={},v1={}", stripe::now(), "00".repeat(32)), body.clone()).await;
    let lines = gateway.wait_for_lines("webhook.rejected", 3).await;
    assert!(field(&lines[2], "hint").is_null(), "{}", lines[2]);
    for answer in [&mistaken, &expired] {
        assert_eq!(shown(answer), shown(&forged));
    }
    // What is large is not looked into, however right it is otherwise.
    let mut large = stripe::event("evt_2", "customer.created", &json!({ "id": "x".repeat(70_000) }));
    let signature = stripe::signature(&large);
    large.push(b'\n');
    assert_eq!(post("/second", &signature, large).await.summary(), (400, "rejected"));
    let lines = gateway.wait_for_lines("webhook.rejected", 4).await;
    assert!(field(&lines[3], "hint").is_null(), "{}", lines[3]);

    for secret in [stripe::SECRET, "whsec_old", "whsec_second", "cus_MARK"] {
        assert!(!gateway.log().contains(secret), "`{secret}` is in the log");
    }
    assert_untouched(&database).await;
}

async fn a_flood_of_mistakes_is_looked_into_once_a_second(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let gateway = GatewayConfig::new(&database.url, "sync").start().await;
    let mut body = stripe::event("evt_1", "customer.created", &json!({ "id": "cus_1" }));
    let signature = stripe::signature(&body);
    body.push(b'\n');
    let began = stripe::now();
    for _ in 0..50 {
        assert_eq!(
            gateway.post(&signature, body.clone()).await.expect("an answer").summary(),
            (400, "rejected")
        );
    }
    let lines = gateway.wait_for_lines("webhook.rejected", 50).await;
    let hints = lines.iter().filter(|line| field(line, "hint").is_string()).count();
    let seconds = usize::try_from(stripe::now() - began).expect("time goes on") + 1;
    assert!((1..=seconds + 1).contains(&hints), "{hints} hints in {seconds} s");
}

/// All that the sender sees, but for what differs from request to request.
fn shown(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "x-request-id" && *name != "date");
    let text = |value: &::http::HeaderValue| value.to_str().expect("text").to_owned();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value))).collect();
    (answer.status.as_u16(), headers, answer.text())
}

both_engines!(
    a_mistake_is_named_in_the_log_and_the_sender_learns_nothing_of_it,
    a_flood_of_mistakes_is_looked_into_once_a_second,
);
