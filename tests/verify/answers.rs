//! Answers to challenges that are made with the secret, and that nobody can use them to have an event signed.

use std::sync::Arc;

use sha2::Digest as _;

use hookgate::model::{Reason, Reply, Request};
use hookgate::provider::Provider;
use hookgate::verify::{Decision, Fetched};

use super::support::{NOW, acme, at, decide, keyring, provider, reason, request, signed};

fn answer(decision: Decision) -> Reply {
    match decision {
        Decision::Handshake { reply, .. } => reply,
        other => panic!("not answered: {other:?}"),
    }
}

fn challenge(token: &str) -> Request {
    let mut request = request(&[], "");
    request.method = "GET".into();
    request.query = Some(serde_urlencoded::to_string([("crc_token", token)]).expect("a query"));
    request
}

fn token_of(reply: &Reply) -> String {
    let body: serde_json::Value = serde_json::from_slice(&reply.body).expect("JSON");
    body["response_token"].as_str().expect("a text").to_owned()
}

#[test]
fn a_challenge_is_answered_with_the_first_live_secret() {
    let x = provider("x_twitter", &[]);
    let reply = answer(decide(&challenge("MDFkNzU1ZDItNjRiYi00Yw=="), &x, NOW));
    assert!(token_of(&reply).starts_with("sha256="));
    let later = Some(at(NOW));
    let secret = |text: &str| hookgate::model::Secret::new(text.as_bytes());
    let ended = hookgate::verify::Keyring::new(&x, [(secret("the old secret"), later)]).expect("fits");
    let decision = hookgate::verify::verify(&challenge("abc"), &x, &ended, &Fetched::nothing(), at(NOW));
    assert_eq!(reason(decision), Reason::HandshakeMismatch);
    let both = [(secret("the old secret"), later), (secret("the new secret"), None)];
    let both = hookgate::verify::Keyring::new(&x, both).expect("fits");
    let new = answer(hookgate::verify::verify(&challenge("abc"), &x, &both, &Fetched::nothing(), at(NOW)));
    let only = answer(hookgate::verify::verify(
        &challenge("abc"),
        &x,
        &keyring(&x, &["the new secret"]),
        &Fetched::nothing(),
        at(NOW),
    ));
    assert_eq!(token_of(&new), token_of(&only));
}

#[test]
fn no_answer_can_be_used_as_the_signature_of_an_event() {
    let x = provider("x_twitter", &[]);
    let long = "a".repeat(201);
    for text in
        [r#"{"for_user_id":"1"}"#, "v0:1:{}", "a b", "a\nb", "1800000000,a", "[1]", "\"a\"", "", &long]
    {
        assert!(matches!(decide(&challenge(text), &x, NOW), Decision::Rejected(_)), "{text} was signed");
    }
    // What is answered is never believed, whatever the definition makes of such a body.
    for text in ["12345", "true", "a.b~c", &"a".repeat(200)] {
        let signature = token_of(&answer(decide(&challenge(text), &x, NOW)));
        let forged = request(&[("x-twitter-webhooks-signature", &signature)], text);
        assert_eq!(reason(decide(&forged, &x, NOW)), Reason::SignatureMismatch, "{text}");
    }
    let event = r#"{"for_user_id":"1","follow_events":[{"type":"follow"}]}"#;
    let genuine = signed(&x, super::support::SECRET, &request(&[], event), at(NOW));
    assert!(matches!(decide(&genuine, &x, NOW), Decision::Verified(_)));
}

#[test]
fn a_digest_of_several_values_is_an_answer_too() {
    let rest = r#"[request]
methods = ["GET", "POST"]
[settings.verify_token]
description = "the token that you made up"
example = "example"
secret = true
[[verify]]
name = "v1"
algorithm = "hmac-sha256"
text = "{body}"
signature = { from = "{header:x-sign}", encoding = "hex" }
[event]
format = "json"
id = "{json:/id}"
[[handshake]]
name = "challenge"
signed = false
when = ["{method} == GET", "{query:challenge_code} or {query:code}"]
challenge = "{query:challenge_code?}{query:code?}${verify_token}{url|before:?}"
reply = { status = 200, json = { challengeResponse = "{challenge|sha256|hex}" } }
"#;
    let acme: Arc<Provider> = acme(rest, &[("verify_token", "secret-token")]);
    for name in ["challenge_code", "code"] {
        let mut ask = request(&[], "");
        ask.method = "GET".into();
        ask.query = Some(format!("{name}=123"));
        let reply = answer(decide(&ask, &acme, NOW));
        let digest = sha2::Sha256::digest("123secret-tokenhttps://hooks.example.com/hooks");
        let expected = format!(r#"{{"challengeResponse":"{}"}}"#, hex::encode(digest));
        assert_eq!(std::str::from_utf8(&reply.body), Ok(expected.as_str()));
    }
}
