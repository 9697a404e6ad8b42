//! Tokens (JWS): which algorithm with which key, what a header may not ask for, what the claims say.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hookgate::mapping::map;
use hookgate::model::{Reason, Secret};
use hookgate::provider::Provider;
use hookgate::verify::{self, Decision, Fetched, Keyring};
use ring::hmac;
use uuid::Uuid;

use super::support::{NOW, acme, at, keyring, proof, reason, refusal, request, signed, with_header};

const SHARED: &str = "a-shared-secret-of-more-than-16-bytes";
const BODY: &str = r#"{"id":"evt_1"}"#;

/// A definition whose `[[verify]]` holds these lines.
fn definition(lines: &str) -> Arc<Provider> {
    let rest = format!(
        "[settings.audience]\ndescription = \"who it is for\"\ndefault = \"me\"\n\
         [[verify]]\nname = \"v1\"\nalgorithm = \"jws\"\nsignature = {{ from = \"{{header:authorization}}\", pattern = \"Bearer {{signature}}\" }}\n{lines}\n\
         [sign]\nclaims = {{ jti = \"${{uuid}}\", aud = \"${{audience}}\", iat = \"${{now}}\", exp = \"${{soon}}\", sha256 = \"{{body|sha256|hex}}\" }}\n\
         [event]\nformat = \"json\"\nid = [\"{{claim:/jti}}\", \"{{json:/id}}\"]\ntype = \"{{claim:/kind}}\"\naccount = \"{{jose:/kid}}\"\n"
    );
    acme(&rest, &[])
}

/// A token over these texts, whatever they are.
fn token(header: &str, claims: &str, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(text.as_bytes()));
    format!("{text}.{signature}")
}

fn shared(secret: &str) -> impl Fn(&[u8]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    move |text| hmac::sign(&key, text).as_ref().to_vec()
}

fn hs256(claims: &str) -> String {
    token(r#"{"alg":"HS256"}"#, claims, shared(SHARED))
}

fn decide(provider: &Provider, secret: &str, token: &str) -> Decision {
    let sent = request(&[("authorization", &format!("Bearer {token}"))], BODY);
    verify::verify(&sent, provider, &keyring(provider, &[secret]), &Fetched::nothing(), at(NOW))
}

#[derive(serde::Deserialize)]
struct Form {
    kind: String,
    pairs: Vec<Pair>,
}

#[derive(Clone, serde::Deserialize)]
struct Pair {
    verify: String,
    sign: String,
}

fn pairs(kind: &str) -> Vec<Pair> {
    let forms: Vec<Form> = serde_json::from_str(include_str!("pairs.json")).expect("pairs");
    forms.into_iter().find(|form| form.kind == kind).expect("a kind").pairs
}

#[test]
fn a_proved_token_names_the_event() {
    let provider = definition("allow = \"HS256\"");
    let text = token(r#"{"alg":"HS256","kid":"k1"}"#, r#"{"jti":"j-1","kind":"paid"}"#, shared(SHARED));
    let verified = proof(decide(&provider, SHARED, &text));
    let events = map(&verified, &provider, &"in".into(), &[], Uuid::nil()).expect("maps");
    assert_eq!(events[0].key.event_id, "j-1");
    assert_eq!(events[0].event_type, "paid");
    assert_eq!(events[0].account.as_deref(), Some("k1"));
    assert_eq!(reason(decide(&provider, "another-secret-of-many-bytes", &text)), Reason::SignatureMismatch);
}

#[test]
fn the_claims_as_a_whole_can_be_the_document() {
    let rest = "[[verify]]\nname = \"v1\"\nalgorithm = \"jws\"\nallow = \"HS256\"\nsignature = { from = \"{json:/signed}\" }\n\
                [event]\nformat = \"json\"\ndocument = \"{claim:}\"\nid = \"{json:/data/id}\"\ntype = \"{json:/type}\"\n";
    let provider = acme(rest, &[]);
    let text = hs256(r#"{"type":"renewed","data":{"id":"d-1"}}"#);
    let sent = request(&[], format!(r#"{{"signed":"{text}","data":{{"id":"forged"}}}}"#));
    let verified =
        proof(verify::verify(&sent, &provider, &keyring(&provider, &[SHARED]), &Fetched::nothing(), at(NOW)));
    let events = map(&verified, &provider, &"in".into(), &[], Uuid::nil()).expect("maps");
    assert_eq!((events[0].key.event_id.as_str(), events[0].event_type.as_str()), ("d-1", "renewed"));
    let facts = provider.description();
    assert_eq!((&facts["event"]["id_signed"], &facts["event"]["type_signed"]), (&true.into(), &true.into()));
}

#[test]
fn a_public_key_never_counts_as_a_shared_secret() {
    let mixed = definition("allow = [\"HS256\", \"RS256\", \"ES256\"]");
    for kind in ["RSA as PEM", "P-256 as PEM"] {
        let pem = pairs(kind)[0].verify.clone();
        let one_line: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        for (key, known) in [(&pem, &pem), (&pem, &one_line), (&one_line, &one_line)] {
            let forged = token(r#"{"alg":"HS256"}"#, "{}", shared(known));
            assert_eq!(reason(decide(&mixed, key, &forged)), Reason::SignatureMismatch, "{kind}");
        }
        let only_shared = definition("allow = \"HS256\"");
        let refused = Keyring::new(&only_shared, [(Secret::new(pem), None)]).expect_err("refused");
        assert!(refused.to_string().contains("public key"), "{refused}");
    }
    let only_public = definition("allow = \"RS256\"");
    assert!(Keyring::new(&only_public, [(Secret::new(SHARED), None)]).is_err());
    assert!(matches!(decide(&mixed, SHARED, &hs256("{}")), Decision::Verified(_)));
}

#[test]
fn what_a_header_asks_for_is_not_followed() {
    let provider = definition("allow = \"HS256\"");
    let malformed = [
        (r#"{"alg":"none"}"#, "another algorithm than HS256"),
        (r#"{"alg":"HS512"}"#, "another algorithm than HS256"),
        (r#"{"alg":"hs256"}"#, "another algorithm than HS256"),
        (r#"{"typ":"JWT"}"#, "without `alg`"),
        (r#"{"alg":"HS256","crit":["exp"]}"#, "`crit`"),
        (r#"{"alg":"HS256","crit":null}"#, "`crit`"),
        (r#"["HS256"]"#, "no JSON object"),
        (r#"{"alg":"HS256""#, "no JSON object"),
    ];
    for (header, why) in malformed {
        let rejection = refusal(decide(&provider, SHARED, &token(header, "{}", shared(SHARED))));
        assert_eq!(rejection.reason, Reason::MalformedSignature, "{header}");
        assert!(rejection.detail.contains(why), "{header}: {}", rejection.detail);
    }
    // A key in the header is nobody's, and a place to fetch one from is not asked.
    let own = r#"{"alg":"HS256","jwk":{"kty":"oct","k":"YXR0YWNrZXI"},"jku":"https://evil.example/jwks"}"#;
    let forged = token(own, "{}", shared("attacker"));
    assert_eq!(reason(decide(&provider, SHARED, &forged)), Reason::SignatureMismatch);
}

#[test]
fn a_token_has_one_spelling() {
    let provider = definition("allow = \"HS256\"");
    let genuine = hs256("{}");
    assert!(matches!(decide(&provider, SHARED, &genuine), Decision::Verified(_)));
    let (text, signature) = genuine.rsplit_once('.').expect("parts");
    let standard = signature.replace('-', "+").replace('_', "/");
    let mut others = vec![format!("{genuine}="), format!("{genuine}.x"), text.to_owned(), format!("{text}.")];
    others.extend((standard != signature).then(|| format!("{text}.{standard}")));
    // The last character of 32 bytes holds four bits: three other spellings of it would decode alike.
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let last = alphabet.find(&signature[signature.len() - 1..]).expect("base64url");
    others.push(format!("{}{}", &genuine[..genuine.len() - 1], &alphabet[last ^ 1..=last ^ 1]));
    for other in others {
        assert!(matches!(decide(&provider, SHARED, &other), Decision::Rejected(_)), "{other}");
    }
}

#[test]
fn one_changed_character_is_refused() {
    let provider = definition("allow = \"HS256\"");
    let genuine = hs256(r#"{"jti":"j-1"}"#);
    for at in 0..genuine.len() {
        let mut bytes = genuine.clone().into_bytes();
        bytes[at] ^= 1;
        let changed = String::from_utf8(bytes).expect("ASCII");
        assert!(matches!(decide(&provider, SHARED, &changed), Decision::Rejected(_)), "character {at}");
    }
}

#[test]
fn the_end_and_the_beginning_are_judged_wherever_they_are() {
    let provider = definition("allow = \"HS256\"");
    let strict = definition("allow = \"HS256\"\nleeway = \"0s\"");
    let table = [
        ("exp", NOW - 59, None, Some(Reason::StaleTimestamp)),
        ("exp", NOW - 60, Some(Reason::StaleTimestamp), Some(Reason::StaleTimestamp)),
        ("exp", NOW, None, Some(Reason::StaleTimestamp)),
        ("exp", NOW + 1, None, None),
        ("nbf", NOW, None, None),
        ("nbf", NOW + 1, None, Some(Reason::FutureTimestamp)),
        ("nbf", NOW + 60, None, Some(Reason::FutureTimestamp)),
        ("nbf", NOW + 61, Some(Reason::FutureTimestamp), Some(Reason::FutureTimestamp)),
    ];
    for (claim, moment, usual, without) in table {
        let text = hs256(&format!(r#"{{"{claim}":{moment}}}"#));
        for (provider, expected) in [(&provider, usual), (&strict, without)] {
            let seen = match decide(provider, SHARED, &text) {
                Decision::Rejected(rejection) => Some(rejection.reason),
                _ => None,
            };
            assert_eq!(seen, expected, "{claim} {}", moment - NOW);
        }
    }
    assert!(matches!(
        decide(&provider, SHARED, &hs256(&format!(r#"{{"exp":{NOW}.7}}"#))),
        Decision::Verified(_)
    ));
    for claims in [
        r#"{"exp":99999999999.5e-9}"#,
        r#"{"exp":"99999999999.x"}"#,
        r#"{"exp":"never"}"#,
        r#"{"exp":null}"#,
        r#"{"exp":[]}"#,
        r#"{"exp":-1}"#,
        r#"{"nbf":""}"#,
    ] {
        assert_eq!(reason(decide(&provider, SHARED, &hs256(claims))), Reason::MalformedSignature, "{claims}");
    }
}

#[test]
fn a_claim_can_be_the_time_the_hash_of_the_body_and_who_it_is_for() {
    let provider = definition(
        "allow = \"HS256\"\ntimestamp = { value = \"{claim:/iat}\", unit = \"seconds\", past = \"300s\", future = \"60s\" }\n\
         require = [\"${audience} in {claim_raw:/aud}\", \"{claim:/sha256} == {body|sha256|hex}\"]",
    );
    let hash = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(BODY));
    let claims =
        |aud: &str, iat: i64, hash: &str| format!(r#"{{"aud":{aud},"iat":{iat},"sha256":"{hash}"}}"#);
    let reason_of = |text: String| match decide(&provider, SHARED, &hs256(&text)) {
        Decision::Rejected(rejection) => Some(rejection.reason),
        _ => None,
    };
    for aud in [r#""me""#, r#"["you","me"]"#] {
        assert_eq!(reason_of(claims(aud, NOW, &hash)), None, "{aud}");
    }
    for aud in [
        r#""you""#,
        r#"["you"]"#,
        "[]",
        "null",
        r#"[["me"]]"#,
        r#"{"me":"me"}"#,
        r#""\"me\"""#,
        r#""me,you""#,
    ] {
        assert_eq!(reason_of(claims(aud, NOW, &hash)), Some(Reason::Precondition), "{aud}");
    }
    assert_eq!(reason_of(claims(r#""me""#, NOW - 301, &hash)), Some(Reason::StaleTimestamp));
    assert_eq!(reason_of(claims(r#""me""#, NOW + 61, &hash)), Some(Reason::FutureTimestamp));
    assert_eq!(reason_of(claims(r#""me""#, NOW, &"0".repeat(64))), Some(Reason::Precondition));
    assert_eq!(reason_of(r#"{"aud":"me"}"#.into()), Some(Reason::MissingSignature));
}

#[test]
fn every_algorithm_is_signed_with_the_private_key_and_fits_the_public_one_alone() {
    let table = [
        ("RS256", "RSA as PEM"),
        ("RS384", "RSA as PEM"),
        ("RS512", "RSA as PEM"),
        ("PS256", "RSA as PEM"),
        ("PS384", "RSA as PEM"),
        ("PS512", "RSA as PEM"),
        ("ES256", "P-256 as PEM"),
    ];
    for (algorithm, kind) in table {
        let provider = definition(&format!("allow = \"{algorithm}\""));
        let [ours, other] = &pairs(kind)[..] else { panic!("{kind}: two pairs") };
        let sent = request(&[], BODY);
        let genuine = signed(&provider, &ours.sign, &sent, at(NOW));
        let judge = |request, pair: &Pair| {
            let ring = keyring(&provider, &[&pair.verify]);
            verify::verify(request, &provider, &ring, &Fetched::nothing(), at(NOW))
        };
        assert!(matches!(judge(&genuine, ours), Decision::Verified(_)), "{algorithm}");
        assert_eq!(reason(judge(&genuine, other)), Reason::SignatureMismatch, "{algorithm}");
        // A public key, or the key of another kind, signs nothing.
        let wrong = [&ours.verify, &pairs("Ed25519 as hex")[0].sign];
        for wrong in wrong {
            assert!(
                verify::sign(&provider, &Secret::new(wrong.as_str()), &sent, at(NOW)).is_err(),
                "{algorithm}"
            );
        }
    }
    for algorithm in ["HS256", "HS384", "HS512"] {
        let provider = definition(&format!("allow = \"{algorithm}\""));
        let genuine = signed(&provider, SHARED, &request(&[], BODY), at(NOW));
        let ring = keyring(&provider, &[SHARED]);
        let decision = verify::verify(&genuine, &provider, &ring, &Fetched::nothing(), at(NOW));
        assert!(matches!(decision, Decision::Verified(_)), "{algorithm}: {decision:?}");
    }
}

#[test]
fn an_ed25519_seed_signs_tokens_for_the_jwk() {
    let provider = definition("allow = \"EdDSA\"");
    let [ours, other] = &pairs("Ed25519 as hex")[..] else { panic!("two pairs") };
    let jwk = |pair: &Pair| {
        let x = URL_SAFE_NO_PAD.encode(hex::decode(&pair.verify).expect("hex"));
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}"#)
    };
    let genuine = signed(&provider, &ours.sign, &request(&[], BODY), at(NOW));
    let judge = |key: &str| {
        verify::verify(&genuine, &provider, &keyring(&provider, &[key]), &Fetched::nothing(), at(NOW))
    };
    assert!(matches!(judge(&jwk(ours)), Decision::Verified(_)));
    assert_eq!(reason(judge(&jwk(other))), Reason::SignatureMismatch);
}

#[test]
fn of_a_set_of_keys_the_one_that_the_header_names_is_used() {
    let provider = definition("allow = \"EdDSA\"");
    let [first, second] = &pairs("Ed25519 as hex")[..] else { panic!("two pairs") };
    let jwk = |pair: &Pair, kid: &str| {
        let x = URL_SAFE_NO_PAD.encode(hex::decode(&pair.verify).expect("hex"));
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}","kid":"{kid}"}}"#)
    };
    let unknown =
        r#"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA","kid":"k3"},{"kty":"oct","k":"AAAA","kid":"k4"}"#;
    let set = format!(r#"{{"keys":[{},{unknown},{}]}}"#, jwk(first, "k1"), jwk(second, "k2"));
    let seed = hex::decode(&second.sign).expect("hex");
    let pair = ring::signature::Ed25519KeyPair::from_seed_unchecked(&seed).expect("a seed");
    let by_second = |header: &str| token(header, "{}", |text| pair.sign(text).as_ref().to_vec());
    for header in [r#"{"alg":"EdDSA","kid":"k2"}"#, r#"{"alg":"EdDSA"}"#, r#"{"alg":"EdDSA","kid":"k9"}"#] {
        assert!(matches!(decide(&provider, &set, &by_second(header)), Decision::Verified(_)), "{header}");
    }
    let named_first = by_second(r#"{"alg":"EdDSA","kid":"k1"}"#);
    assert_eq!(reason(decide(&provider, &set, &named_first)), Reason::SignatureMismatch);
    let none = format!(r#"{{"keys":[{unknown}]}}"#);
    assert!(Keyring::new(&provider, [(Secret::new(none), None)]).is_err());
}

#[test]
fn a_long_token_is_read_and_a_longer_one_is_not() {
    let provider = definition("allow = \"HS256\"");
    let of = |length: usize| hs256(&format!(r#"{{"jti":"j-1","more":"{}"}}"#, "x".repeat(length)));
    assert!(matches!(decide(&provider, SHARED, &of(60_000)), Decision::Verified(_)));
    assert_eq!(reason(decide(&provider, SHARED, &of(120_000))), Reason::MalformedSignature);
}

#[test]
fn two_tokens_or_none_are_refused() {
    let provider = definition("allow = \"HS256\"");
    let ring = keyring(&provider, &[SHARED]);
    let value = format!("Bearer {}", hs256("{}"));
    let once = request(&[("authorization", &value)], BODY);
    let twice = with_header(&once, "authorization", &[value.as_bytes(), value.as_bytes()]);
    for (sent, expected) in
        [(twice, Reason::MalformedSignature), (request(&[], BODY), Reason::MissingSignature)]
    {
        let decision = verify::verify(&sent, &provider, &ring, &Fetched::nothing(), at(NOW));
        assert_eq!(reason(decision), expected);
    }
}
