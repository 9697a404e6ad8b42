//! What is fetched before a request can be judged: where it may be, and what each answer means.

use std::sync::Arc;

use bytes::Bytes;
use hookgate::mapping::map;
use hookgate::model::Reason::{self, KeyUnavailable, MissingSignature, SignatureMismatch, UnknownKey};
use hookgate::model::Request;
use hookgate::provider::Provider;
use hookgate::verify::{self, Answer, Decision, Fetched, KeyRequest};
use uuid::Uuid;

use super::support::{NOW, acme, at, keyring, proof, reason, request};

const REST: &str = r#"
[event]
format = "json"
id = "{json:/id}"
"#;

/// The URL of its key is what the request says.
fn by_url(more: &str) -> Arc<Provider> {
    acme(
        &format!(
            r#"[[verify]]
name = "v1"
algorithm = "ed25519"
key = "{{secret|public-key}}"
text = "{{body}}"
signature = {{ from = "{{header:x-sign}}", encoding = "hex" }}
[verify.fetch]
{more}
{REST}"#
        ),
        &[],
    )
}

fn ask(provider: &Provider, header: (&str, &str)) -> Decision {
    let request = request(&[("x-sign", &"00".repeat(64)), header], "{}");
    verify::verify(&request, provider, &keyring(provider, &[]), &Fetched::nothing(), at(NOW))
}

#[track_caller]
fn needed(decision: Decision) -> KeyRequest {
    match decision {
        Decision::Needs(key) => key,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_url_that_a_request_names_is_bounded_by_hosts_and_path() {
    let provider =
        by_url("url = \"{header:x-url}\"\nhosts = [\"keys.*.example.com\"]\npath = \"/certs/*.pem\"");
    for good in ["https://keys.eu.example.com/certs/a.pem", "https://KEYS.eu.example.com:443/certs/b/c.pem"] {
        assert_eq!(needed(ask(&provider, ("x-url", good))).url, good);
    }
    for bad in [
        "http://keys.eu.example.com/certs/a.pem",
        "https://keys.eu.example.com.evil.example/certs/a.pem",
        "https://keys.a.b.example.com/certs/a.pem",
        "https://keys..example.com/certs/a.pem",
        "https://keys.eu.example.com@evil.example/certs/a.pem",
        "https://evil.example\\@keys.eu.example.com/certs/a.pem",
        "https://evil.example#@keys.eu.example.com/certs/a.pem",
        "https://user:word@keys.eu.example.com/certs/a.pem",
        "https://keys.eu.example.com:8443/certs/a.pem",
        "https://keys.eu.example.com:/certs/a.pem",
        "https://keys.eu.example.com/other/a.pem",
        "https://keys.eu.example.com/certs/../secret/a.pem",
        "https://keys.eu.example.com/certs/%2e%2E/secret/a.pem",
        "https://keys.eu.example.com/certs/a.pem?x=1",
        "https://keys.eu.example.com/evil?x=/certs/a.pem",
        "https://keys.eu.example.com/certs/a b.pem",
        "https://169.254.169.254/certs/a.pem",
        "ftp://keys.eu.example.com/certs/a.pem",
        "/certs/a.pem",
        "keys.eu.example.com/certs/a.pem",
    ] {
        assert_eq!(reason(ask(&provider, ("x-url", bad))), UnknownKey, "{bad}");
    }
    let long = format!("https://keys.eu.example.com/certs/{}.pem", "a".repeat(4000));
    assert_eq!(reason(ask(&provider, ("x-url", &long))), UnknownKey);
    assert_eq!(reason(ask(&provider, ("x-other", "1"))), MissingSignature);
}

#[test]
fn a_host_may_be_as_narrow_as_letters_and_digits_within_a_label() {
    let provider = by_url("url = \"{header:x-url}\"\nhosts = [\"sns.+-+-#.example.com\"]");
    for good in ["us-east-1", "AP-southeast-2", "mx-central-10"] {
        let url = format!("https://sns.{good}.example.com/a.pem");
        assert_eq!(needed(ask(&provider, ("x-url", &url))).url, url);
    }
    for bad in [
        "s3",
        "s3-us-west-2",
        "s3-external-1",
        "us-east-1a",
        "us-east-",
        "-east-1",
        "us--1",
        "us-east-1.x",
        "*-*-1",
    ] {
        let url = format!("https://sns.{bad}.example.com/a.pem");
        assert_eq!(reason(ask(&provider, ("x-url", &url))), UnknownKey, "{bad}");
    }
}

#[test]
fn all_spellings_of_a_url_are_one_request_and_other_urls_are_others() {
    let identity = |url: &str| KeyRequest::get(url.to_owned()).identity();
    let known = identity("https://keys.example.com/certs/a~b%2Fc.pem?x=1");
    for same in [
        "HTTPS://KEYS.Example.com/certs/a~b%2Fc.pem?x=1",
        "https://keys.example.com:443/certs/a~b%2Fc.pem?x=1",
        "https://keys.example.com/%63erts/a%7Eb%2fc%2epem?x=%31",
    ] {
        assert_eq!(identity(same), known, "{same}");
    }
    for other in [
        "http://keys.example.com/certs/a~b%2Fc.pem?x=1",
        "https://keys.example.com:444/certs/a~b%2Fc.pem?x=1",
        "https://keys.example.com/certs/a~b/c.pem?x=1",
        "https://keys.example.com/Certs/a~b%2Fc.pem?x=1",
        "https://keys.example.com/certs/a~b%2Fc.pem?x=2",
        "https://keys.example.com/certs/a~b%252Fc.pem?x=1",
    ] {
        assert_ne!(identity(other), known, "{other}");
    }
    for odd in ["%", "%z", "https://a.example/%", "https://a.example/%z1%é"] {
        assert_eq!(identity(odd), identity(odd));
    }
}

#[test]
fn a_value_inside_of_a_url_stays_one_value() {
    let provider =
        by_url("url = \"https://keys.example.com/k/{header:x-id}/x\"\nhosts = [\"keys.example.com\"]");
    let url = |id| needed(ask(&provider, ("x-id", id))).url;
    assert_eq!(url("a-1_.~"), "https://keys.example.com/k/a-1_.~/x");
    assert_eq!(url("a/../b?c#d%2e"), "https://keys.example.com/k/a%2F..%2Fb%3Fc%23d%252e/x");
    for bad in ["..", ".", ""] {
        let no = reason(ask(&provider, ("x-id", bad)));
        assert!([UnknownKey, MissingSignature].contains(&no), "{bad:?}: {no:?}");
    }
}

/// Asks about `{form:id}` with the endpoint's key.
fn asking() -> Arc<Provider> {
    acme(
        r#"[[verify]]
name = "v1"
when = "{json:/id}"
algorithm = "fetch-back"
[verify.fetch]
url = "https://api.example.com/things/{json:/id}"
hosts = ["api.example.com"]
headers = { authorization = "Bearer {secret}" }
require = "{fetched|json:/id} == {json:/id}"
[event]
format = "json"
id = "{json:/id}:{fetched|json:/status}"
"#,
        &[],
    )
}

fn thing() -> Request {
    request(&[("content-type", "application/json")], r#"{"id":"t1"}"#)
}

fn reply(status: u16, body: &str) -> Answer {
    Answer::Reply { status, body: Bytes::copy_from_slice(body.as_bytes()), fresh: true }
}

/// Answers each question in turn.
fn told(answers: &[Answer]) -> (Decision, Vec<KeyRequest>) {
    let provider = asking();
    let ring = keyring(&provider, &["the first api key", "the second api key"]);
    let (mut fetched, mut asked) = (Fetched::nothing(), Vec::new());
    for answer in answers {
        let key = needed(verify::verify(&thing(), &provider, &ring, &fetched, at(NOW)));
        fetched.insert(&key, answer.clone());
        asked.push(key);
    }
    (verify::verify(&thing(), &provider, &ring, &fetched, at(NOW)), asked)
}

#[test]
fn what_the_provider_says_is_part_of_the_event() {
    let (decision, asked) = told(&[reply(200, r#"{"id":"t1","status":"paid"}"#)]);
    let verified = proof(decision);
    assert_eq!(verified.secret_position(), Some(1));
    let events = map(&verified, &asking(), &"e".into(), &[], Uuid::nil()).expect("maps");
    assert_eq!(events[0].key.event_id, "t1:paid");
    assert_eq!(asked[0].headers, [("authorization".to_owned(), "Bearer the first api key".to_owned())]);
    assert!(asked[0].cache.is_none());
    assert!(!format!("{asked:?}").contains("api key"), "a secret is printed");
}

#[test]
fn the_next_secret_is_tried_where_the_provider_does_not_let_one_in() {
    let (decision, asked) = told(&[reply(401, ""), reply(200, r#"{"id":"t1","status":"paid"}"#)]);
    assert_eq!(proof(decision).secret_position(), Some(2));
    assert_eq!(asked[1].headers[0].1, "Bearer the second api key");
    assert_eq!(reason(told(&[reply(401, ""), reply(403, "")]).0), KeyUnavailable);
}

#[test]
fn what_the_provider_does_not_know_is_refused_and_its_trouble_is_ours() {
    let outcomes: [(Answer, Reason); 7] = [
        (reply(404, ""), SignatureMismatch),
        (reply(410, ""), SignatureMismatch),
        (reply(200, r#"{"id":"another","status":"paid"}"#), SignatureMismatch),
        (reply(200, "no JSON"), SignatureMismatch),
        (reply(500, ""), KeyUnavailable),
        (reply(302, ""), KeyUnavailable),
        (Answer::Failed("timeout".into()), KeyUnavailable),
    ];
    for (answer, expected) in outcomes {
        assert_eq!(reason(told(std::slice::from_ref(&answer)).0), expected, "{answer:?}");
    }
}

#[test]
fn a_kept_set_without_the_key_is_asked_for_anew_and_a_new_one_is_believed() {
    let provider = by_url(
        "url = \"https://keys.example.com/jwks\"\nhosts = [\"keys.example.com\"]\nid = \"{header:x-id}\"",
    );
    let set = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"old","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    let request = request(&[("x-sign", &"00".repeat(64)), ("x-id", "new")], "{}");
    let ring = keyring(&provider, &[]);
    let mut fetched = Fetched::nothing();
    let first = needed(verify::verify(&request, &provider, &ring, &fetched, at(NOW)));
    assert!(!first.renew);
    let kept = |fresh| Answer::Reply { status: 200, body: Bytes::from_static(set.as_bytes()), fresh };
    fetched.insert(&first, kept(false));
    let second = needed(verify::verify(&request, &provider, &ring, &fetched, at(NOW)));
    assert!(second.renew && second.url == first.url);
    fetched.insert(&second, kept(true));
    assert_eq!(reason(verify::verify(&request, &provider, &ring, &fetched, at(NOW))), UnknownKey);
}

#[test]
fn an_answer_that_is_no_key_is_our_trouble_and_a_missing_one_the_strangers() {
    let provider = by_url("url = \"https://keys.example.com/k\"\nhosts = [\"keys.example.com\"]");
    let request = request(&[("x-sign", &"00".repeat(64))], "{}");
    for (answer, expected) in [
        (reply(200, "<html>"), KeyUnavailable),
        (reply(404, ""), UnknownKey),
        (Answer::Failed("tls".into()), KeyUnavailable),
    ] {
        let mut fetched = Fetched::nothing();
        let ring = keyring(&provider, &[]);
        let key = needed(verify::verify(&request, &provider, &ring, &fetched, at(NOW)));
        fetched.insert(&key, answer.clone());
        let decision = verify::verify(&request, &provider, &ring, &fetched, at(NOW));
        assert_eq!(reason(decision), expected, "{answer:?}");
    }
}
