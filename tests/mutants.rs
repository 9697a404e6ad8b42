//! The mistakes that this gateway's shape makes impossible, made on purpose: each must be noticed by a named test.
//!
//! A file of `tests/mutants/` names a test and says what to change in `src`. The change is made in a copy of the tree,
//! the copy's program is built beside the true one (the dependencies are shared), and the named test runs against it:
//! it has to fail, and with the words that the file expects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

use crate::support::gateway::TEST_BINARY;

/// One file of `tests/mutants/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    /// What is wrong with it, for the reader.
    mistake: String,
    /// The test that must fail, with its modules.
    test: String,
    /// Words of its failure.
    says: String,
    change: Vec<Change>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    file: String,
    /// Text that stands in the file exactly once.
    find: String,
    replace: String,
}

#[test]
fn a_receipt_that_is_committed_first_is_noticed() {
    assert_noticed("receipt_first");
}

#[test]
fn a_receipt_that_is_committed_after_the_work_is_noticed() {
    assert_noticed("receipt_after");
}

#[test]
fn a_settlement_without_a_fence_is_noticed() {
    assert_noticed("stale_settle");
}

fn assert_noticed(name: &str) {
    let mutant = read(name);
    let damaged = build(name, &mutant);
    let output = Command::new(std::env::current_exe().expect("this test program"))
        .args(["--exact", &mutant.test, "--test-threads", "1"])
        .env(TEST_BINARY, &damaged)
        .output()
        .expect("run the named test");
    let told = text(&output);
    assert!(told.contains("running 1 test"), "{}: there is no such test: {}", file(name), mutant.test);
    assert!(
        !output.status.success() && told.contains("1 failed"),
        "{} passes although {}: it has lost its power.\n{told}",
        mutant.test,
        mutant.mistake
    );
    assert!(told.contains(&mutant.says), "it fails, but not with {:?}:\n{told}", mutant.says);
}

/// Builds the damaged program and gives its path.
fn build(name: &str, mutant: &Mutant) -> PathBuf {
    let program = format!("hookgate-{}", name.replace('_', "-"));
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants").join(name);
    copy_tree(&copy);
    for change in &mutant.change {
        apply(name, &copy, change);
    }
    write_manifest(&copy, &program);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--bin", &program])
        .arg("--manifest-path")
        .arg(copy.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "{} does not compile. Adapt it to src:\n{}", file(name), text(&output));
    target.join("debug").join(program)
}

fn apply(name: &str, copy: &Path, change: &Change) {
    let path = copy.join(&change.file);
    let before = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {}: {e}", file(name), change.file));
    let places = before.matches(&change.find).count();
    assert_eq!(
        places,
        1,
        "{}: the text to be changed stands {places} times in {}, not once. Adapt it to src:\n{}",
        file(name),
        change.file,
        change.find
    );
    fs::write(&path, before.replace(&change.find, &change.replace)).expect("write the changed file");
}

/// A copy of all that a build reads.
fn copy_tree(copy: &Path) {
    let _ = fs::remove_dir_all(copy);
    for part in ["src", "config", "migrations", "providers"] {
        copy_folder(&root().join(part), &copy.join(part));
    }
    for file in ["Cargo.lock", "rust-toolchain.toml", "README.md"] {
        fs::copy(root().join(file), copy.join(file)).unwrap_or_else(|e| panic!("copy {file}: {e}"));
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("make a folder");
    for entry in fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display())) {
        let from = entry.expect("a folder's entry").path();
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            fs::copy(&from, &to).expect("copy a file");
        }
    }
}

/// The same package under another name, without tests. A name of its own, because Cargo would take two packages of one
/// name, each at the root of its workspace, for one; the test's dependencies moved to the others, because then the
/// features of all dependencies, and so their compiled forms, are those of the test command.
fn write_manifest(copy: &Path, program: &str) {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("read Cargo.toml");
    let mut manifest: toml_edit::DocumentMut = text.parse().expect("Cargo.toml");
    for part in ["test", "bench", "example"] {
        manifest.remove(part);
    }
    let for_tests = manifest.remove("dev-dependencies").expect("dev-dependencies");
    for (name, dependency) in for_tests.as_table().expect("a table") {
        manifest["dependencies"][name] = dependency.clone();
    }
    manifest["package"]["name"] = toml_edit::value(program);
    manifest["package"]["default-run"] = toml_edit::value(program);
    manifest["lib"]["name"] = toml_edit::value("hookgate");
    manifest.insert("workspace", toml_edit::table());
    fs::write(copy.join("Cargo.toml"), manifest.to_string()).expect("write the manifest");
}

fn read(name: &str) -> Mutant {
    let text = fs::read_to_string(root().join(file(name))).unwrap_or_else(|e| panic!("{}: {e}", file(name)));
    toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file(name)))
}

fn file(name: &str) -> String {
    format!("tests/mutants/{name}.toml")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
