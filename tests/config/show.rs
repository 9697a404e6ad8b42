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
    assert!(listing.contains("url = \"postgres://…@host/db\""), "{listing}");
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
