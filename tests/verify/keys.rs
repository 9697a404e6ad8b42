//! Public keys: every asymmetric algorithm, in every form in which its key is given.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hookgate::model::{Reason, Secret};
use hookgate::verify::{self, Decision, Fetched, Keyring};

use super::support::{NOW, acme, at, reason, request};

/// Made elsewhere: a key pair each, the signature over [`BODY`].
const CASES: &str = include_str!("keys.json");
const BODY: &str = r#"{"id":"evt_1"}"#;

#[derive(serde::Deserialize)]
struct Case {
    algorithm: String,
    public_key: String,
    signature: String,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(CASES).expect("cases")
}

fn judge(algorithm: &str, key: &str, body: &str, signature: &str) -> Decision {
    judged(algorithm, key, body, signature).expect("a key")
}

/// `None` where the key cannot be the algorithm's.
fn judged(algorithm: &str, key: &str, body: &str, signature: &str) -> Option<Decision> {
    let rest = format!(
        "[[verify]]\nname = \"v1\"\nalgorithm = \"{algorithm}\"\nkey = \"{{secret|public-key}}\"\ntext = \"{{body}}\"\n\
         signature = {{ from = \"{{header:x-sign}}\", encoding = \"base64\" }}\n[event]\nformat = \"json\"\nid = \"{{json:/id}}\"\n"
    );
    let provider = acme(&rest, &[]);
    let ring = Keyring::new(&provider, [(Secret::new(key), None)]).ok()?;
    Some(verify::verify(
        &request(&[("x-sign", signature)], body),
        &provider,
        &ring,
        &Fetched::nothing(),
        at(NOW),
    ))
}

#[test]
fn a_signature_with_the_private_key_fits_the_public_key_in_each_of_its_forms() {
    for case in cases() {
        let lines: Vec<&str> = case.public_key.lines().collect();
        let der = lines[1..lines.len() - 1].concat();
        for key in
            [case.public_key.as_str(), &case.public_key.replace('\n', "\\n"), &der, &format!(" {der}\n")]
        {
            let decision = judge(&case.algorithm, key, BODY, &case.signature);
            assert!(matches!(decision, Decision::Verified(_)), "{}: {decision:?}", case.algorithm);
        }
    }
    assert_eq!(cases().len(), 10);
}

#[test]
fn a_certificate_or_a_jwk_holds_the_key_too() {
    let case = |name: &str| cases().into_iter().find(|case| case.algorithm == name).expect("there");
    let der = |case: &Case| {
        let lines: String = case.public_key.lines().filter(|line| !line.starts_with('-')).collect();
        STANDARD.decode(lines).expect("base64")
    };
    let url = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    // The point stands at the end, 04 and both halves.
    let point = |name: &str, curve: &str, half: usize| {
        let der = der(&case(name));
        let (x, y) = der[der.len() - 2 * half..].split_at(half);
        (name.to_owned(), format!(r#"{{"kty":"EC","crv":"{curve}","x":"{}","y":"{}"}}"#, url(x), url(y)))
    };
    let rsa = |name: &str| {
        // 256 bytes of modulus, then the exponent 65537.
        let der = der(&case(name));
        let modulus = &der[der.len() - 5 - 256..der.len() - 5];
        (name.to_owned(), format!(r#"{{"kty":"RSA","n":"{}","e":"AQAB","use":"sig"}}"#, url(modulus)))
    };
    let ed25519 = der(&case("ed25519"));
    let forms = [
        point("ecdsa-p256-sha256", "P-256", 32),
        point("ecdsa-p384-sha384", "P-384", 48),
        rsa("rsa-sha256"),
        rsa("rsa-sha512"),
        ("ed25519".into(), format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{}"}}"#, url(&ed25519[12..]))),
    ];
    for (algorithm, jwk) in &forms {
        let set = format!(r#"{{"keys":[{{"kty":"unknown"}},{jwk}]}}"#);
        for key in [jwk, &set] {
            let decision = judge(algorithm, key, BODY, &case(algorithm).signature);
            assert!(matches!(decision, Decision::Verified(_)), "{algorithm}: {decision:?}");
        }
        let encrypts = jwk.replace('}', r#","use":"enc"}"#).replace(r#""use":"sig","#, "");
        assert!(judged(algorithm, &encrypts, BODY, &case(algorithm).signature).is_none(), "{algorithm}");
    }
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key");
    let certificate = rcgen::CertificateParams::new(Vec::new()).expect("parameters").self_signed(&key);
    let certificate = certificate.expect("a certificate");
    let random = ring::rand::SystemRandom::new();
    let signing = &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING;
    let pair =
        ring::signature::EcdsaKeyPair::from_pkcs8(signing, key.serialized_der(), &random).expect("a key");
    let signature = STANDARD.encode(pair.sign(&random, BODY.as_bytes()).expect("signs"));
    let other = case("ecdsa-p256-sha256").public_key;
    for key in
        [certificate.pem(), STANDARD.encode(certificate.der()), format!("{}{other}", certificate.pem())]
    {
        let decision = judge("ecdsa-p256-sha256", &key, BODY, &signature);
        assert!(matches!(decision, Decision::Verified(_)), "{decision:?}");
    }
}

#[test]
fn one_changed_byte_or_the_key_of_another_is_refused() {
    for case in cases() {
        let changed = judge(&case.algorithm, &case.public_key, r#"{"id":"evt_2"}"#, &case.signature);
        assert_eq!(reason(changed), Reason::SignatureMismatch, "{}", case.algorithm);
        let signature = STANDARD.decode(&case.signature).expect("base64");
        for at in 0..signature.len() {
            let mut bytes = signature.clone();
            bytes[at] ^= 1;
            let decision = judge(&case.algorithm, &case.public_key, BODY, &STANDARD.encode(bytes));
            assert_eq!(reason(decision), Reason::SignatureMismatch, "{}: byte {at}", case.algorithm);
        }
        for other in cases().iter().filter(|other| other.public_key != case.public_key) {
            // A key of another kind is refused at start already.
            let Some(decision) = judged(&case.algorithm, &other.public_key, BODY, &case.signature) else {
                continue;
            };
            assert_eq!(
                reason(decision),
                Reason::SignatureMismatch,
                "{} by {}",
                case.algorithm,
                other.algorithm
            );
        }
    }
}

#[test]
fn what_is_no_public_key_is_refused_at_start() {
    let rest = "[[verify]]\nname = \"v1\"\nalgorithm = \"rsa-sha256\"\nkey = \"{secret|public-key}\"\ntext = \"{body}\"\n\
                signature = { from = \"{header:x-sign}\", encoding = \"base64\" }\n[event]\nformat = \"opaque\"\nid = \"{body|sha256|hex}\"\n";
    let provider = acme(rest, &[]);
    let der = cases()[0].public_key.lines().nth(1).expect("base64").to_owned();
    for key in [
        "no key",
        "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        &der[..8],
    ] {
        let error = Keyring::new(&provider, [(Secret::new(key), None)]).expect_err("refused").to_string();
        assert!(error.contains("BEGIN PUBLIC KEY"), "{error}");
    }
}
