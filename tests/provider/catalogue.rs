//! The embedded catalogue, and an operator's folder over it.

use std::fs;

use hookgate::model::{Outcome, Reason};
use hookgate::provider::Catalogue;

fn embedded() -> Catalogue {
    Catalogue::load(&[]).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

#[test]
fn every_embedded_definition_loads_and_is_found_by_its_names() {
    let catalogue = embedded();
    assert!(catalogue.faults().is_empty(), "{:#?}", catalogue.faults());
    for id in
        ["stripe", "github", "slack_events", "standard_webhooks", "shopify", "generic_hmac", "generic_token"]
    {
        assert_eq!(&**catalogue.get(id).unwrap_or_else(|| panic!("no {id}")).id(), id);
    }
    assert_eq!(&**catalogue.get("slack").expect("alias").id(), "slack_events");
    assert!(catalogue.get("no_such").is_none());
}

#[test]
fn a_definition_stands_in_a_file_of_its_id_and_is_found_by_each_alias_before_it_is_read() {
    let catalogue = embedded();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/providers");
    let files = fs::read_dir(folder).expect("a folder").flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "toml"));
    assert_eq!(catalogue.ids().count(), files.count());
    for id in catalogue.ids() {
        let provider = catalogue.get(id).unwrap_or_else(|| panic!("{id}.toml cannot be used"));
        assert_eq!((&**provider.id(), provider.file()), (id, format!("embedded:{id}.toml").as_str()));
        for alias in provider.aliases() {
            // From a fresh catalogue, in which nothing is compiled.
            assert_eq!(embedded().get(alias).expect("found").id(), provider.id(), "{alias}");
        }
    }
}

#[test]
fn a_definition_of_ones_own_stands_over_the_embedded_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/providers/stripe.toml")).expect("there");
    fs::write(folder.path().join("mine.toml"), text.replace("name = \"Stripe\"", "name = \"Mine\""))
        .expect("writes");
    fs::write(folder.path().join("acme.toml"), text.replacen("\"stripe\"", "\"acme\"", 1)).expect("writes");
    let catalogue = Catalogue::load(&[folder.path().to_path_buf()]).expect("loads");
    assert_eq!(catalogue.get("stripe").expect("there").name(), "Mine");
    assert_eq!(&**catalogue.get("acme").expect("there").id(), "acme");
    assert!(catalogue.get("github").is_some());
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let errors = Catalogue::load(&["/no/such/folder".into()]).expect_err("refused");
    assert!(errors[0].to_string().starts_with("/no/such/folder: cannot be read"), "{}", errors[0]);
}

#[test]
fn rejections_are_answered_as_the_provider_expects() {
    let catalogue = embedded();
    let status = |id: &str, reason| catalogue.get(id).expect("there").rejection_status(reason);
    assert_eq!(status("stripe", Reason::SignatureMismatch), 400);
    assert_eq!(status("stripe", Reason::MissingSignature), 400);
    assert_eq!(status("shopify", Reason::SignatureMismatch), 401);
    assert_eq!(status("github", Reason::KeyUnavailable), 503);
    assert_eq!(status("github", Reason::TooLarge), 413);
    assert_eq!(status("github", Reason::Method), 405);
    assert!(catalogue.get("stripe").expect("there").reply(Outcome::Processed).is_none());
}

#[test]
fn facts_for_the_rest_of_the_gateway_are_there() {
    let catalogue = embedded();
    let github = catalogue.get("github").expect("there");
    assert_eq!(github.max_body(), Some(25 << 20));
    assert_eq!(github.deadline().map(|deadline| deadline.as_secs()), Some(10));
    let stripe = catalogue.get("stripe").expect("there");
    assert_eq!(stripe.volatile(), ["/pending_webhooks"]);
    assert_eq!(stripe.signature_headers(), ["stripe-signature"]);
    assert_eq!(stripe.retry_window().map(|window| window.as_secs()), Some(3 * 86_400));
    assert_eq!(catalogue.get("generic_token").expect("there").credential_headers(), ["authorization"]);
}
