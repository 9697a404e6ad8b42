//! What the gateways said: logs and metrics of all their lives.

use std::path::Path;

use serde_json::Value;

use super::Report;
use crate::support::gateway::field;

/// A COMMIT whose answer was lost.
const UNKNOWN: &str = "store.commit_unknown";

/// Looks for secrets, and for unknown commits that were told as successes.
pub fn judge(folder: &Path, secrets: &[&str], report: &mut Report) {
    report.hold("I9 secrets in what the gateways said", []);
    report.hold("I10 an unknown commit told as a success", []);
    let mut lines = 0;
    for file in std::fs::read_dir(folder).expect("read the folder") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("read what a gateway said");
        for line in text.lines() {
            lines += 1;
            judge_line(line, secrets, report);
        }
    }
    report.count("lines of logs and metrics", lines);
}

fn judge_line(line: &str, secrets: &[&str], report: &mut Report) {
    if secrets.iter().any(|secret| line.contains(secret)) {
        report.hold("I9 secrets in what the gateways said", [line.to_owned()]);
    }
    if line.contains(" panicked at ") {
        report.hold("panics", [line.to_owned()]);
    }
    let Some(Ok(line)) = line.contains(UNKNOWN).then(|| serde_json::from_str::<Value>(line)) else { return };
    if field(&line, "code") == UNKNOWN {
        report.count("unknown commits", 1);
    }
    let told = field(&line, "message") == "webhook.request" && field(&line, "fault") == UNKNOWN;
    if told && field(&line, "status").as_u64().is_none_or(|status| status < 500) {
        report.hold("I10 an unknown commit told as a success", [line.to_string()]);
    }
}
