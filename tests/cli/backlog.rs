//! `hookgate migrate` and `hookgate backlog`.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::{Run, hookgate, table_rows};

const CONFIG: &str = r#"
[database]
url = "sqlite://fresh.db"
[endpoints.billing]
provider = "stripe"
paths = ["/stripe"]
secrets = ["literal:whsec_test_0123456789abcdefghijklmnop"]
[destinations.crm]
type = "http"
url = "http://127.0.0.1:1/"
[[routes]]
endpoint = "billing"
forward = ["crm"]
"#;

fn configured() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.toml"), CONFIG).expect("write");
    folder
}

fn run(folder: &TempDir, args: &[&str]) -> Run {
    hookgate(folder.path(), &[], &[args, &["--config", "a.toml"]].concat())
}

#[test]
fn a_fresh_file_is_migrated_and_then_has_no_backlog() {
    let folder = configured();
    // Twice: the second finds nothing to do.
    for _ in 0..2 {
        let migrated = run(&folder, &["migrate"]);
        assert_eq!((migrated.code, migrated.stderr.as_str()), (0, ""));
        assert!(migrated.stdout.contains("fresh.db: the schema is up to date"), "{}", migrated.stdout);
    }
    assert!(folder.path().join("fresh.db").is_file());

    let backlog = run(&folder, &["backlog", "--json"]);
    assert_eq!((backlog.code, backlog.stderr.as_str()), (0, ""));
    let object = backlog.json();
    let [inbox] = object["inbox"].as_array().expect("inbox").as_slice() else { panic!("one: {object}") };
    assert_eq!(inbox["endpoint"], "billing");
    for key in ["backlog", "unprocessed", "needs_review", "events_24h", "duplicates_24h"] {
        assert_eq!(inbox[key], 0, "{key}: {inbox}");
    }
    assert_eq!(inbox["oldest_seconds"], json!(0.0));
    // Of no events no share can be told.
    assert_eq!(inbox.get("duplicate_rate"), Some(&json!(null)));
    let [outbox] = object["outbox"].as_array().expect("outbox").as_slice() else { panic!("one: {object}") };
    assert_eq!((&outbox["destination"], &outbox["backlog"]), (&json!("crm"), &json!(0)));
    assert_eq!(object["types_last_hour"], json!([]));

    let shown = run(&folder, &["backlog"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    assert_eq!(
        table_rows(&shown.stdout),
        [vec!["billing", "0", "0", "–", "0", "0", "–"], vec!["crm", "0", "–", "0"]]
    );
}

#[test]
fn a_database_without_the_schema_is_code_1_and_names_the_command() {
    let folder = configured();
    let backlog = run(&folder, &["backlog", "--json"]);
    assert_eq!((backlog.code, backlog.stdout.as_str()), (1, ""));
    assert!(backlog.stderr.contains("hookgate migrate"), "{}", backlog.stderr);
    assert!(!folder.path().join("fresh.db").exists(), "a question leaves nothing behind");
}
