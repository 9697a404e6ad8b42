//! The listing of `config show`.

use super::{Case, SECRET, billing};

#[test]
fn every_value_shows_the_layer_it_came_from() {
    let listing = billing("[inbox]\nlease = \"3m\"\n")
        .variable("HOOKGATE__OUTBOX__LEASE", "4m")
        .flag("--listen", &["server", "listen"], "127.0.0.1:4")
        .listing();
    for (setting, origin) in [
        ("listen = \"127.0.0.1:4\"", "flag --listen"),
        ("lease = \"3m\"", "main.toml:7"),
        ("lease = \"4m\"", "environment HOOKGATE__OUTBOX__LEASE"),
        ("max_attempts = 10", "default"),
        ("provider = \"stripe\"", "main.toml:3"),
        ("mode = \"async\"", "default"),
    ] {
        let line = listing
            .lines()
            .find(|line| line.starts_with(setting))
            .unwrap_or_else(|| panic!("{setting}: {listing}"));
        assert!(line.ends_with(&format!(" # {origin}")), "{line}");
    }
}

#[test]
fn secrets_are_masked() {
    let listing = Case::new(&format!(
        "[endpoints.a]\nprovider = \"stripe\"\npaths = [\"/a\"]\nsecrets = [\"literal:{SECRET}\", \"env:A\"]\n\
         [admin]\nmetrics_token = \"{SECRET}\"\n[database]\nurl = \"postgres://user:{SECRET}@host/db?password={SECRET}\"\n\
         [destinations.b]\ntype = \"http\"\nurl = \"https://b/\"\nheaders = {{ x = \"{SECRET}\" }}\nsign = [\"literal:{SECRET}\"]\n"
    ))
    .listing();
    assert!(!listing.contains(&SECRET[6..]), "{listing}");
    assert!(listing.contains("secrets = [\"literal:whsec_…mnop\", \"env:A\"]"), "{listing}");
    assert!(listing.contains("url = \"postgres://…@host/db?…\""), "{listing}");
}

#[test]
fn urls_are_shown_without_user_password_and_query() {
    for (url, shown) in [
        ("https://crm.example.com/hooks", "https://crm.example.com/hooks"),
        ("https://crm.example.com/hooks?key=MARKER", "https://crm.example.com/hooks?…"),
        ("https://MARKER:MARKER@crm.example.com/hooks", "https://…@crm.example.com/hooks"),
        ("https://u:a@MARKER@crm.example.com/?k=MARKER", "https://…@crm.example.com/?…"),
        ("https://u:a?MARKER@crm.example.com/", "https://…"),
        ("https://u:a/MARKER@crm.example.com/", "https://…@crm.example.com/"),
        ("https://crm.example.com/?k=a@MARKER", "https://…"),
        ("https://crm.example.com/#MARKER", "https://crm.example.com/?…"),
        ("MARKER", "…"),
    ] {
        let text =
            format!("[destinations.b]\ntype = \"http\"\nurl = \"{url}\"\n[server]\npublic_url = \"{url}\"\n");
        let database = url.replace("https", "postgres");
        let listing = Case::new(&format!("{text}[database]\nurl = \"{database}\"\n")).listing();
        assert!(!listing.contains("MARKER"), "{listing}");
        for line in [
            format!("url = \"{shown}\""),
            format!("public_url = \"{shown}\""),
            format!("url = \"{}\"", shown.replace("https", "postgres")),
        ] {
            assert!(listing.lines().any(|found| found.starts_with(&format!("{line} "))), "{line}: {listing}");
        }
    }
    let listing = Case::new("[database]\nurl = \"sqlite://a@b/hookgate.db\"\n").listing();
    assert!(listing.contains("url = \"sqlite://a@b/hookgate.db\""), "{listing}");
}

#[test]
fn settings_that_the_definition_calls_secret_are_masked() {
    let listing = |provider: &str, settings: &str| {
        let head =
            format!("[endpoints.a]\nprovider = \"{provider}\"\npaths = [\"/a\"]\nsecrets = [\"env:A\"]\n");
        Case::new(&format!("{head}settings = {{ {settings} }}\n")).listing()
    };
    let known = listing("meta_graph", "verify_token = \"MARKER\"");
    assert!(known.contains("verify_token = \"…\"") && !known.contains("MARKER"), "{known}");
    let open = listing("generic_hmac", "header = \"x-signature\"");
    assert!(open.contains("header = \"x-signature\""), "{open}");
    let unknown = listing("no_such_provider", "any = \"MARKER\", other = \"env:NAME\"");
    assert!(!unknown.contains("MARKER") && unknown.contains("other = \"env:NAME\""), "{unknown}");
}

#[test]
fn the_listing_is_a_configuration_that_means_the_same() {
    let case = billing(
        "expect = { \"/livemode\" = true }\n[[routes]]\nendpoint = \"billing\"\nhandler = \"stripe_billing\"\n",
    );
    let listing = case.listing();
    let again = Case::new(&listing);
    let values = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(" # ").next().unwrap_or_default().trim_end().to_owned()).collect()
    };
    assert_eq!(values(&listing), values(&again.listing()), "{listing}");
    again.load();
}
