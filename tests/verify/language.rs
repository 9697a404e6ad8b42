//! What the language can say beyond the presets: batches, challenges, several places, plain hashes.

use hookgate::mapping::map;
use hookgate::model::{NewEvent, Outcome, Reason, Rejection, Secret};
use hookgate::provider::Provider;
use hookgate::verify::{self, Decision};
use uuid::Uuid;

use super::support::{NOW, SECRET, acme, at, decide, proof, reason, request, signed, with_header};

const PLAIN: &str = r#"[[verify]]
name = "v1"
algorithm = "hmac-sha256"
text = "{body}"
signature = { from = "{header:x-sign}", encoding = "hex" }
"#;

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
            ("7-1", "a", 1, br#"{"id":1,"kind":"a"}"#.as_slice()),
            ("7-2", "b", 2, br#"{"id" : 2,"kind":"b"}"#.as_slice()),
            ("7-3", "c", 3, br#"{"id":3,"kind":"c"}"#.as_slice()),
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
    let Decision::Handshake { reply, verified, .. } = ask(good) else { panic!("not answered") };
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

#[test]
fn of_several_paths_those_that_are_there_count_and_an_item_knows_what_holds_it() {
    let event = "[event]\nformat = \"json\"\nid = [\"{parent:/page}-{json:/id}\", \"{raw:|sha256|hex}\"]\ntype = [\"{raw:/text|then:message}\", \"other\"]\n\
                 occurred_at = { value = [\"{json:/at}\", \"{json:/time}\"], unit = \"seconds\" }\n";
    let paths = "[batch]\nwhen = \"!{header:x-one}\"\nitems = [\"/entry/*/changes/*\", \"/entry/*/messages/*\", \"\"]\n";
    let provider = acme(&format!("{PLAIN}{event}{paths}"), &[]);
    let ids = |body: &str| {
        let events = mapped(&provider, body).expect("maps");
        events.iter().map(|event| format!("{} {}", event.key.event_id, event.event_type)).collect::<Vec<_>>()
    };
    let both = r#"{"entry":[{"page":1,"messages":[{"id":1,"text":{}}]},{"page":2,"changes":[{"id":1}],"messages":[{"id":2}]}]}"#;
    assert_eq!(ids(both), ["2-1 other", "1-1 message", "2-2 other"]);
    assert!(ids(r#"{"entry":[]}"#).is_empty());
    assert!(ids(r#"{"entry":[{"page":1,"messages":[]}]}"#).is_empty());
    assert_eq!(ids(r#"{"page":7,"id":8}"#), ["7-8 other"]);
    // Genuine, but of a kind that the paths do not know: never taken for an empty batch.
    let unknown = r#"{"entry":[{"page":1,"standby":[{"id":1}]}]}"#;
    assert_eq!(ids(unknown).len(), 1);
    let request = request(&[("x-one", "1")], both);
    let genuine = signed(&provider, SECRET, &request, at(NOW));
    let events = map(&proof(decide(&genuine, &provider, NOW)), &provider, &"e".into(), &[], Uuid::nil());
    assert_eq!(events.expect("one event").len(), 1);
    let timed = mapped(&provider, r#"{"page":1,"id":1,"time":1800000000.75}"#).expect("maps");
    assert_eq!(timed[0].occurred_at, Some(at(1_800_000_000)));
}

#[test]
fn events_without_an_id_are_told_apart_by_arrival() {
    let ids = |id: &str, when: i64| {
        let provider = acme(&format!("{PLAIN}[event]\nformat = \"json\"\nid = \"{id}\"\n"), &[]);
        let genuine = signed(&provider, SECRET, &request(&[], "{}"), at(when));
        let verified = proof(decide(&genuine, &provider, when));
        [1, 2].map(|request| {
            let events = map(&verified, &provider, &"e".into(), &[], Uuid::from_u128(request)).expect("maps");
            events[0].key.event_id.clone()
        })
    };
    let [first, second] = ids("{unique}", NOW);
    assert_ne!(first, second);
    let start = NOW - NOW.rem_euclid(60);
    assert_eq!(ids("{received:60s}", start), ids("{received:60s}", start + 59));
    assert_ne!(ids("{received:60s}", start), ids("{received:60s}", start + 60));
}

#[test]
fn a_rejection_has_the_status_and_headers_that_the_definition_says() {
    let rest = format!(
        "{PLAIN}[event]\nformat = \"json\"\nid = \"{{json:/id}}\"\n[reply]\nrejected = 403\nrefused = 404\nrejected_empty = true\n\
         rejected_headers = {{ www-authenticate = 'Basic realm=\"webhook\"' }}\n"
    );
    let provider = acme(&rest, &[]);
    assert_eq!(provider.rejection_status(Reason::SignatureMismatch), 403);
    assert_eq!(provider.rejection_status(Reason::HandshakeMismatch), 404);
    assert!(provider.rejects_without_body());
    let [(name, value)] = provider.rejection_headers() else { panic!("one header") };
    assert_eq!(
        (name.as_str(), value.as_bytes()),
        ("www-authenticate", b"Basic realm=\"webhook\"".as_slice())
    );
}

#[test]
fn a_header_that_may_come_several_times_is_read_each_time() {
    let rest = |repeated: bool| {
        let repeated = format!("encoding = \"hex\", repeated = {repeated} }}");
        let event = "[event]\nformat = \"json\"\nid = \"{json:/id}\"\n";
        acme(&format!("{}{event}", PLAIN.replace("encoding = \"hex\" }", &repeated)), &[])
    };
    let provider = rest(true);
    let genuine = signed(&provider, SECRET, &request(&[], r#"{"id":1}"#), at(NOW));
    let right = genuine.headers.first("x-sign").expect("signed").to_vec();
    let wrong = "00".repeat(32).into_bytes();
    for values in [vec![&right[..]], vec![&right, &wrong], vec![&wrong, &wrong, &right]] {
        proof(decide(&with_header(&genuine, "x-sign", &values), &provider, NOW));
    }
    let neither = with_header(&genuine, "x-sign", &[&wrong, &wrong]);
    assert_eq!(reason(decide(&neither, &provider, NOW)), Reason::SignatureMismatch);
    let mut many = vec![&wrong[..]; 16];
    many.push(&right);
    let many = with_header(&genuine, "x-sign", &many);
    assert_eq!(reason(decide(&many, &provider, NOW)), Reason::MalformedSignature);
    let twice = with_header(&genuine, "x-sign", &[&right, &wrong]);
    assert_eq!(reason(decide(&twice, &rest(false), NOW)), Reason::MalformedSignature);
}
