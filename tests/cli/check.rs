//! `hookgate check`.

use std::fs;

use tempfile::TempDir;

use super::{Run, hookgate};

const SECRET: &str = "whsec_test_0123456789abcdefghijklmnop";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("write");
    }
    folder
}

fn check(files: &[(&str, &str)], variables: &[(&str, &str)], args: &[&str]) -> Run {
    let folder = folder(files);
    let run = hookgate(folder.path(), variables, &[&["check", "--config", "a.toml"], args].concat());
    assert!(!run.stderr.contains("stack backtrace") && !run.stderr.contains("src/"), "{}", run.stderr);
    run
}

const ENDPOINT: &str = r#"
[endpoints.billing]
provider = "stripe"
paths = ["/stripe", "/webhooks/stripe"]
secrets = ["env:BILLING", { secret = "env:OLD", until = "2099-01-31" }]
"#;

#[test]
fn a_good_configuration_is_code_0_and_a_table_without_secrets() {
    let text = format!(
        "{ENDPOINT}[[routes]]\nendpoint = \"billing\"\ntypes = [\"invoice.*\"]\nhandler = \"stripe_billing\"\n"
    );
    let run =
        check(&[("a.toml", &text)], &[("BILLING", SECRET), ("OLD", "an-old-secret-of-some-length")], &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stderr);
    for part in [
        "billing",
        "stripe",
        "/webhooks/stripe",
        "async",
        "1 env:BILLING whsec_…mnop",
        "2 env:OLD",
        "2099-01-31",
        "stripe_billing",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert!(!run.stdout.contains(&SECRET[6..]), "{}", run.stdout);
}

#[test]
fn without_any_configuration_all_is_well() {
    let folder = folder(&[]);
    let run = hookgate(folder.path(), &[], &["check"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
    assert!(
        run.stderr.starts_with("warning: there are no endpoints: every request is answered 404\n"),
        "{}",
        run.stderr
    );
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0, "a check leaves nothing behind");
}

#[test]
fn every_error_is_shown_with_file_line_and_key_and_the_code_is_1() {
    let text = format!("{ENDPOINT}\n[server]\nlisten = \"here\"\n[inbox]\nleese = \"1m\"\n");
    let run = check(&[("a.toml", &text)], &[], &[]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    for line in [
        "error: a.toml:5:12: endpoints.billing.secrets[0]: the environment variable BILLING is not set",
        "error: a.toml:5:29: endpoints.billing.secrets[1].secret: the environment variable OLD is not set",
        "error: a.toml:8:1: server.listen: found \"here\", expected an IP address and a port",
        "error: a.toml:10:1: inbox.leese: unknown key",
        "  help: did you mean `lease`?",
        "4 errors in the configuration",
    ] {
        assert!(run.stderr.lines().any(|found| found == line), "{line}\nis not in\n{}", run.stderr);
    }
}

#[test]
fn an_sql_module_that_cannot_be_used_is_an_error_with_its_line() {
    let text = format!("{ENDPOINT}[[routes]]\nendpoint = \"billing\"\nsql = \"book.sql\"\n");
    let variables = [("BILLING", SECRET), ("OLD", "an-old-secret-of-some-length")];
    let run = check(&[("a.toml", &text), ("book.sql", "SELECT 1;\nCOMMIT;\n")], &variables, &["--offline"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stderr.contains("error: book.sql:2"), "{}", run.stderr);
    let run = check(
        &[("a.toml", &text), ("book.sql", "SELECT no_such_column FROM no_such_table")],
        &variables,
        &[],
    );
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stderr.contains("book.sql") && run.stderr.contains("no_such_table"), "{}", run.stderr);
}

#[test]
fn offline_leaves_the_database_alone_and_says_so() {
    let text = "[database]\nurl = \"postgres://nobody@127.0.0.1:1/none\"\n";
    let run = check(&[("a.toml", text)], &[], &["--offline"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("offline: the handlers' statements were not prepared"), "{}", run.stderr);
}

#[test]
fn a_destination_that_the_dispatcher_would_refuse_is_an_error_with_its_line() {
    let text = "[destinations.crm]\ntype = \"http\"\nurl = \"https://crm.example.com/\"\nheaders = { host = \"x\" }\n";
    let run = check(&[("a.toml", text)], &[], &["--offline"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("error: a.toml:4:1: destinations.crm.headers: host is set by hookgate"),
        "{}",
        run.stderr
    );
}
