//! `hookgate config`.

use std::fs;

use serde_json::Value;

use super::hookgate;

#[test]
fn the_schema_is_json_schema_of_all_sections() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = hookgate(folder.path(), &[], &["config", "schema"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let schema: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(schema["additionalProperties"], false);
    let sections: Vec<&String> = schema["properties"].as_object().expect("sections").keys().collect();
    assert!(sections.iter().any(|name| *name == "endpoints") && sections.len() == 14, "{sections:?}");
}

#[test]
fn show_needs_no_secret_and_takes_the_default_file() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("config")).expect("make the folder");
    let text = "[endpoints.a]\nprovider = \"stripe\"\npaths = [\"/a\"]\nsecrets = [\"env:NOT_SET\"]\n";
    fs::write(folder.path().join("config/hookgate.toml"), text).expect("write");
    let run = hookgate(folder.path(), &[("HOOKGATE__LOG__LEVEL", "warn")], &["config", "show"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("[endpoints.a]"), "{}", run.stdout);
    let line =
        |start: &str| run.stdout.lines().find(|line| line.starts_with(start)).expect("a line").to_owned();
    assert!(line("secrets").ends_with("# config/hookgate.toml:4"));
    assert!(line("level").ends_with("# environment HOOKGATE__LOG__LEVEL"));
    assert!(line("lease").ends_with("# default"));
}

#[test]
fn show_of_a_wrong_file_is_code_1() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.toml"), "[server]\nx = 1\n").expect("write");
    let run = hookgate(folder.path(), &[], &["config", "show", "--config", "a.toml"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with("error: a.toml:2:1: server.x: unknown key\n  help: "), "{}", run.stderr);
}
