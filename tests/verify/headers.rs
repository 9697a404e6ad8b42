//! Every shape a signature can come in.

use hookgate::model::Reason::{self, MalformedSignature, MissingSignature, SignatureMismatch};
use hookgate::model::Secret;
use hookgate::verify::{self, Decision, Fetched, Keyring};

use super::support::{
    EVENT, NOW, SECRET, at, decide, keyring, proof, provider, reason, refusal, request, signed, stripe,
    with_header,
};

fn stripe_signature() -> String {
    let request = stripe(EVENT, NOW);
    request.headers.text("stripe-signature").expect("signed").to_owned()
}

#[test]
fn a_signature_of_another_shape_is_refused_with_its_reason() {
    let good = stripe_signature();
    let (t, v1) = good.split_once(',').expect("two pairs");
    let garbage = "z".repeat(1 << 20);
    let many = format!("{t}{}", format!(",{v1}").repeat(1_000));
    let seventeen = format!("{t}{}", format!(",{v1}").repeat(17));
    let upper = format!("{t},v1={}", v1[3..].to_uppercase());
    let table: &[(&str, &[&str], Reason)] = &[
        ("missing", &[], MissingSignature),
        ("empty", &[""], MalformedSignature),
        ("repeated", &[&good, &good], MalformedSignature),
        ("repeated, the first one wrong", &["t=1,v1=00", &good], MalformedSignature),
        ("garbage", &["garbage"], MalformedSignature),
        ("one megabyte", &[&garbage], MalformedSignature),
        ("a thousand v1", &[&many], MalformedSignature),
        ("seventeen v1", &[&seventeen], MalformedSignature),
        ("no v1", &[t], MalformedSignature),
        ("only another scheme", &[&format!("{t},v0={}", &v1[3..])], MalformedSignature),
        ("no t", &[v1], MissingSignature),
        ("t empty", &[&format!("t=,{v1}")], MalformedSignature),
        ("t twice", &[&format!("{t},{t},{v1}")], MalformedSignature),
        ("t with a sign", &[&format!("t=+{NOW},{v1}")], MalformedSignature),
        ("t with a point", &[&format!("t={NOW}.0,{v1}")], MalformedSignature),
        ("t in hex", &[&format!("t=0x6b49d200,{v1}")], MalformedSignature),
        ("t of 309 digits", &[&format!("t={},{v1}", "9".repeat(309))], MalformedSignature),
        ("t beyond 64 bits", &[&format!("t=18446744073709551616,{v1}")], MalformedSignature),
        ("v1 empty", &[&format!("{t},v1=")], SignatureMismatch),
        ("v1 cut", &[&good[..good.len() - 2]], SignatureMismatch),
        ("v1 not hex", &[&format!("{t},v1=zz")], MalformedSignature),
        ("v1 in capitals", &[&upper], MalformedSignature),
        ("v1 of another time", &[&format!("t={},{v1}", NOW - 1)], SignatureMismatch),
    ];
    let genuine = stripe(EVENT, NOW);
    for (name, values, expected) in table {
        let values: Vec<&[u8]> = values.iter().map(|value| value.as_bytes()).collect();
        let request = with_header(&genuine, "stripe-signature", &values);
        assert_eq!(reason(decide(&request, &provider("stripe", &[]), NOW)), *expected, "{name}");
    }
    let binary = with_header(&genuine, "stripe-signature", &[b"t=1,v1=\xff\xfe"]);
    assert_eq!(reason(decide(&binary, &provider("stripe", &[]), NOW)), MalformedSignature);
}

#[test]
fn one_of_several_signatures_is_enough_and_unknown_schemes_count_for_nothing() {
    let good = stripe_signature();
    let (t, v1) = good.split_once(',').expect("two pairs");
    let wrong = "0".repeat(64);
    let genuine = stripe(EVENT, NOW);
    for value in [
        format!("{t},v1={wrong},{v1}"),
        format!("{t},{v1},v1={wrong}"),
        format!("v9=whatever,{t},v0={wrong},{v1}"),
        format!("{t}{},{v1}", format!(",v1={wrong}").repeat(15)),
        format!("{t}, {v1}"),
    ] {
        let request = with_header(&genuine, "stripe-signature", &[value.as_bytes()]);
        let verified = proof(decide(&request, &provider("stripe", &[]), NOW));
        assert_eq!(verified.secret_position(), Some(1));
    }
}

#[test]
fn the_whole_text_of_a_stripe_secret_is_the_key() {
    let provider = provider("stripe", &[]);
    let genuine = stripe(EVENT, NOW);
    for other in [
        "aG9va2dhdGUgdGVzdCBzZWNyZXQgb2YgMzIgYnl0ZXM=",
        "hookgate test secret of 32 bytes",
        &format!("{SECRET}\n"),
    ] {
        let decision =
            verify::verify(&genuine, &provider, &keyring(&provider, &[other]), &Fetched::nothing(), at(NOW));
        assert_eq!(reason(decision), SignatureMismatch);
    }
}

#[test]
fn every_live_secret_is_tried_and_its_position_told() {
    let provider = provider("stripe", &[]);
    let genuine = stripe(EVENT, NOW);
    let keys = keyring(&provider, &["whsec_one", "whsec_two", SECRET]);
    assert_eq!(
        proof(verify::verify(&genuine, &provider, &keys, &Fetched::nothing(), at(NOW))).secret_position(),
        Some(3)
    );
}

#[test]
fn a_secret_counts_until_its_moment_and_no_longer() {
    let provider = provider("stripe", &[]);
    let genuine = stripe(EVENT, NOW);
    let secrets = [(Secret::new("whsec_new"), None), (Secret::new(SECRET), Some(at(NOW)))];
    let keys = Keyring::new(&provider, secrets).expect("fit");
    assert_eq!(
        proof(verify::verify(&genuine, &provider, &keys, &Fetched::nothing(), at(NOW - 1))).secret_position(),
        Some(2)
    );
    assert_eq!(
        reason(verify::verify(&genuine, &provider, &keys, &Fetched::nothing(), at(NOW))),
        SignatureMismatch
    );
}

#[test]
fn an_empty_or_undecodable_secret_makes_no_keyring() {
    for (id, secret) in [
        ("stripe", ""),
        ("github", ""),
        ("standard_webhooks", "whsec_"),
        ("standard_webhooks", "whsec_!!!!"),
        ("standard_webhooks", "whsec_a"),
        ("standard_webhooks", ""),
    ] {
        let provider = provider(id, &[]);
        let error = Keyring::new(&provider, [(Secret::new(secret), None)]).expect_err(secret);
        assert!(secret.len() < 3 || !error.to_string().contains(secret), "{error}");
    }
}

#[test]
fn a_key_of_few_bytes_is_called_weak() {
    let provider = provider("standard_webhooks", &[]);
    let keys =
        Keyring::new(&provider, [(Secret::new(SECRET), None), (Secret::new("whsec_QQ"), None)]).expect("fit");
    assert_eq!(keys.weak(), [2]);
}

#[test]
fn no_rejection_tells_a_secret_or_a_signature() {
    let genuine = stripe(EVENT, NOW);
    let good = stripe_signature();
    for value in [good.replace("v1=", "v1=0"), "nonsense-value".into(), format!("{good},{good}")] {
        let request = with_header(&genuine, "stripe-signature", &[value.as_bytes()]);
        let rejection = refusal(decide(&request, &provider("stripe", &[]), NOW));
        for hidden in [SECRET, &value, &good[20..40]] {
            assert!(!rejection.detail.contains(hidden), "{}", rejection.detail);
        }
    }
}

#[test]
fn githubs_weak_signature_never_stands_in_for_the_strong_one() {
    let provider = provider("github", &[]);
    let body = br#"{"zen":"x"}"#;
    let genuine = signed(&provider, SECRET, &request(&[], *body), at(NOW));
    let wrong =
        with_header(&genuine, "x-hub-signature-256", &[format!("sha256={}", "0".repeat(64)).as_bytes()]);
    let weak = format!("sha1={}", hmac_sha1(body));
    let both = with_header(&wrong, "x-hub-signature", &[weak.as_bytes()]);
    assert_eq!(reason(decide(&both, &provider, NOW)), SignatureMismatch);
    let only_weak = with_header(&both, "x-hub-signature-256", &[]);
    assert_eq!(reason(decide(&only_weak, &provider, NOW)), MissingSignature);
    let as_strong = with_header(&genuine, "x-hub-signature-256", &[weak.as_bytes()]);
    assert_eq!(reason(decide(&as_strong, &provider, NOW)), MalformedSignature);
}

fn hmac_sha1(body: &[u8]) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = <Hmac<sha1::Sha1> as KeyInit>::new_from_slice(SECRET.as_bytes()).expect("any length");
    mac.update(body);
    hex::encode(mac.finalize().into_bytes())
}

#[test]
fn standard_webhooks_takes_the_right_version_out_of_a_list() {
    let provider = provider("standard_webhooks", &[]);
    let genuine = signed(&provider, SECRET, &request(&[], r#"{"type":"a"}"#), at(NOW));
    let good = genuine.headers.text("webhook-signature").expect("signed").to_owned();
    let bare = good.strip_prefix("v1,").expect("v1").to_owned();
    let with = |value: String| with_header(&genuine, "webhook-signature", &[value.as_bytes()]);
    proof(decide(&with(format!("v2,{bare} {good}")), &provider, NOW));
    for value in [bare.clone(), format!("v1a,{bare}"), format!("v2,{bare}"), good.replace('=', "")] {
        assert_eq!(reason(decide(&with(value), &provider, NOW)), MalformedSignature);
    }
    assert_eq!(reason(decide(&with_header(&genuine, "webhook-id", &[]), &provider, NOW)), MissingSignature);
    assert_eq!(
        reason(decide(&with_header(&genuine, "webhook-id", &[b"msg_other"]), &provider, NOW)),
        SignatureMismatch
    );
}

#[test]
fn a_token_is_compared_whole_and_its_scheme_without_case() {
    let provider = provider("generic_token", &[]);
    for (value, genuine) in [
        (format!("Bearer {SECRET}"), true),
        (format!("bearer {SECRET}"), true),
        (format!("Bearer {}", &SECRET[1..]), false),
        (format!("Bearer {SECRET}x"), false),
        ("Bearer ".to_owned(), false),
        (SECRET.to_owned(), false),
    ] {
        let request = request(&[("authorization", &value)], EVENT);
        assert_eq!(matches!(decide(&request, &provider, NOW), Decision::Verified(_)), genuine, "{value}");
    }
}

#[test]
fn basic_authentication_is_a_token_in_base64() {
    let provider = provider("generic_token", &[("prefix", "Basic "), ("encoding", "base64")]);
    let request = request(&[("authorization", "Basic dXNlcjpwYXNz")], EVENT);
    let keys = keyring(&provider, &["user:pass"]);
    proof(verify::verify(&request, &provider, &keys, &Fetched::nothing(), at(NOW)));
    assert_eq!(provider.credential_headers(), ["authorization"]);
}

#[test]
fn a_generic_sender_is_described_by_settings() {
    let provider = provider(
        "generic_hmac",
        &[
            ("header", "X-Acme-Sign"),
            ("prefix", "sig[1]="),
            ("algorithm", "hmac-sha512"),
            ("encoding", "base64"),
            ("key", "{secret|strip:whsec_|unbase64}"),
            ("text", "{header:x-acme-time}|{method}|{url}|{body}"),
            ("timestamp", "{header:x-acme-time}"),
            ("id", "{header:x-acme-id}"),
        ],
    );
    let genuine = signed(&provider, SECRET, &request(&[("x-acme-id", "7")], "{}"), at(NOW));
    assert!(genuine.headers.text("x-acme-sign").is_some_and(|value| value.starts_with("sig[1]=")));
    proof(decide(&genuine, &provider, NOW));
    assert_eq!(reason(decide(&genuine, &provider, NOW + 301)), Reason::StaleTimestamp);
    let mut elsewhere = genuine.clone();
    elsewhere.path = "/other".into();
    assert_eq!(reason(decide(&elsewhere, &provider, NOW)), SignatureMismatch);
    elsewhere.origin = None;
    assert!(refusal(decide(&elsewhere, &provider, NOW)).detail.contains("public_url"));
}

#[test]
fn a_secret_of_another_endpoint_is_recognised_whatever_the_time() {
    let provider = provider("stripe", &[]);
    let genuine = stripe(EVENT, NOW);
    assert!(verify::fits(&genuine, &provider, &keyring(&provider, &["whsec_x", SECRET]), at(NOW + 9_000)));
    assert!(!verify::fits(&genuine, &provider, &keyring(&provider, &["whsec_x"]), at(NOW)));
}

#[test]
fn another_method_is_refused_before_all_else() {
    let mut request = stripe(EVENT, NOW);
    request.method = "PUT".into();
    assert_eq!(reason(decide(&request, &provider("stripe", &[]), NOW)), Reason::Method);
}

#[test]
fn slacks_challenge_is_answered_only_when_it_is_signed() {
    let provider = provider("slack", &[]);
    let body = r#"{"type":"url_verification","token":"x","challenge":"3eZbrw1a"}"#;
    let plain = request(&[("content-type", "application/json")], body);
    assert_eq!(reason(decide(&plain, &provider, NOW)), MissingSignature);
    let Decision::Handshake { reply, verified, .. } =
        decide(&signed(&provider, SECRET, &plain, at(NOW)), &provider, NOW)
    else {
        panic!("not answered")
    };
    assert!(verified);
    assert_eq!((reply.status, &*reply.body), (200, b"3eZbrw1a".as_slice()));
}
