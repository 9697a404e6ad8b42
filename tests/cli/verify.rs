//! `hookgate sign` and `hookgate verify`, its mirror.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Run, hookgate};
use crate::support::stripe;

const AT: i64 = 1_790_000_100;
const SLACK_SECRET: &str = "literal:0123456789abcdef0123456789abcdef";

#[test]
fn what_sign_signs_for_stripe_verify_accepts() {
    let captured = Captured::new(&stripe::invoice_paid("evt_1", "in_1", 4200));
    let signed = captured.run("sign", "stripe", &secret(), &[]);
    assert_eq!((signed.code, signed.stderr.as_str()), (0, ""));
    // The same as Stripe's side makes it, so that the two do not agree on a common mistake.
    let expected = stripe::signature_at(stripe::SECRET, &captured.body(), AT);
    assert_eq!(signed.stdout, format!("stripe-signature: {expected}\n"));

    let run = captured.run("verify", "stripe", &secret(), &[signed.stdout.trim_end()]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let object = run.json();
    assert_keys(&object, &["verified", "variant", "secret", "events", "reply"]);
    assert_eq!((&object["verified"], &object["secret"]), (&json!(true), &json!(1)));
    assert!(object["variant"].is_string(), "{object}");
    assert_reply(&object, 200);
    let [event] = object["events"].as_array().expect("events").as_slice() else { panic!("one: {object}") };
    assert_eq!((&event["id"], &event["type"]), (&json!("evt_1"), &json!("invoice.paid")));
    assert_eq!(event["occurred_at"], "2026-09-21T14:13:20Z");
}

#[test]
fn sign_as_json_has_the_headers_and_what_else_changes() {
    let captured = Captured::new(&stripe::invoice_paid("evt_1", "in_1", 4200));
    let object = captured.run_with("sign", "stripe", &secret(), &["--json"]).json();
    assert_keys(&object, &["headers", "url", "body"]);
    let expected = stripe::signature_at(stripe::SECRET, &captured.body(), AT);
    assert_eq!(object["headers"], json!({ "stripe-signature": expected }));
    assert_eq!((&object["url"], &object["body"]), (&Value::Null, &Value::Null));
}

#[test]
fn verify_of_a_changed_byte_is_code_1_with_the_reason() {
    let captured = Captured::new(&stripe::invoice_paid("evt_1", "in_1", 4200));
    let signed = captured.run("sign", "stripe", &secret(), &[]);
    let mut body = captured.body();
    let place = body.iter().position(|byte| *byte == b'4').expect("a 4");
    body[place] = b'5';
    let run = Captured::new(&body).run("verify", "stripe", &secret(), &[signed.stdout.trim_end()]);
    assert_rejected(&run, "signature_mismatch");
}

#[test]
fn verify_tells_the_other_reasons_apart() {
    let body = stripe::invoice_paid("evt_1", "in_1", 4200);
    let captured = Captured::new(&body);
    assert_rejected(&captured.run("verify", "stripe", &secret(), &[]), "missing_signature");
    let header = |at| format!("stripe-signature: {}", stripe::signature_at(stripe::SECRET, &body, at));
    for (at, reason) in [(AT - 301, "stale_timestamp"), (AT + 301, "future_timestamp")] {
        assert_rejected(&captured.run("verify", "stripe", &secret(), &[&header(at)]), reason);
    }
    let other = "literal:whsec_test_another0123456789abcdef";
    assert_rejected(&captured.run("verify", "stripe", other, &[&header(AT)]), "signature_mismatch");
}

#[test]
fn verify_answers_a_handshake_with_the_providers_reply() {
    let captured = Captured::new(br#"{"token":"t","challenge":"abc","type":"url_verification"}"#);
    let signed = captured.run("sign", "slack_events", SLACK_SECRET, &[]);
    let headers: Vec<&str> = signed.stdout.lines().collect();
    assert_eq!(headers.len(), 2, "{}", signed.stdout);
    let run = captured.run("verify", "slack_events", SLACK_SECRET, &headers);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let object = run.json();
    assert_keys(&object, &["verified", "handshake", "reply"]);
    assert_eq!((&object["verified"], &object["handshake"]), (&json!(true), &json!(true)));
    assert_reply(&object, 200);
    assert_eq!(object["reply"]["body"], "abc");
}

#[test]
fn wrong_use_is_code_2_and_one_line() {
    let captured = Captured::new(b"{}");
    let file = ["--body-file", "body"];
    for (args, says) in [
        (&["verify", "no_such_provider"][..], "no provider `no_such_provider`"),
        (&["sign", "no_such_provider"], "no provider `no_such_provider`"),
        (&["sign", "stripe"], "--secret REF is needed"),
        (&["verify", "stripe", "--secret", "whsec_bare"], "env:NAME, file:PATH or literal:VALUE"),
        (&["verify", "stripe", "--secret", "env:NOT_SET"], "NOT_SET"),
        (&["verify", "stripe", "--at", "yesterday"], "--at yesterday"),
        (&["verify", "stripe", "--set", "x"], "--set x"),
        (&["verify", "stripe", "--url", "nowhere"], "--url nowhere"),
        (&["verify", "stripe", "-H", "no colon"], "'Name: value'"),
        (&["verify", "stripe", "--nonsense"], "--nonsense"),
    ] {
        let run = hookgate(captured.folder.path(), &[], &[args, &file].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(says), "{args:?}: {}", run.stderr);
        assert!(!run.stderr.contains("whsec_bare"), "a secret is shown: {}", run.stderr);
    }
    let run = hookgate(captured.folder.path(), &[], &["verify", "stripe", "--body-file", "absent"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("error: absent: "), "{}", run.stderr);
}

/// A request's body in a folder of its own.
struct Captured {
    folder: TempDir,
}

impl Captured {
    fn new(body: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("body"), body).expect("write");
        Self { folder }
    }

    fn body(&self) -> Vec<u8> {
        fs::read(self.folder.path().join("body")).expect("read")
    }

    /// `hookgate sign` or `verify` at [`AT`], with header lines.
    fn run(&self, command: &str, provider: &str, secret: &str, headers: &[&str]) -> Run {
        let headers: Vec<&str> = headers.iter().flat_map(|header| ["-H", header]).collect();
        self.run_with(command, provider, secret, &headers)
    }

    fn run_with(&self, command: &str, provider: &str, secret: &str, more: &[&str]) -> Run {
        let at = AT.to_string();
        let args = [command, provider, "--secret", secret, "--at", &at, "--body-file", "body"];
        hookgate(self.folder.path(), &[], &[&args, more].concat())
    }
}

fn secret() -> String {
    format!("literal:{}", stripe::SECRET)
}

fn assert_rejected(run: &Run, reason: &str) {
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{}", run.stdout);
    let object = run.json();
    assert_keys(&object, &["verified", "reason", "detail", "hints", "reply"]);
    assert_eq!((&object["verified"], &object["reason"]), (&json!(false), &json!(reason)), "{object}");
    assert!(object["detail"].as_str().is_some_and(|text| !text.is_empty()), "{object}");
    assert!(object["hints"].is_array(), "{object}");
    assert_reply(&object, 400);
}

fn assert_reply(object: &Value, status: u16) {
    let reply = &object["reply"];
    assert_keys(reply, &["status", "headers", "body"]);
    assert_eq!(reply["status"], status, "{object}");
    assert!(reply["headers"].is_object(), "{object}");
}

/// The keys that scripts rely on are there; more may be.
fn assert_keys(object: &Value, keys: &[&str]) {
    for key in keys {
        assert!(object.get(key).is_some(), "no key `{key}`: {object}");
    }
}
