//! The fuzz targets of `fuzz/`, for a bounded number of tries each: arbitrary definitions, templates, requests and
//! genuine bodies must never make the gateway panic, hang or fill the memory. libFuzzer needs no nightly compiler for
//! this: `fuzz/instrument` has hookgate alone compiled with coverage counters.
//!
//! For a longer hunt: `cargo test fuzz` once, then `target/debug/fuzz_request -max_total_time=3600 FOLDER fuzz/seeds/request`.
//! An input that it finds goes into `fuzz/seeds/TARGET/`, under a name that says what was wrong.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Targets and how often each is tried beyond its seeds: some ten seconds of work.
const TARGETS: [(&str, u32); 4] =
    [("definition", 4_000), ("template", 15_000), ("request", 40_000), ("body", 20_000)];

#[test]
fn no_input_makes_a_fuzz_target_fail() {
    build();
    let found = tempfile::tempdir().expect("a folder");
    let mut running = Vec::new();
    for (target, runs) in TARGETS {
        let corpus = found.path().join(target);
        std::fs::create_dir(&corpus).expect("make the folder");
        let mut command = Command::new(target_dir().join("debug").join(format!("fuzz_{target}")));
        command.arg(&corpus).args(seeds(target));
        command.args([
            &format!("-runs={runs}"),
            "-seed=1",
            "-max_len=4096",
            "-timeout=20",
            "-rss_limit_mb=2048",
        ]);
        command.arg(format!("-artifact_prefix={}/", corpus.display()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        running.push((target, command.spawn().expect("start the target")));
    }
    let mut failed = Vec::new();
    for (target, child) in running {
        let output = child.wait_with_output().expect("wait for the target");
        if !output.status.success() {
            failed.push(format!("fuzz_{target}:\n{}", end(&output)));
        }
    }
    // The report holds the input in base64.
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// What a target starts from.
fn seeds(target: &str) -> Vec<PathBuf> {
    let kept = root().join("fuzz/seeds").join(target);
    let definitions = (target == "definition").then(|| root().join("providers"));
    [kept].into_iter().filter(|folder| folder.is_dir()).chain(definitions).collect()
}

fn build() {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--package", "hookgate-fuzz"])
        .arg("--target-dir")
        .arg(target_dir())
        .env("RUSTC_WORKSPACE_WRAPPER", root().join("fuzz/instrument"))
        .current_dir(root())
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "the fuzz targets do not compile:\n{}", end(&output));
}

/// The last lines that a program said.
fn end(output: &Output) -> String {
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}

fn target_dir() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
