//! What the language can say beyond the presets: batches, challenges, several places, plain hashes.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use hookgate::mapping::map;
use hookgate::model::{NewEvent, Outcome, Reason, Rejection, Secret};
use hookgate::provider::{Catalogue, Provider};
use hookgate::verify::{self, Decision};
use uuid::Uuid;

use super::support::{NOW, SECRET, at, decide, proof, reason, request, signed};

const HEAD: &str = r#"id = "acme"
name = "Acme"
confidence = "confirmed"
docs = "https://example.com"
[dashboard]
place = "Settings"
secret = "the secret"
"#;
const PLAIN: &str = r#"[[verify]]
name = "v1"
algorithm = "hmac-sha256"
text = "{body}"
signature = { from = "{header:x-sign}", encoding = "hex" }
"#;

fn acme(rest: &str, settings: &[(&str, &str)]) -> Arc<Provider> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("acme.toml"), format!("{HEAD}{rest}")).expect("writes");
    let catalogue =
        Catalogue::load(&[folder.path().to_path_buf()]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    catalogue.get("acme").expect("there").configure(&settings).expect("fits")
}

fn mapped(provider: &Provider, body: &str) -> Result<Vec<NewEvent>, Rejection> {
    let genuine = signed(provider, SECRET, &request(&[], body), at(NOW));
    map(&proof(decide(&genuine, provider, NOW)), provider, &"batch".into(), &[], Uuid::nil())
}

#[test]
fn every_item_of_a_batch_is_an_event_with_its_own_bytes() {
    let event = "[event]\nformat = \"json\"\nid = \"{root:/batch}-{json:/id}\"\ntype = \"{json:/kind}\"\n";
    let provider = acme(&format!("{PLAIN}{event}[batch]\nitems = \"/entry/*/changes/*\"\n"), &[]);
    let body = r#"{"batch":7,"entry":[{"changes":[{"id":1,"kind":"a"}, {"id" : 2,"kind":"b"}]},{"changes":[]},{"changes":[{"id":3,"kind":"c"}]}]}"#;
    let events = mapped(&provider, body).expect("maps");
    let seen: Vec<(&str, &str, i32, &[u8])> = events
        .iter()
        .map(|event| (&*event.key.event_id, &*event.event_type, event.item_index, &*event.body))
        .collect();
    assert_eq!(
        seen,
        [
            ("7-1", "a", 0, br#"{"id":1,"kind":"a"}"#.as_slice()),
            ("7-2", "b", 1, br#"{"id" : 2,"kind":"b"}"#.as_slice()),
            ("7-3", "c", 2, br#"{"id":3,"kind":"c"}"#.as_slice()),
        ]
    );
    assert!(mapped(&provider, r#"{"batch":7,"entry":[]}"#).expect("an empty batch").is_empty());
    assert_eq!(mapped(&provider, r#"{"batch":7}"#).expect_err("no array").reason, Reason::MalformedBody);
    assert_eq!(
        mapped(&provider, r#"{"batch":7,"entry":{}}"#).expect_err("no array").reason,
        Reason::MalformedBody
    );
    let without_id = r#"{"batch":7,"entry":[{"changes":[{"id":1},{"kind":"b"}]}]}"#;
    assert_eq!(mapped(&provider, without_id).expect_err("no id").reason, Reason::NoEventId);
}

#[test]
fn a_challenge_before_verification_needs_its_token() {
    let rest = format!(
        r#"[request]
methods = ["GET", "POST"]
{PLAIN}[event]
format = "json"
id = "{{json:/id}}"
[settings.verify_token]
description = "the token that you made up"
example = "example"
secret = true
[[handshake]]
name = "subscribe"
signed = false
when = ["{{method}} == GET", "{{query:hub.mode}} == subscribe"]
require = "{{query:hub.verify_token}} == ${{verify_token}}"
reply = {{ status = 200, text = "{{query:hub.challenge}}", headers = {{ x-echo = "{{query:hub.challenge}}" }} }}
"#
    );
    let token = "a [odd] == {token}";
    let provider = acme(&rest, &[("verify_token", token)]);
    let ask = |query: &str| {
        let mut request = request(&[], "");
        request.method = "GET".into();
        request.query = Some(query.into());
        decide(&request, &provider, NOW)
    };
    let good = "hub.mode=subscribe&hub.challenge=11%2B58&hub.verify_token=a+%5Bodd%5D+%3D%3D+%7Btoken%7D";
    let Decision::Handshake { reply, verified } = ask(good) else { panic!("not answered") };
    assert!(!verified);
    assert_eq!((reply.status, &*reply.body), (200, b"11+58".as_slice()));
    assert!(reply.headers.contains(&("x-echo".into(), "11+58".into())));
    for bad in [
        "hub.mode=subscribe&hub.challenge=1",
        "hub.mode=subscribe&hub.challenge=1&hub.verify_token=",
        "hub.mode=subscribe&hub.challenge=1&hub.verify_token=example",
        "hub.mode=subscribe&hub.verify_token=a+%5Bodd%5D+%3D%3D+%7Btoken%7D",
        &good.replace("11%2B58", "a%0d%0aset-cookie:+x"),
        &format!("{good}&hub.verify_token=x"),
    ] {
        assert_eq!(reason(ask(bad)), Reason::HandshakeMismatch, "{bad}");
    }
    assert_eq!(reason(ask("hub.mode=other")), Reason::MissingSignature);
    assert!(!format!("{provider:?}").contains("odd"));
}

#[test]
fn several_places_each_with_its_own_key() {
    let rest = r#"[[verify]]
name = "v1"
algorithm = "hmac-sha256"
text = "{body}[;{header:x-extra}]{header:x-more?}"
signature = { from = ["{header:x-primary}", "{header:x-secondary}"], encoding = "base64" }
[event]
format = "opaque"
id = "{body|sha256|hex}"
"#;
    let provider = acme(rest, &[]);
    let genuine = signed(&provider, SECRET, &request(&[("x-extra", "e")], "b"), at(NOW));
    let value = genuine.headers.text("x-primary").expect("signed").to_owned();
    let wrong = value.replace(|char: char| char.is_ascii_lowercase(), "a");
    let second = request(&[("x-primary", &wrong), ("x-secondary", &value), ("x-extra", "e")], "b");
    let verified = proof(decide(&second, &provider, NOW));
    let events = map(&verified, &provider, &"e".into(), &[], Uuid::nil()).expect("maps");
    assert_eq!(events[0].key.event_id.len(), 64);
    let without = request(&[("x-secondary", &value)], "b");
    assert_eq!(reason(decide(&without, &provider, NOW)), Reason::SignatureMismatch);
}

#[test]
fn a_plain_hash_over_secret_method_and_url_in_the_query() {
    let rest = r#"[[verify]]
name = "v2"
algorithm = "sha256"
text = "{secret}{method}{url|before:&sign=}{body}"
signature = { from = "{query:sign}", encoding = "hex" }
[event]
format = "json"
id = "{json:/id}"
"#;
    let provider = acme(rest, &[]);
    let mut plain = request(&[], r#"{"id":"1"}"#);
    plain.query = Some("a=1&sign=".into());
    let signed = verify::sign(&provider, &Secret::new(SECRET), &plain, at(NOW)).expect("signs");
    let (_, query) =
        signed.path_and_query.as_deref().expect("in the query").split_once('?').expect("a query");
    let mut genuine = plain.clone();
    genuine.query = Some(query.replacen("&sign=&sign=", "&sign=", 1));
    proof(decide(&genuine, &provider, NOW));
    genuine.method = "post".into();
    assert_eq!(reason(decide(&genuine, &provider, NOW)), Reason::Method);
}

#[test]
fn a_reply_that_the_provider_wants_is_given_for_every_success() {
    let rest = format!(
        "{PLAIN}[event]\nformat = \"json\"\nid = \"{{json:/id}}\"\n[reply]\nsuccess = {{ status = 202, text = \"[[accepted]]\" }}\n"
    );
    let provider = acme(&rest, &[]);
    for outcome in
        [Outcome::Accepted, Outcome::Processed, Outcome::Duplicate, Outcome::Ignored, Outcome::Conflict]
    {
        let reply = provider.reply(outcome).expect("special");
        assert_eq!((reply.status, &*reply.body), (202, b"[accepted]".as_slice()));
    }
    assert!(provider.reply(Outcome::Error).is_none());
}
