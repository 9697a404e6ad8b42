//! `hookgate providers`.

use std::collections::BTreeSet;

use super::{Run, hookgate};

fn providers(args: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    hookgate(folder.path(), &[], &[&["providers"], args].concat())
}

#[test]
fn the_list_as_json_has_id_name_and_confidence_of_each() {
    let run = providers(&["--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let all = run.json();
    let all = all.as_array().expect("an array");
    let mut ids = BTreeSet::new();
    for provider in all {
        for key in ["id", "name", "confidence"] {
            let text = provider[key].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "no `{key}`: {provider}");
        }
        assert!(ids.insert(provider["id"].as_str().expect("text")), "twice: {provider}");
    }
    for id in ["stripe", "github", "slack_events", "standard_webhooks"] {
        assert!(ids.contains(id), "{id} is not in {ids:?}");
    }
}

#[test]
fn the_list_for_people_has_a_line_for_each() {
    let json = providers(&["--json"]).json();
    let run = providers(&[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for provider in json.as_array().expect("an array") {
        let id = provider["id"].as_str().expect("text");
        let shown = run.stdout.lines().any(|line| line.split_whitespace().nth(1) == Some(id));
        assert!(shown, "{id} is not in\n{}", run.stdout);
    }
}

#[test]
fn the_list_says_how_each_signs_and_is_answered_with_defaults_for_settings() {
    let all = providers(&["--json"]).json();
    let find = |id: &str| {
        let mut all = all.as_array().expect("an array").iter();
        all.find(|provider| provider["id"] == id).expect("there").clone()
    };
    let stripe = find("stripe");
    assert_eq!(stripe["signed"], serde_json::json!(["{part:t}.{body}"]));
    assert_eq!(stripe["signature"], serde_json::json!(["{header:stripe-signature}"]));
    assert_eq!((&stripe["event_id"][0], &stripe["reply"]), (&"{json:/id}".into(), &200.into()));
    assert_eq!(find("slack_events")["deadline_seconds"], 3);
    assert_eq!(find("slack_events")["handshakes"][0], "url_verification");
    let generic = find("generic_hmac");
    assert_eq!(generic["algorithms"], serde_json::json!(["hmac-sha256"]));
    assert_eq!(generic["signature"], serde_json::json!(["{header:x-signature}"]));
    // What has no default is the operator's to say.
    assert_eq!(find("sage")["signature"], serde_json::json!(["{header:${header}}"]));

    let table = providers(&[]).stdout;
    let row =
        table.lines().find(|line| line.split_whitespace().nth(1) == Some("slack_events")).expect("a row");
    for cell in [
        "hmac-sha256",
        "v0:{header:x-slack-request-timestamp}:{body}",
        "url_verification",
        "3 s",
        "confirmed",
    ] {
        assert!(row.contains(cell), "{cell} is not in {row}");
    }
    let shown = providers(&["show", "generic_hmac"]).stdout;
    assert!(shown.contains("algorithm: hmac-sha256") && !shown.contains("${algorithm}"), "{shown}");
}

#[test]
fn show_says_what_is_signed_what_to_enter_and_what_is_expected_back() {
    let run = providers(&["show", "stripe"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for line in [
        "id: stripe",
        "name: Stripe",
        "confidence: confirmed",
        "dashboard:",
        "variants:",
        "  signed: {part:t}.{body}",
        "  signature: {header:stripe-signature}",
        "reply:",
        "    status: 200",
        "  rejected: 400",
    ] {
        assert!(run.stdout.lines().any(|found| found == line), "{line}\nis not in\n{}", run.stdout);
    }
    let object = providers(&["show", "stripe", "--json"]).json();
    assert_eq!((&object["id"], &object["name"]), (&"stripe".into(), &"Stripe".into()));
}

#[test]
fn show_of_an_unknown_one_is_code_1_and_says_where_the_names_are() {
    let run = providers(&["show", "no_such_provider"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.contains("`no_such_provider`") && run.stderr.contains("hookgate providers"),
        "{}",
        run.stderr
    );
}
