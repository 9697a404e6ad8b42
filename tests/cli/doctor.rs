//! `hookgate doctor`: unsafe and doubtful settings.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use hookgate::clock::{Clock as _, SystemClock};

use super::{Run, hookgate};
use crate::support::database::{Database, Engine};

const SOUND: &str = r#"
[server]
listen = "127.0.0.1:0"
[endpoints.billing]
provider = "stripe"
paths = ["/stripe"]
secrets = ["env:SECRET"]
[destinations.crm]
type = "http"
url = "https://crm.example/hooks"
sign = "env:SECRET"
[[routes]]
endpoint = "billing"
forward = ["crm"]
"#;

fn configured(config: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.toml"), config).expect("write");
    folder
}

fn run(folder: &TempDir, args: &[&str]) -> Run {
    let secret = [("SECRET", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3")];
    hookgate(folder.path(), &secret, &[args, &["--config", "a.toml"]].concat())
}

fn doctor(config: &str, args: &[&str]) -> Run {
    run(&configured(config), &[&["doctor"], args].concat())
}

/// Severity and place of everything that is found in a configuration.
fn found(config: &str) -> (i32, Vec<(String, String)>) {
    let run = doctor(config, &["--json"]);
    let object: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.stderr));
    let findings = object["findings"].as_array().expect("a list");
    let text = |finding: &Value, key: &str| finding[key].as_str().expect("text").to_owned();
    (run.code, findings.iter().map(|finding| (text(finding, "severity"), text(finding, "place"))).collect())
}

#[track_caller]
fn finds(change: (&str, &str), code: i32, severity: &str, place: &str) {
    assert!(SOUND.contains(change.0), "{}", change.0);
    let (ended, found) = found(&SOUND.replacen(change.0, change.1, 1));
    let [one] = found.as_slice() else { panic!("one finding for {}: {found:?}", change.1) };
    assert!(one.0 == severity && one.1.contains(place), "{one:?}");
    assert_eq!(ended, code, "{one:?}");
}

#[test]
fn a_sound_installation_has_no_findings() {
    let run = doctor(SOUND, &[]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "nothing unsafe or doubtful was found\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn each_doubtful_setting_is_named() {
    finds(("127.0.0.1:0", "0.0.0.0:0"), 0, "doubtful", "server");
    finds(("sign = \"env:SECRET\"\n", ""), 0, "doubtful", "destinations.crm");
    finds(("https://crm", "http://crm"), 0, "doubtful", "destinations.crm.url");
    let literal = "\"literal:whsec_0123456789abcdefghijklmnop\"";
    finds(("\"env:SECRET\"]", &format!("{literal}]")), 0, "doubtful", "endpoints.billing.secrets");
    let admin = "[admin]\nlisten = \"0.0.0.0:0\"\nmetrics_token = \"env:SECRET\"\n[endpoints.billing]";
    finds(("[endpoints.billing]", admin), 0, "doubtful", "admin.listen");
}

#[test]
fn each_unsafe_setting_is_code_1() {
    let soon = SystemClock.now() + chrono::TimeDelta::days(2);
    let ending = format!("{{ secret = \"env:SECRET\", until = \"{}\" }}]", soon.format("%F"));
    finds(("\"env:SECRET\"]", &ending), 1, "unsafe", "endpoints.billing.secrets");
    let unproved = "provider = \"monday\"\nvariant = \"unsigned\"\npaths = [\"/stripe\"]";
    let stripe = "provider = \"stripe\"\npaths = [\"/stripe\"]\nsecrets = [\"env:SECRET\"]";
    finds((stripe, unproved), 1, "unsafe", "endpoints.billing");
    let nowhere = "[database]\nurl = \"postgres://nobody@127.0.0.1:1/none\"\n[endpoints.billing]";
    finds(("[endpoints.billing]", nowhere), 1, "unsafe", "database");
}

#[tokio::test]
async fn a_database_that_may_lose_commits_is_unsafe() {
    let database = Database::new(Engine::Postgres).await;
    let glue = if database.url.contains('?') { '&' } else { '?' };
    let weak = format!("{}{glue}options=-c%20synchronous_commit%3Doff", database.url);
    let config = SOUND.replacen("[endpoints", &format!("[database]\nurl = \"{weak}\"\n[endpoints"), 1);
    let database = |severity: &str| (severity.to_owned(), "database".to_owned());
    // `serve` will make the tables.
    assert_eq!(found(&config), (1, vec![database("unsafe"), database("doubtful")]));
    assert_eq!(run(&configured(&config), &["migrate"]).code, 0);
    assert_eq!(found(&config), (1, vec![database("unsafe")]));
    let said = doctor(&config, &[]).stdout;
    assert!(said.contains("synchronous_commit"), "{said}");
}
