//! Endpoints and destinations.

use std::time::Duration;

use super::{Case, ENDPOINT, billing};

fn with_paths(paths: &str) -> Case {
    Case::new(&ENDPOINT.replace("[\"/stripe\"]", paths))
}

#[test]
fn an_unknown_provider_gets_a_near_name() {
    let error = Case::new(&ENDPOINT.replace("\"stripe\"", "\"stirpe\"")).error();
    assert_eq!(
        error,
        "main.toml:3:1: endpoints.billing.provider: there is no provider \"stirpe\"\n  help: did you mean `stripe`?"
    );
}

#[test]
fn a_path_is_written_as_it_arrives() {
    for path in [
        "stripe", "/stripe/", "//stripe", "/a//b", "/a/../b", "/./a", "/a?b", "/a#b", "/%61", "/ä", "/a b",
        "/a;b",
    ] {
        let error = with_paths(&format!("[\"{path}\"]")).error();
        assert!(
            error.starts_with(&format!(
                "main.toml:4:10: endpoints.billing.paths[0]: found \"{path}\", expected "
            )),
            "{error}"
        );
    }
    for path in ["/", "/stripe", "/a/b/c", "/a.b-c_d~e", "/.well-known/hooks"] {
        with_paths(&format!("[\"{path}\"]")).load();
    }
    assert!(with_paths("[]").error().contains("the list is empty; at least one is needed"));
}

#[test]
fn a_path_belongs_to_one_endpoint_once() {
    let error = with_paths("[\"/a\", \"/a\"]").error();
    assert!(error.contains("paths[1]: the path \"/a\" is taken by endpoints.billing.paths[0]"), "{error}");
    let other = ENDPOINT.replace("billing", "other").replace("env:BILLING", "env:OTHER");
    let error = billing(&other).variable("OTHER", "another-secret-long-enough").error();
    assert!(
        error.contains(
            "endpoints.other.paths[0]: the path \"/stripe\" is taken by endpoints.billing.paths[0]"
        ),
        "{error}"
    );
    assert!(error.contains("main.toml:4"), "{error}");
}

#[test]
fn names_are_fit_for_rows_and_metrics() {
    for name in ["\"Billing\"", "\"a b\"", "\"-a\"", "\"a.b\"", "\"\""] {
        let error = Case::new(&ENDPOINT.replace("billing", name)).error();
        assert!(error.contains("is not possible; expected lower-case letters"), "{name}: {error}");
    }
}

#[test]
fn expectations_are_pointers_to_plain_values() {
    let config = billing("expect = { \"/livemode\" = true, \"/a~1b/0\" = \"x\", \"/n\" = 3 }").load().config;
    assert_eq!(config.endpoints["billing"].expect.len(), 3);
    for (expect, problem) in [
        ("livemode = true", "found \"livemode\", expected a JSON pointer"),
        ("\"/a~2\" = 1", "found \"/a~2\", expected a JSON pointer"),
        ("\"/a\" = [1]", "expected a text, a whole number, true or false"),
    ] {
        let error = billing(&format!("expect = {{ {expect} }}")).error();
        assert!(
            error.starts_with("main.toml:6:12: endpoints.billing.expect.") && error.contains(problem),
            "{error}"
        );
    }
}

#[test]
fn a_body_limit_is_the_endpoints_own_or_the_providers() {
    assert_eq!(billing("max_body = \"2MiB\"").load().config.endpoints["billing"].max_body, 2 << 20);
    assert_eq!(billing("").load().config.endpoints["billing"].max_body, 1 << 20);
    let github = ENDPOINT.replace("\"stripe\"", "\"github\"");
    assert!(Case::new(&github).load().config.endpoints["billing"].max_body >= 25_000_000);
    assert!(billing("max_body = \"1 meg\"").error().contains("expected a size with a unit"));
    assert!(billing("max_body = \"1GiB\"").error().contains("expected 1B to 64MiB"));
}

#[test]
fn an_endpoint_can_say_how_often_it_expects_to_be_called() {
    let expected = |line| billing(line).load().config.endpoints["billing"].expect_every;
    assert_eq!(expected("expect_every = \"1h\""), Some(Duration::from_hours(1)));
    assert_eq!(expected(""), None);
    assert!(billing("expect_every = \"5s\"").error().contains("expected 1m to 30days"));
}

#[test]
fn keys_are_kept_for_as_long_as_the_provider_sends_again() {
    let error = billing("[retention]\npayload = \"1h\"\nkeys = \"1d\"\n").error();
    assert!(error.starts_with("main.toml:8:1: retention.keys: found \"1d\", but "), "{error}");
    assert!(error.contains("(endpoint billing) sends an event again for up to "), "{error}");
}

#[test]
fn sync_handlers_on_sqlite_get_a_warning() {
    let text = "mode = \"sync\"\n[[routes]]\nendpoint = \"billing\"\nhandler = \"stripe_billing\"\n";
    let warnings = billing(text).warnings();
    assert_eq!(warnings.len(), 1, "{warnings:#?}");
    assert!(
        warnings[0].starts_with("main.toml:6:1: endpoints.billing.mode: `sync` handlers on SQLite"),
        "{warnings:#?}"
    );
    assert_eq!(
        billing(&format!("{text}[database]\nurl = \"postgres://localhost/x\"")).warnings(),
        Vec::<String>::new()
    );
}

#[test]
fn a_setting_that_the_provider_does_not_take_is_refused() {
    let error = billing("settings = { webhok = \"x\" }").error();
    assert!(error.starts_with("main.toml:6:14: endpoints.billing.settings.webhok: "), "{error}");
}

#[test]
fn a_variant_that_is_off_is_named_to_be_used() {
    let monday =
        |rest: &str| Case::new(&format!("[endpoints.e]\nprovider = \"monday\"\npaths = [\"/e\"]\n{rest}"));
    let error = monday("").error();
    assert!(error.contains("endpoints.e"), "{error}");
    let config = monday("variant = \"unsigned\"").load().config;
    assert!(config.endpoints["e"].provider.takes_unproved());
    let error = monday("variant = \"unsined\"").error();
    assert!(error.starts_with("main.toml:4:1: endpoints.e.variant: unknown variant"), "{error}");
    assert!(error.contains("unsigned"), "{error}");
}

#[test]
fn a_destination_has_a_plain_url_and_headers() {
    let crm = |rest: &str| Case::new(&format!("[destinations.crm]\ntype = \"http\"\n{rest}"));
    for (rest, problem) in [
        ("url = \"ftp://crm\"", "expected a URL that begins with https://"),
        ("url = \"/hooks\"", "expected a URL that begins with https://"),
        ("url = \"https://a:b@crm/\"", "expected no user or password"),
        ("url = \"https://crm/#x\"", "expected no fragment"),
        (
            "url = \"https://crm/\"\nheaders = { \"a b\" = \"x\" }",
            "a name in this table cannot be a header's name",
        ),
        ("url = \"https://crm/\"\nheaders = { a = \"x\\ny\" }", "characters that cannot stand in a header"),
        ("url = \"https://crm/\"\nheaders = { a = \"env:NONE\" }", "NONE is not set"),
        ("url = \"https://crm/\"\nsign = \"literal:whsec_short\"", "too weak"),
        ("url = \"https://crm/\"\nsign = \"literal:whsec_!!!!!!!!!!!!!!!!!!!!!!!!\"", "expected base64"),
        (
            "url = \"https://crm/\"\ntimeout = \"2m\"",
            "expected at most 1m 48s: nine tenths of the lease of 2m",
        ),
    ] {
        let error = crm(rest).error();
        assert!(error.starts_with("main.toml:") && error.contains(problem), "{rest}: {error}");
    }
    let loaded =
        crm("url = \"http://crm.example.com/\"\nmax_attempts = 3\nheaders = { X-Team = \"a\" }").load();
    let destination = &loaded.config.destinations["crm"];
    assert_eq!(destination.headers["x-team"], "a");
    assert_eq!((destination.queue.max_attempts, destination.timeout.as_secs()), (3, 15));
    assert!(loaded.warnings.iter().any(|warning| warning.what.contains("unencrypted")));
}

#[test]
fn an_endpoint_says_which_rejected_requests_are_kept() {
    let kept = |line: &str| -> Vec<&str> {
        let loaded = billing(line).load();
        loaded.config.endpoints["billing"].quarantine.iter().map(|reason| reason.as_str()).collect()
    };
    assert_eq!(kept("").len(), 7);
    assert!(
        !kept("").contains(&"missing_signature"),
        "what is not signed is not kept unless it is asked for"
    );
    assert!(kept("quarantine = \"on\"").contains(&"missing_signature"));
    assert_eq!(kept("quarantine = \"off\""), [""; 0]);
    assert_eq!(kept("quarantine = [\"stale_timestamp\"]"), ["stale_timestamp"]);
    let error = billing("quarantine = [\"stale_timestmp\"]").error();
    assert!(
        error.contains("endpoints.billing.quarantine[0]: found \"stale_timestmp\", expected one of "),
        "{error}"
    );
    assert!(error.contains("did you mean `stale_timestamp`?"), "{error}");
    let error = billing("quarantine = [\"conflict\"]").error();
    assert!(error.contains("genuine requests are always kept"), "{error}");
    let error = billing("quarantine = [\"unknown_key\", \"unknown_key\"]").error();
    assert!(error.contains("quarantine[1]: \"unknown_key\" stands here twice"), "{error}");
    assert!(!billing("quarantine = \"some\"").error().is_empty());
}
