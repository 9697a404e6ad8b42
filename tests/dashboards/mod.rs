//! What operators see in Grafana and are woken by: `dashboards/` and `deploy/`.
//!
//! The files are read here; `story` runs them against a gateway, a Prometheus and an Alertmanager of its own.

mod boards;
mod deploy;
mod rules;
mod runbooks;
mod scale;
mod story;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The dashboards' files.
const BOARDS: [&str; 4] = ["overview", "provider", "delivery", "store"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

/// The files in a folder with this ending, sorted.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == ending));
    files.sort();
    files
}

fn board(name: &str) -> Value {
    serde_json::from_str(&read(&format!("dashboards/grafana/{name}.json"))).expect("JSON")
}

/// The panels of a board that ask something.
fn panels(board: &Value) -> Vec<&Value> {
    let panels = board["panels"].as_array().expect("panels");
    panels.iter().filter(|panel| panel["type"] != "row").collect()
}

/// The expressions of a panel.
fn expressions(panel: &Value) -> Vec<&str> {
    let targets = panel["targets"].as_array().expect("targets");
    targets.iter().map(|target| target["expr"].as_str().expect("an expression")).collect()
}

/// The names of our metrics in a text: scraped ones and recorded ones (`level:metric:operation`).
fn metrics_in(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
        .filter(|word| word.starts_with("hookgate_") || word.contains(":hookgate_"))
        .collect()
}

/// The lines `key: value` of a YAML file with one key to a line.
fn values<'a>(yaml: &'a str, key: &str) -> Vec<&'a str> {
    let start = format!("{key}: ");
    let lines = yaml.lines().map(|line| line.trim_start().trim_start_matches("- "));
    lines.filter_map(|line| line.strip_prefix(start.as_str())).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}
