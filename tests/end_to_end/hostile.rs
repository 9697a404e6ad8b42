//! Requests that are not genuine: each gets the provider's status for it, and leaves nothing behind.

use super::{NOTE_EFFECT, assert_untouched};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::{Gateway, GatewayConfig, PATH};
use crate::support::{http, stripe};

async fn no_forged_request_leaves_a_row_or_runs_a_handler(engine: Engine) {
    let (database, gateway) = gateway(engine).await;
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({ "id": "cus_1" }));
    let now = stripe::now();
    let good = stripe::signature_at(stripe::SECRET, &body, now);
    let mut other_secret = stripe::SECRET.to_owned();
    other_secret.replace_range(other_secret.len() - 1.., "0");
    let mut tampered = body.clone();
    *tampered.iter_mut().find(|byte| **byte == b'1').expect("a 1") = b'2';
    let garbage = "\u{fffd}=;;,,t=,v1".as_bytes();
    let long = format!("{good},v1={}", "a".repeat(30_000));

    let cases: Vec<Case> = vec![
        ("one byte of the body", vec![good.clone().into()], &tampered, "signature_mismatch"),
        (
            "one character of the secret",
            vec![stripe::signature_at(&other_secret, &body, now).into()],
            &body,
            "signature_mismatch",
        ),
        (
            "301 seconds old",
            vec![stripe::signature_at(stripe::SECRET, &body, now - 301).into()],
            &body,
            "stale_timestamp",
        ),
        (
            "an hour in the future",
            vec![stripe::signature_at(stripe::SECRET, &body, now + 3600).into()],
            &body,
            "future_timestamp",
        ),
        (
            "the timestamp renewed without a new signature",
            vec![good.replace(&format!("t={now}"), &format!("t={}", now - 1)).into()],
            &body,
            "signature_mismatch",
        ),
        ("no header", vec![], &body, "missing_signature"),
        ("an empty header", vec![Vec::new()], &body, "malformed_signature"),
        ("garbage", vec![garbage.into()], &body, "malformed_signature"),
        ("no timestamp", vec![b"v1=00".to_vec()], &body, "missing_signature"),
        ("no known scheme", vec![good.replace("v1=", "v0=").into()], &body, "malformed_signature"),
        ("the header twice, the good one last", vec![garbage.into(), good.clone().into()], &body, ""),
        ("the header twice, the good one first", vec![good.clone().into(), garbage.into()], &body, ""),
        ("the signature cut short", vec![good[..good.len() - 1].into()], &body, ""),
        ("30 kB of signatures, none of this body", vec![long.into()], &tampered, ""),
        ("an empty body", vec![good.clone().into()], b"", "signature_mismatch"),
    ];
    for (number, (case, signatures, body, reason)) in cases.iter().enumerate() {
        let headers: Vec<(&str, &[u8])> =
            signatures.iter().map(|value| ("stripe-signature", value.as_slice())).collect();
        let answer = http::post(gateway.ingress, PATH, &headers, body.to_vec()).await.expect(case);
        assert_eq!(answer.summary(), (400, "rejected"), "{case}: {}", answer.text());
        let line = gateway.wait_for_lines("webhook.rejected", number + 1).await;
        assert_eq!(line.len(), number + 1, "{case}: one line");
        let told = crate::support::gateway::field(&line[number], "reason").as_str().unwrap_or("").to_owned();
        assert!(reason.is_empty() || told == *reason, "{case}: the reason is {told}");
    }
    let counted = gateway.metrics().await.sum("hookgate_rejections_total", &[("endpoint", "billing")]);
    assert_eq!(format!("{counted}"), cases.len().to_string(), "each rejection is counted");
    assert_untouched(&database).await;
    assert_eq!(database.count("SELECT count(*) FROM quarantine WHERE verified").await, 0);
    assert!(!gateway.log().contains(&good), "a signature in the log");
    assert!(!gateway.log().contains(stripe::SECRET), "a secret in the log");

    // After all that the genuine request is as good as ever.
    assert_eq!(gateway.post(&good, body).await.expect("an answer").summary(), (200, "processed"));
}

async fn requests_that_are_no_decent_http_end_at_the_door(engine: Engine) {
    let (database, gateway) = gateway(engine).await;
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({ "id": "cus_1" }));
    let good = stripe::signature(&body);
    let head = |extra: &str| {
        let length = body.len();
        format!(
            "POST {PATH} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n{extra}\r\n\r\n"
        )
    };
    let with_body = |head: String| [head.as_bytes(), &body].concat();

    let megabyte = with_body(head(&format!("stripe-signature: {}", "a".repeat(1 << 20))));
    assert_eq!(http::raw_status(&http::raw(gateway.ingress, &megabyte).await), 431, "a header of 1 MB");
    let control = with_body(head(&format!("stripe-signature: {good}\u{1}")));
    assert_eq!(http::raw_status(&http::raw(gateway.ingress, &control).await), 400, "a control character");
    let two_lengths = with_body(head(&format!("stripe-signature: {good}\r\ncontent-length: 3")));
    assert_eq!(http::raw_status(&http::raw(gateway.ingress, &two_lengths).await), 400, "two lengths");

    let signature: [(&str, &[u8]); 1] = [("stripe-signature", good.as_bytes())];
    let elsewhere =
        http::post(gateway.ingress, "/stripe", &signature, body.clone()).await.expect("an answer");
    assert_eq!(elsewhere.status, 404, "a path of no endpoint");
    let got =
        http::request(::http::Method::GET, gateway.ingress, PATH, &signature, "").await.expect("an answer");
    assert_eq!(got.status, 405, "another method");
    let large = vec![b' '; (1 << 20) + 1];
    let answer = http::post(gateway.ingress, PATH, &signature, large).await.expect("an answer");
    assert_eq!(answer.status, 413, "a body above the limit");
    assert_untouched(&database).await;
}

async fn a_test_secret_on_a_live_endpoint_is_named_in_the_log(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT).with(
        "[endpoints.billing-test]\nprovider = \"stripe\"\npaths = [\"/test\"]\nmode = \"sync\"\n\
         secrets = [\"literal:whsec_of_the_test_environment\"]\n",
    );
    let gateway = config.start().await;
    let body = stripe::event("evt_1", "customer.created", &serde_json::json!({ "id": "cus_1" }));
    let signature = stripe::signature_at("whsec_of_the_test_environment", &body, stripe::now());
    assert_eq!(gateway.post(&signature, body).await.expect("an answer").summary(), (400, "rejected"));
    let lines = gateway.wait_for_lines("webhook.rejected", 1).await;
    let hint = crate::support::gateway::field(&lines[0], "hint").as_str().unwrap_or("").to_owned();
    assert!(hint.contains("billing-test"), "the hint is {hint:?}");
    assert_untouched(&database).await;
}

/// What it is, the `Stripe-Signature` headers, the body, and the reason that the log is to give (any, if empty).
type Case<'a> = (&'a str, Vec<Vec<u8>>, &'a [u8], &'a str);

both_engines!(
    no_forged_request_leaves_a_row_or_runs_a_handler,
    requests_that_are_no_decent_http_end_at_the_door,
    a_test_secret_on_a_live_endpoint_is_named_in_the_log,
);

async fn gateway(engine: Engine) -> (Database, Gateway) {
    let database = Database::new(engine).await.with_effects().await;
    let gateway = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT).start().await;
    (database, gateway)
}
