//! Files of the wrong shape: every error at once, each with its place.

use super::{Case, billing};

#[test]
fn a_file_that_is_missing_or_no_toml_is_an_error_with_its_place() {
    let mut case = Case::new("");
    case.files[0].set_file_name("none.toml");
    assert!(case.error().starts_with("none.toml:1:1: cannot read the file: "), "{}", case.error());
    let error = Case::new("[server]\nlisten = = 1\n").error();
    assert!(error.starts_with("main.toml:2:10: not TOML: "), "{error}");
}

#[test]
fn an_unknown_key_gets_its_place_and_a_near_name() {
    assert_eq!(
        Case::new("[server]\nlisten = \"127.0.0.1:1\"\nmax_inflight = 3\n").error(),
        "main.toml:3:1: server.max_inflight: unknown key\n  help: did you mean `max_in_flight`?"
    );
    let error = Case::new("[inbox]\nfoo_bar_baz = 1").error();
    assert!(error.contains("help: known: ") && error.contains("lease, statement_timeout"), "{error}");
}

#[test]
fn options_that_do_not_exist_yet_are_refused() {
    let errors = Case::new("[admin]\ntokens = []").errors();
    assert!(errors.iter().any(|error| error.contains("admin.tokens: unknown key")), "{errors:#?}");
    let error = billing("mode = \"push\"").error();
    assert!(error.starts_with("main.toml:6:1: endpoints.billing.mode: found \"push\", expected "), "{error}");
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_file() {
    let errors = Case::new(
        r#"
[server]
listen = "localhost"
surprise = 1
[inbox]
lease = "2 fortnights"
[retention]
keys = "1d"
[endpoints.billing]
provider = "strip"
paths = ["/a", "b"]
secrets = ["env:NONE"]
"#,
    )
    .errors();
    let starts: Vec<_> = errors.iter().map(|error| error.split_once(": ").expect("a place").0).collect();
    assert_eq!(
        starts,
        [
            "main.toml:3:1",
            "main.toml:4:1",
            "main.toml:6:1",
            "main.toml:8:1",
            "main.toml:10:1",
            "main.toml:11:16",
            "main.toml:12:12"
        ],
        "{errors:#?}"
    );
}

#[test]
fn a_wrong_type_says_what_was_found_and_expected() {
    let of = |text: &str| Case::new(text).error();
    assert!(of("server = 3").ends_with("server: found the number 3, expected a table"));
    assert!(
        of("[server]\nlisten = 8080")
            .ends_with("server.listen: found the number 8080, expected a text in quotes")
    );
    assert!(of("[database]\nmigrate = \"yes\"").ends_with("found a text, expected true or false"));
    assert!(
        of("[database]\nmax_connections = 0").ends_with("found 0, expected a whole number from 2 to 1000")
    );
    assert!(
        of("[database]\nmax_connections = 1.5")
            .ends_with("found the number 1.5, expected a whole number from 2 to 1000")
    );
    assert!(of("routes = 1").ends_with("routes: found the number 1, expected a list"));
    let lease = of("[inbox]\nlease = 120");
    assert!(lease.ends_with("found the number 120, expected a text in quotes such as \"30s\""), "{lease}");
}

#[test]
fn a_missing_key_says_what_it_is_for() {
    let errors = Case::new("\n[endpoints.billing]\nprovider = \"stripe\"\n").errors();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        errors[0].starts_with("main.toml:2:12: endpoints.billing.paths: is missing\n  help: The paths"),
        "{errors:#?}"
    );
}

#[test]
fn a_provider_that_shares_a_secret_needs_one() {
    let text = "\n[endpoints.billing]\nprovider = \"stripe\"\npaths = [\"/a\"]\n";
    let errors = Case::new(text).errors();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        errors[0].contains("endpoints.billing.secrets: this provider's requests cannot be proved"),
        "{errors:#?}"
    );
    // Asana's comes in its first request.
    assert!(
        Case::new(&text.replace("stripe", "asana")).load().config.endpoints["billing"].secrets.is_empty()
    );
}

#[test]
fn an_error_never_repeats_what_may_be_a_secret() {
    let secret = "whsec_this_is_the_secret_itself";
    let mut texts = vec![
        billing("")
            .variable("HOOKGATE__ENDPOINTS__BILLING__SECRETS", &format!("[\"{secret}\"]"))
            .errors()
            .join("\n"),
        Case::new(&format!("[admin]\nmetrics_token = [\"{secret}\"]")).errors().join("\n"),
        Case::new(&format!("[admin]\nmetrics_token = \"{secret}\"")).errors().join("\n"),
        Case::new(&format!("[database]\nurl = \"mysql://root:{secret}@host/db\"")).errors().join("\n"),
        Case::new(&format!("[destinations.crm]\ntype=\"http\"\nurl = \"https://root:{secret}@host/db\""))
            .errors()
            .join("\n"),
        billing("").variable("BILLING", "short_key_12345").errors().join("\n"),
    ];
    assert!(texts[5].contains("too weak"), "{}", texts[5]);
    texts[5] = texts[5].replace("short_key_12345", secret);
    for text in texts {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn one_broken_table_hides_no_error_in_another_and_causes_none() {
    let errors = Case::new(
        r#"
[endpoints.billing]
provider = "stripe"
paths = "/stripe"
secrets = ["env:BILLING"]
[[routes]]
endpoint = "billing"
handlr = "stripe_billing"
[[routes]]
endpoints = ["billing", "other"]
forward = ["crm"]
[destinations.crm]
type = "htp"
url = "https://crm.example.com/"
[log]
level = "inof"
"#,
    )
    .errors();
    let starts: Vec<_> = errors.iter().map(|error| error.split_once(": ").expect("a place").0).collect();
    assert_eq!(
        starts,
        ["main.toml:4:1", "main.toml:8:1", "main.toml:10:25", "main.toml:13:1", "main.toml:16:1"],
        "{errors:#?}"
    );
}
