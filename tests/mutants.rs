//! The mistakes that this gateway's shape makes impossible, made on purpose: each must be noticed by a named test.
//!
//! A file of `tests/mutants/` names a test and says what to change in `src`. The change is made in a copy of the tree,
//! the copy's program is built beside the true one (the dependencies are shared), and the named test runs against it:
//! it has to fail, and with the words that the file expects.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

use crate::support::gateway::TEST_BINARY;

/// The name of the copy's package and program. It is not the true one's: Cargo would take two packages of one name,
/// each at the root of its workspace, for one, and the true program is in use while this one is built.
const PROGRAM: &str = "hookgate-mutant";

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
fn every_mutant_is_noticed_by_the_test_that_it_names() {
    let files = files_below(&root().join("tests/mutants"));
    assert!(files.len() >= 2, "the two classic mistakes stand in tests/mutants: {files:?}");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let copy = target.join("mutants");
    fs::create_dir_all(&copy).expect("make the folder");
    // Two test commands may run side by side.
    let lock = File::create(target.join("mutants.lock")).expect("make the lock file");
    lock.lock().expect("lock the copy");
    for file in files {
        assert_noticed(&copy, &format!("tests/mutants/{}", file.display()));
    }
}

fn assert_noticed(copy: &Path, file: &str) {
    let text = fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let mutant: Mutant = toml::from_str(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
    copy_tree(copy, &mutant, file);
    let damaged = build(copy, file);
    let output = Command::new(std::env::current_exe().expect("this test program"))
        .args(["--exact", &mutant.test])
        .env(TEST_BINARY, &damaged)
        .output()
        .expect("run the named test");
    let told = said(&output);
    assert!(told.contains("running 1 test"), "{file}: there is no such test: {}", mutant.test);
    assert!(
        !output.status.success() && told.contains("1 failed"),
        "{} passes although {}: it has lost its power.\n{told}",
        mutant.test,
        mutant.mistake
    );
    assert!(told.contains(&mutant.says), "{file}: the test fails, but not with {:?}:\n{told}", mutant.says);
}

/// A copy of all that a build reads, with the mutant's changes. Files that are there already with the same content keep
/// their time, so that from one mutant to the next the compiler has little to do.
fn copy_tree(copy: &Path, mutant: &Mutant, name: &str) {
    let wanted = sources();
    for file in &wanted {
        let mut content = fs::read(root().join(file)).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for change in mutant.change.iter().filter(|change| Path::new(&change.file) == file) {
            content = change.apply(content, name);
        }
        write_if_changed(&copy.join(file), &content);
    }
    for change in &mutant.change {
        assert!(wanted.contains(Path::new(&change.file)), "{name}: there is no {}", change.file);
    }
    for file in files_below(&copy.join("src")) {
        if !wanted.contains(&Path::new("src").join(&file)) {
            fs::remove_file(copy.join("src").join(file)).expect("remove what is no longer there");
        }
    }
    write_if_changed(&copy.join("Cargo.toml"), manifest().as_bytes());
}

/// All that a build may read: everything but what is made, and what has to do with tests only.
fn sources() -> BTreeSet<PathBuf> {
    let left_out = ["target", ".git", "tests", "examples", "benches", "fuzz", "Cargo.toml"];
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(root()).expect("read the root") {
        let path = entry.expect("a folder's entry").path();
        let name = PathBuf::from(path.file_name().expect("a name"));
        if left_out.iter().any(|out| name == Path::new(out)) {
            continue;
        }
        if path.is_dir() {
            files.extend(files_below(&path).into_iter().map(|file| name.join(file)));
        } else {
            files.insert(name);
        }
    }
    files
}

impl Change {
    fn apply(&self, content: Vec<u8>, name: &str) -> Vec<u8> {
        let before = String::from_utf8(content).expect("source text");
        let places = before.matches(&self.find).count();
        assert_eq!(
            places, 1,
            "{name}: the text to be changed stands {places} times in {}, not once. Adapt it to src:\n{}",
            self.file, self.find
        );
        before.replace(&self.find, &self.replace).into_bytes()
    }
}

/// The same package under another name, without tests. What the tests depend on is moved to the other dependencies:
/// then the features of all dependencies, and so their compiled forms, are those of the test command.
fn manifest() -> String {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("read Cargo.toml");
    let mut manifest: toml_edit::DocumentMut = text.parse().expect("Cargo.toml");
    for part in ["test", "bench", "example"] {
        manifest.remove(part);
    }
    let for_tests = manifest.remove("dev-dependencies").expect("dev-dependencies");
    for (name, dependency) in for_tests.as_table().expect("a table") {
        manifest["dependencies"][name] = dependency.clone();
    }
    manifest["package"]["name"] = toml_edit::value(PROGRAM);
    manifest["package"]["default-run"] = toml_edit::value(PROGRAM);
    manifest["lib"]["name"] = toml_edit::value("hookgate");
    manifest.insert("workspace", toml_edit::table());
    manifest.to_string()
}

fn build(copy: &Path, name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--bin", PROGRAM])
        .arg("--manifest-path")
        .arg(copy.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "{name} does not compile. Adapt it to src:\n{}", said(&output));
    target.join("debug").join(PROGRAM)
}

fn write_if_changed(path: &Path, content: &[u8]) {
    if fs::read(path).is_ok_and(|there| there == content) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
    fs::write(path, content).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// All files below a folder, relative to it, in order.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a folder's entry").path();
        let name = PathBuf::from(path.file_name().expect("a name"));
        if path.is_dir() {
            files.extend(files_below(&path).into_iter().map(|file| name.join(file)));
        } else {
            files.push(name);
        }
    }
    files.sort();
    files
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
