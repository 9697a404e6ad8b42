//! The program as an operator runs it: output, exit codes, nothing that should not be seen.

mod backlog;
mod check;
mod closed_pipe;
mod config;
mod demo;
mod doctor;
mod operations;
mod providers;
mod send;
mod secrets;
mod top;
mod usage;
mod verify;
mod why;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What a run of the program left behind.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Standard output, which must be one JSON value.
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.stdout, self.stderr))
    }
}

/// Runs `hookgate` in `folder`, with nothing of this process's variables that would matter.
fn hookgate(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Run {
    finish(command(folder, args).envs(variables.iter().copied()))
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookgate"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HOOKGATE")) {
        command.env_remove(name);
    }
    // Backtraces are asked for, and must not come.
    command.env("RUST_BACKTRACE", "1");
    command
}

fn finish(command: &mut Command) -> Run {
    let Output { status, stdout, stderr } = command.output().expect("run hookgate");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Run { code: status.code().expect("an exit code"), stdout: text(stdout), stderr: text(stderr) }
}

/// The rows of the tables in an output, without their headers: the trimmed cells of each.
fn table_rows(text: &str) -> Vec<Vec<&str>> {
    let mut rows = Vec::new();
    let mut in_head = false;
    for line in text.lines() {
        match line.chars().next() {
            Some('┌') => in_head = true,
            Some('╞') => in_head = false,
            // Cells are apart by more than one space, and words within them by one.
            Some('│') if !in_head => rows.push(
                line.trim_matches('│').split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect(),
            ),
            _ => {}
        }
    }
    rows
}
