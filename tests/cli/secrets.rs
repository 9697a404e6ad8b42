//! No output shows a secret, however wrong the place it was written in.

use std::fs;

use super::hookgate;

/// Stands for a secret. In lower case, since a variable's name may carry it too.
const MARKER: &str = "m4rk3rm4rk3rm4rk3rm4rk3r";

const ENDPOINT: &str = "[endpoints.b]\nprovider = \"stripe\"\npaths = [\"/b\"]\nsecrets = [\"env:GOOD\"]\n";
const DESTINATION: &str = "[destinations.d]\ntype = \"http\"\nurl = \"https://crm.example.com/\"\n";

/// Runs the three commands that look at the whole configuration. None of them may succeed in serving, nor say it.
fn nothing_shows(text: &str, variables: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let fill = |text: &str| text.replace('X', MARKER);
    fs::write(folder.path().join("a.toml"), fill(text)).expect("write");
    let filled: Vec<(&str, String)> = variables.iter().map(|(name, value)| (*name, fill(value))).collect();
    let mut variables: Vec<(&str, &str)> =
        filled.iter().map(|(name, value)| (*name, value.as_str())).collect();
    variables.extend([("GOOD", "a-secret-of-some-length"), ("RUST_LOG", "trace")]);
    for command in [&["check"][..], &["config", "show"], &["serve"]] {
        let args = [command, &["--config", "a.toml"]].concat();
        let run = hookgate(folder.path(), &variables, &args);
        let output = run.stdout + &run.stderr;
        assert!(!output.contains(MARKER), "{command:?} of {text} and {variables:?}:\n{output}");
        assert!(
            run.code == 1 || command[0] == "config",
            "{command:?} of {text} and {variables:?}:\n{output}"
        );
    }
}

#[test]
fn a_secret_in_a_place_of_another_type_is_not_shown() {
    for wrong in [
        "secrets = \"whsec_X\"",
        "secrets = whsec_X",
        "secrets = \"whsec_X",
        "secrets = { a = \"X\" }",
        "secrets = [[\"X\"]]",
        "secrets = [\"X\"]",
        "secrets = [{ X = \"a\" }]",
        "secrets = [{ secret = \"env:GOOD\", until = \"X\" }]",
        "secrets = [{ secret = [\"X\"], until = \"2099-01-01\" }]",
        "secrets = [\"env:GOOD\"]\nmode = { a = \"X\" }",
        "secrets = [\"env:GOOD\"]\nsettings = \"X\"",
        "secrets = [\"env:GOOD\"]\nsettings = { a = [\"X\"] }",
        "secrets = [\"env:GOOD\"]\nsettings = { variant = \"X\" }",
        "secrets = [\"env:GOOD\"]\nexpect = \"X\"",
    ] {
        nothing_shows(&ENDPOINT.replace("secrets = [\"env:GOOD\"]", wrong), &[]);
    }
    for wrong in [
        "headers = \"Bearer X\"",
        "headers = { authorization = [\"Bearer X\"] }",
        "headers = { \"Bearer X\" = \"authorization\" }",
        "headers = { authorization = \"Bearer X\\n\" }",
        "sign = \"X\"",
        "sign = { a = \"X\" }",
        "sign = [[\"X\"]]",
        "concurrency = \"X\"",
        "drop_signature = \"X\"",
    ] {
        nothing_shows(&format!("{DESTINATION}{wrong}\n"), &[]);
    }
    for wrong in [
        "https://u:X@crm.example.com/",
        "https://crm example.com/?k=X",
        "X",
        "ftp://u:X@crm/",
        "https://c/#X",
    ] {
        nothing_shows(&DESTINATION.replace("https://crm.example.com/", wrong), &[]);
        nothing_shows(&format!("[server]\npublic_url = \"{wrong}?X\"\n"), &[]);
    }
    for wrong in [
        "database = \"postgres://u:X@h/d\"\n",
        "[database]\nmax_connections = \"postgres://u:X@h/d\"\n",
        "[database]\nmigrate = \"postgres://u:X@h/d\"\n",
        "[database]\nurl = [\"postgres://u:X@h/d\"]\n",
        "[database]\nurl = \"mysql://u:X@h/d\"\n",
        "[database]\nurl = \"postgres://u:X@h:no/d\"\n",
        "[database]\nurl = \"postgres://u:X@127.0.0.1:1/d?unknown=X\"\n",
        "[endpoints]\nb = \"whsec_X\"\n",
        "[destinations]\nb = \"whsec_X\"\n",
        "routes = \"X\"\n",
        "routes = [\"X\"]\n",
        "[admin]\nmetrics_token = \"X\"\n",
        "[admin]\nmetrics_token = [\"X\"]\n",
        "admin = \"X\"\n",
    ] {
        nothing_shows(wrong, &[]);
    }
}

#[test]
fn a_secret_in_a_wrong_variable_is_not_shown() {
    for (variable, value) in [
        ("HOOKGATE__ENDPOINTS__B__SECRETS", "whsec_X"),
        ("HOOKGATE__ENDPOINTS__B__SECRETS", "[\"whsec_X"),
        ("HOOKGATE__ENDPOINTS__B__SECRETS", "[\"whsec_X\"]"),
        ("HOOKGATE__ENDPOINTS__B__SECRETS", "[whsec_X]"),
        ("HOOKGATE__ENDPOINTS__B__SECRETS__0", "whsec_X"),
        ("HOOKGATE__ENDPOINTS__B", "whsec_X"),
        ("HOOKGATE__ENDPOINTS", "whsec_X"),
        ("HOOKGATE__DATABASE", "postgres://u:X@h/d"),
        ("HOOKGATE__DATABASE__MAX_CONNECTIONS", "postgres://u:X@h/d"),
        ("HOOKGATE__DATABASE__URI", "postgres://u:X@h/d"),
        ("HOOKGATE__ADMIN__METRICS_TOKEN", "X"),
        ("HOOKGATE__DESTINATIONS__D__HEADERS", "Bearer X"),
        ("HOOKGATE__DESTINATIONS__D__SIGN", "X"),
    ] {
        nothing_shows(&format!("{ENDPOINT}{DESTINATION}"), &[(variable, value)]);
    }
}

#[test]
fn a_database_that_does_not_answer_is_named_with_its_cause_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let variables = [("HOOKGATE__DATABASE__URL", "postgres://nobody@127.0.0.1:1/none")];
    for command in ["check", "backlog", "serve"] {
        let run = hookgate(folder.path(), &variables, &[command]);
        assert_eq!(run.code, 1, "{command}: {}", run.stderr);
        assert_eq!(run.stderr.matches("Connection refused").count(), 1, "{command}: {}", run.stderr);
        assert_eq!(run.stderr.matches("the database is unavailable").count(), 1, "{command}: {}", run.stderr);
    }
}
