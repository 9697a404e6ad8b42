//! Output into a pipe that nobody reads any more, as in `hookgate providers | head -1`.

use std::fs;
use std::io;

use super::{command, finish};

#[test]
fn a_reader_that_went_away_is_no_panic_and_does_not_change_the_code() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("body"), "{}").expect("write");
    let secret = ["--secret", "literal:whsec_test_0123456789abcdefghijklmnop", "--body-file", "body"];
    for (args, code) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["providers"], 0),
        (&["providers", "--json"], 0),
        (&["providers", "show", "stripe"], 0),
        (&["config", "schema"], 0),
        (&["config", "show"], 0),
        (&["check", "--offline"], 0),
        (&["migrate"], 0),
        (&["backlog"], 0),
        (&["backlog", "--json"], 0),
        (&["events", "list"], 0),
        (&["deliveries", "list", "--json"], 0),
        (&["dead", "list"], 0),
        (&["quarantine", "list"], 0),
        (&[&["sign", "stripe"][..], &secret].concat(), 0),
        // A rejected request stays a rejected request.
        (&[&["verify", "stripe"][..], &secret].concat(), 1),
    ] {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let run = finish(command(folder.path(), args).stdout(writer));
        assert!(!run.stderr.contains("panicked"), "{args:?}: {}", run.stderr);
        assert_eq!(run.code, code, "{args:?}: {}", run.stderr);
    }
}

#[test]
fn errors_that_nobody_reads_are_no_panic_either() {
    let folder = tempfile::tempdir().expect("a folder");
    for (args, code) in [(&["nonsense"][..], 2), (&["verify", "no_such_provider"], 2), (&["backlog"], 1)] {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let status = command(folder.path(), args).stderr(writer).status().expect("run hookgate");
        // A panic would be 101.
        assert_eq!(status.code(), Some(code), "{args:?}");
    }
}
