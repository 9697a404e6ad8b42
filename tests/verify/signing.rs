//! What `sign` adds of its own, and the whole definition that `providers/README.md` shows.

use std::fs;

use hookgate::mapping::map;
use hookgate::provider::{Catalogue, SampleIds};
use uuid::Uuid;

use super::support::{NOW, SECRET, acme, at, decide, proof, request, signed};

#[test]
fn the_definition_in_the_readme_proves_and_maps_its_sample() {
    let readme =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/providers/README.md")).expect("there");
    let (_, rest) = readme.split_once("```toml\n").expect("a definition");
    let (text, _) = rest.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("parcels.toml"), text).expect("writes");
    let catalogue = Catalogue::load(&[folder.path().to_path_buf()]).unwrap_or_else(|all| panic!("{all:#?}"));
    let provider = catalogue.get("parcels").expect("there");

    let sample = &provider.samples()[0];
    let (_, body) = sample.render(&SampleIds { event: "1a".into(), object: "9z".into() }, at(NOW));
    let plain = request(&[("content-type", "application/json")], body.to_vec());
    let genuine = signed(&provider, SECRET, &plain, at(NOW));
    let header = genuine.headers.text("x-parcel-signature").expect("signed").to_owned();
    let (time, signature) = header.split_once(',').expect("two pairs");
    assert_eq!(time, format!("t={NOW}000"));

    // As the README shows it: spaces, and a signature of another secret before the right one.
    let both = format!("{time}, v1={}, {signature}", "0".repeat(64));
    let genuine = super::support::with_header(&genuine, "x-parcel-signature", &[both.as_bytes()]);
    let verified = proof(decide(&genuine, &provider, NOW + 300));
    let events = map(&verified, &provider, &"in".into(), &[], Uuid::nil()).expect("maps");
    let [event] = events.as_slice() else { panic!("one: {events:?}") };
    assert_eq!(
        (event.key.event_id.as_str(), event.event_type.as_str()),
        ("u-1a", sample.event_type.as_str())
    );
    assert_eq!((event.account.as_deref(), event.ordering_key.as_deref()), (Some("a-1"), Some("p-9z")));
}

#[test]
fn parts_beside_the_signature_are_filled_and_the_time_is_the_schemes() {
    let rest = "[[verify]]\nname = \"v1\"\nalgorithm = \"hmac-sha256\"\ntext = \"{part:t}.{part:n}.{body}\"\n\
                signature = { from = \"{header:x-sign}\", pairs = \",\", take = \"v1\", encoding = \"hex\" }\n\
                timestamp = { value = \"{part:t}\", unit = \"milliseconds\", past = \"5m\", future = \"5m\" }\n\
                [sign]\nparts = { t = \"${now}\", n = \"${event}\" }\n\
                [event]\nformat = \"json\"\nid = \"{json:/id}\"\n";
    let provider = acme(rest, &[]);
    let nonce = |body: &str| {
        let genuine = signed(&provider, SECRET, &request(&[], body), at(NOW));
        proof(decide(&genuine, &provider, NOW));
        let header = genuine.headers.text("x-sign").expect("signed").to_owned();
        let (before, _) = header.split_once(",v1=").expect("a signature");
        assert!(before.contains(&format!("t={NOW}000")), "{before}");
        before.split(',').find_map(|pair| pair.strip_prefix("n=")).expect("a nonce").to_owned()
    };
    let (one, two) = (nonce(r#"{"id":"1"}"#), nonce(r#"{"id":"2"}"#));
    assert!(one.len() > 8 && one != two, "{one} {two}");
}

#[test]
fn tokens_over_two_bodies_name_two_events() {
    let rest = "[[verify]]\nname = \"v1\"\nalgorithm = \"jws\"\nallow = \"HS256\"\nsignature = { from = \"{header:x-token}\" }\n\
                [sign]\nclaims = { jti = \"${event}\", sha256 = \"{body|sha256|hex}\" }\n\
                [event]\nformat = \"json\"\nid = \"{claim:/jti}\"\n";
    let provider = acme(rest, &[]);
    let id = |body: &str| {
        let genuine = signed(&provider, SECRET, &request(&[], body), at(NOW));
        let verified = proof(decide(&genuine, &provider, NOW));
        map(&verified, &provider, &"in".into(), &[], Uuid::nil()).expect("maps")[0].key.event_id.clone()
    };
    assert_ne!(id("{}"), id("{ }"));
    assert_eq!(id("{}"), id("{}"));
}
