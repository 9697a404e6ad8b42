//! The program as an operator runs it: output, exit codes, nothing that should not be seen.

mod check;
mod config;
mod secrets;
mod usage;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a run of the program left behind.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs `hookgate` in `folder`, with nothing of this process's variables that would matter.
fn hookgate(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookgate"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HOOKGATE")) {
        command.env_remove(name);
    }
    // Backtraces are asked for, and must not come.
    command.env("RUST_BACKTRACE", "1").envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.output().expect("run hookgate");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Run { code: status.code().expect("an exit code"), stdout: text(stdout), stderr: text(stderr) }
}
