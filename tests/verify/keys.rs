//! Public keys: every asymmetric algorithm, in every form in which its key is given.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hookgate::model::{Reason, Secret};
use hookgate::verify::{self, Decision, Fetched, Keyring};

use super::support::{NOW, acme, at, reason, request};

/// Made with `openssl`: a key pair each, the signature over [`BODY`].
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
    assert_eq!(cases().len(), 5);
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
