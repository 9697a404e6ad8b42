//! Values that fit each other.

use super::Case;

#[test]
fn work_and_statements_end_well_before_the_lease() {
    for (section, key, other) in [
        ("inbox", "work_timeout", "statement_timeout = \"1s\""),
        ("inbox", "statement_timeout", "work_timeout = \"1s\""),
        ("outbox", "work_timeout", ""),
    ] {
        let with =
            |value: &str| Case::new(&format!("[{section}]\nlease = \"1m\"\n{key} = \"{value}\"\n{other}"));
        with("54s").load();
        let expected = format!(
            "main.toml:3:1: {section}.{key}: found \"55s\", expected at most 54s: nine tenths of the lease of 1m"
        );
        let error = with("55s").error();
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_payload_does_not_outlive_its_key() {
    let error = Case::new("[retention]\npayload = \"91d\"").error();
    assert!(
        error.contains("retention.keys: found \"90d\", shorter than retention.payload (\"91d\")"),
        "{error}"
    );
}

#[test]
fn durations_have_units_and_bounds() {
    let of = |value: &str| {
        Case::new(&format!(
            "[inbox]\nlease = \"{value}\"\nwork_timeout = \"100ms\"\nstatement_timeout = \"100ms\""
        ))
        .error()
    };
    for value in ["", "2", "two", "-1s"] {
        assert!(
            of(value).contains(&format!("found {value:?}, expected a duration with a unit")),
            "{}",
            of(value)
        );
    }
    assert!(of("1ms").contains("found \"1ms\", expected 1s to 1h"));
    assert!(of("2h").contains("found \"2h\", expected 1s to 1h"));
}

#[test]
fn operators_have_a_listener_of_their_own() {
    let error = Case::new("[admin]\nlisten = \"127.0.0.1:8080\"").error();
    assert!(error.contains("admin.listen: the port 8080 is that of server.listen"), "{error}");
    Case::new("[server]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"").load();
}

#[test]
fn metrics_away_from_loopback_need_a_token() {
    let error = Case::new("[admin]\nlisten = \"0.0.0.0:9000\"").error();
    assert!(error.contains("admin.listen: \"0.0.0.0:9000\" is not loopback"), "{error}");
    Case::new("[admin]\nlisten = \"0.0.0.0:9000\"\nmetrics_token = \"env:TOKEN\"")
        .variable("TOKEN", "a-token-that-is-long-enough")
        .load();
}

#[test]
fn a_database_url_is_a_file_or_a_server() {
    for url in [
        "hookgate.db",
        "sqlite:hookgate.db",
        "sqlite://",
        "sqlite://:memory:",
        "sqlite://a?mode=rw",
        "mysql://x",
    ] {
        let error = Case::new(&format!("[database]\nurl = \"{url}\"")).error();
        assert!(error.starts_with("main.toml:2:1: database.url: "), "{url}: {error}");
    }
    let by_variable =
        Case::new("[database]\nurl = \"env:DATABASE_URL\"").variable("DATABASE_URL", "postgres://u:p@h/d");
    assert_eq!(format!("{:?}", by_variable.load().config.database.url), "postgres://…");
}

#[test]
fn a_public_url_is_scheme_host_and_port() {
    let of = |url: &str| Case::new(&format!("[server]\npublic_url = \"{url}\""));
    for (url, kept) in
        [("https://a.example", "https://a.example"), ("http://a.example:81/", "http://a.example:81")]
    {
        assert_eq!(of(url).load().config.server.public_url.as_deref(), Some(kept));
    }
    for url in [
        "a.example",
        "https://a.example/hooks",
        "https://a.example//",
        "https://u@a.example",
        "https://a?x",
        "https://a#x",
    ] {
        assert!(of(url).error().contains("expected scheme, host and port only"), "{url}");
    }
}

#[test]
fn a_mistyped_log_level_is_no_module_name() {
    let error = Case::new("[log]\nlevel = \"inof\"").error();
    assert!(
        error.ends_with("found \"inof\", expected a level or module=level\n  help: did you mean `info`?"),
        "{error}"
    );
    Case::new("[log]\nlevel = \"warn,hookgate::worker=debug\"").load();
}

#[test]
fn the_quarantine_has_bounds_and_never_outlives_the_keys() {
    let bounds = Case::new("").load().config.quarantine;
    assert_eq!((bounds.max_rows, bounds.max_bytes, bounds.per_minute), (10_000, 64 << 20, 300));
    let error = Case::new("[quarantine]\nmax_bytes = \"1KiB\"").error();
    assert!(error.contains("quarantine.max_bytes: found \"1KiB\", expected "), "{error}");
    assert!(!Case::new("[quarantine]\nmax_rows = 0").error().is_empty());
    let week = Case::new("[retention]\npayload = \"1d\"\nkeys = \"7d\"").load().config.retention;
    assert_eq!(week.quarantine, week.keys, "what is released must still meet its copies");
}
