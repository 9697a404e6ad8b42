//! Wrong use, and no use at all.

use super::hookgate;

#[test]
fn wrong_use_is_code_2_and_says_how_to_do_better() {
    let folder = tempfile::tempdir().expect("a folder");
    for args in [&["nonsense"][..], &["check", "--nonsense"], &["--config"], &["config"], &[]] {
        let run = hookgate(folder.path(), &[], args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("Usage:") || run.stderr.contains("--help"), "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    let run = hookgate(folder.path(), &[], &["chek"]);
    assert!(run.stderr.contains("check"), "{}", run.stderr);
}

#[test]
fn help_and_version_are_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = hookgate(folder.path(), &[], &["--version"]);
    assert_eq!((run.code, run.stdout.trim()), (0, concat!("hookgate ", env!("CARGO_PKG_VERSION"))));
    let run = hookgate(folder.path(), &[], &["--help"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("check") && run.stdout.contains("--config <FILE>"), "{}", run.stdout);
}
