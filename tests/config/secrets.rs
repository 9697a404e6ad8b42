//! References to secrets, and secrets too weak to guard anything.

use super::{Case, SECRET, billing};

fn with_secret(reference: &str) -> Case {
    Case::new(&super::ENDPOINT.replace("\"env:BILLING\"", reference))
}

#[test]
fn a_variable_is_taken_as_it_is() {
    let digits = "01234567890123456789";
    let case = with_secret("\"env:DIGITS\"").variable("DIGITS", digits);
    let config = case.load().config;
    assert_eq!(config.endpoints["billing"].secrets[0].secret.expose(), digits.as_bytes());
}

#[test]
fn a_file_loses_one_newline_at_its_end() {
    for (content, expected) in [
        (format!("{SECRET}\n"), SECRET.to_owned()),
        (format!("{SECRET}\r\n"), SECRET.to_owned()),
        (format!("{SECRET}\n\n"), format!("{SECRET}\n")),
        (SECRET.to_owned(), SECRET.to_owned()),
    ] {
        let case = with_secret("\"file:key\"").file("key", &content);
        let config = case.load().config;
        assert_eq!(config.endpoints["billing"].secrets[0].secret.expose(), expected.as_bytes());
    }
}

#[test]
fn a_missing_or_empty_secret_is_an_error_with_its_place() {
    let place = "main.toml:5:12: endpoints.billing.secrets[0]";
    assert_eq!(
        with_secret("\"env:NONE\"").error(),
        format!("{place}: the environment variable NONE is not set")
    );
    assert_eq!(
        with_secret("\"env:BLANK\"").variable("BLANK", " \t").error(),
        format!("{place}: env:BLANK is empty")
    );
    assert_eq!(with_secret("\"file:key\"").file("key", "\n").error(), format!("{place}: file:key is empty"));
    assert!(
        with_secret("\"file:none\"")
            .error()
            .starts_with(&format!("{place}: cannot read the secret file none: "))
    );
    assert_eq!(with_secret("\"literal:\"").error(), format!("{place}: literal:… is empty"));
    let error = with_secret("\"BILLING\"").error();
    assert_eq!(error, format!("{place}: expected env:NAME, file:PATH or literal:VALUE"));
}

#[test]
fn a_weak_secret_is_refused() {
    let of = |value: &str| billing("").variable("BILLING", value).error();
    assert!(of("whsec_").contains("it holds only the prefix `whsec_`, no key"));
    assert!(of("whsec_0123456789").contains("its key has 10 bytes; at least 16 are needed"));
    assert!(of("0123456789abcde").contains("its key has 15 bytes"));
    billing("").variable("BILLING", "0123456789abcdef").load();
}

#[test]
fn a_literal_secret_is_taken_with_a_warning() {
    let warnings = with_secret(&format!("\"literal:{SECRET}\"")).warnings();
    let warning = &warnings[0];
    assert!(
        warning
            .starts_with("main.toml:5:12: endpoints.billing.secrets[0]: the secret itself is written here"),
        "{warning}"
    );
    assert!(!warning.contains(SECRET));
}

#[test]
fn a_secret_on_its_way_out_counts_until_its_moment() {
    let case = |until: &str| {
        with_secret(&format!("\"env:BILLING\", {{ secret = \"env:OLD\", until = {until} }}"))
            .variable("OLD", "the-old-secret-that-goes-away")
    };
    for until in ["\"2027-01-31\"", "2027-01-31", "\"2027-01-31T00:00:00Z\"", "2027-01-31T01:00:00+01:00"] {
        let config = case(until).load().config;
        let secret = &config.endpoints["billing"].secrets[1];
        assert_eq!(secret.until.expect("an end").to_rfc3339(), "2027-01-31T00:00:00+00:00", "{until}");
    }
    let error = case("\"soon\"").error();
    assert!(error.contains("secrets[1].until: expected a day"), "{error}");
    let warnings = case("\"2026-01-31\"").warnings();
    assert!(warnings[0].contains("2026-01-31 has passed: this secret counts no more"), "{warnings:#?}");
}

#[test]
fn an_endpoint_whose_secrets_have_all_passed_does_not_start() {
    let error = with_secret("{ secret = \"env:BILLING\", until = \"2026-05-31\" }").error();
    assert!(error.contains("the `until` of every secret has passed"), "{error}");
}

#[test]
fn the_same_secret_twice_is_told() {
    let error = with_secret("\"env:BILLING\", \"env:BILLING\"").error();
    assert!(error.contains("secrets[1]: the same secret as number 1"), "{error}");
    let other = super::ENDPOINT.replace("billing", "other").replace("/stripe", "/other");
    let warnings = billing(&other).warnings();
    assert!(
        warnings.iter().any(|text| text.contains("the same secret as at the endpoint billing")),
        "{warnings:#?}"
    );
}

#[test]
fn a_configuration_in_debug_form_shows_no_secret() {
    let destination = format!(
        "[destinations.crm]\ntype = \"http\"\nurl = \"https://crm.example.com/\"\nsign = \"literal:x{SECRET}\"\n\
         headers = {{ authorization = \"Bearer {SECRET}\" }}\n[admin]\nmetrics_token = \"literal:{SECRET}\"\n\
         [database]\nurl = \"postgres://user:{SECRET}@host/db\"\n"
    );
    let text = format!("{:?}", billing(&destination).load());
    assert!(!text.contains(&SECRET[6..]), "{text}");
}
