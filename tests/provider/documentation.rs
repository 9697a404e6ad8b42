//! `providers/README.md` describes every key that the loader accepts.

use std::fs;

use hookgate::provider::Catalogue;

/// Keys that a table accepts, by asking for one that it does not: the error lists them.
fn accepted(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("acme.toml"), text).expect("writes");
    let errors = Catalogue::load(&[folder.path().to_path_buf()]).expect_err("an unknown key is refused");
    let message = &errors[0].message;
    let list =
        message.split_once("expected one of").or_else(|| message.split_once("expected")).expect(message).1;
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_is_documented() {
    let document =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/providers/README.md")).expect("there");
    let tables = [
        "unknown = 1",
        "[dashboard]\nunknown = 1",
        "[settings.x]\nunknown = 1",
        "[request]\nunknown = 1",
        "[[verify]]\nunknown = 1",
        "[[verify]]\nsignature = { unknown = 1 }",
        "[[verify]]\ntimestamp = { unknown = 1 }",
        "[[verify]]\nchain = { unknown = 1 }",
        "[[verify]]\nfetch = { unknown = 1 }",
        "[[verify]]\nfetch = { oauth = { unknown = 1 } }",
        "[sign]\nunknown = 1",
        "[event]\nunknown = 1",
        "[event]\noccurred_at = { unknown = 1 }",
        "[batch]\nunknown = 1",
        "[[handshake]]\nunknown = 1",
        "[[handshake]]\nreply = { unknown = 1 }",
        "[[handshake]]\nconfirm = { unknown = 1 }",
        "[reply]\nunknown = 1",
        "[retry]\nunknown = 1",
        "[[samples]]\nunknown = 1",
    ];
    for table in tables {
        let keys = accepted(table);
        assert!(!keys.is_empty(), "{table}");
        for key in keys {
            let written = [format!("`{key}`"), format!("[{key}]"), format!("[{key}.")];
            let documented = written.iter().any(|text| document.contains(text));
            assert!(documented, "`{key}` (in {table}) is not in providers/README.md");
        }
    }
}

#[test]
fn every_value_filter_and_algorithm_is_documented() {
    let document =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/providers/README.md")).expect("there");
    let embedded =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/providers/github.toml")).expect("there");
    let message = |from: &str, to: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("github.toml"), embedded.replacen(from, to, 1)).expect("writes");
        let errors = Catalogue::load(&[folder.path().to_path_buf()]).expect_err("refused");
        errors[0].message.clone()
    };
    let lists = [
        (message("{body}", "{nothing}"), "a value is one of "),
        (message("{body}", "{body|nothing}"), "filters are "),
        (message("hmac-sha256", "nothing"), "allowed are "),
        (message("encoding = \"hex\"", "encoding = \"nothing\""), "allowed are "),
        (message("format = \"json\"", "format = \"nothing\""), "allowed are "),
        (message("{\"zen\"", "${nothing}"), "allowed are "),
    ];
    for (message, mark) in lists {
        let (_, list) = message.split_once(mark).unwrap_or_else(|| panic!("{message}"));
        for word in list.split(", ") {
            assert!(document.contains(&format!("`{word}`")), "`{word}` is not in providers/README.md");
        }
    }
}
