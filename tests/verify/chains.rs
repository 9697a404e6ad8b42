//! Keys in certificates (`x5c`): roots, order, extensions, validity.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hookgate::model::{Reason, Rejection};
use hookgate::provider::Provider;
use hookgate::verify::{self, Decision, Fetched, Keyring};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, IsCa, KeyPair,
    PKCS_ECDSA_P256_SHA256,
};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};

use super::support::{NOW, acme, at, refusal, request};

const LEAF: [u64; 5] = [1, 2, 840, 99_999, 1];
const INTERMEDIATE: [u64; 5] = [1, 2, 840, 99_999, 2];

/// A root, a certificate between, and a signer.
struct Authority {
    root: Vec<u8>,
    intermediate: Vec<u8>,
    leaf: Vec<u8>,
    signer: KeyPair,
}

fn key() -> KeyPair {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key")
}

fn params(name: &str, authority: bool, oid: Option<&[u64]>) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.not_before = rcgen::date_time_ymd(2026, 1, 1);
    params.not_after = rcgen::date_time_ymd(2028, 1, 1);
    if authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    // DER's NULL.
    let extension = oid.map(|oid| CustomExtension::from_oid_content(oid, vec![5, 0]));
    params.custom_extensions.extend(extension);
    params
}

impl Authority {
    fn new(leaf_oid: Option<&[u64]>, intermediate_oid: Option<&[u64]>) -> Self {
        let root = CertifiedIssuer::self_signed(params("root", true, None), key()).expect("a root");
        let between = CertifiedIssuer::signed_by(params("between", true, intermediate_oid), key(), &root);
        let between = between.expect("a certificate");
        let signer = key();
        let leaf = params("signer", false, leaf_oid).signed_by(&signer, &between).expect("a certificate");
        Self {
            root: root.der().to_vec(),
            intermediate: between.der().to_vec(),
            leaf: leaf.der().to_vec(),
            signer,
        }
    }

    /// As Apple has them.
    fn usual() -> Self {
        Self::new(Some(&LEAF), Some(&INTERMEDIATE))
    }

    fn token(&self, certificates: &[&[u8]]) -> String {
        let listed: Vec<String> = certificates.iter().map(|der| STANDARD.encode(der)).collect();
        self.token_with(&serde_json::json!({ "alg": "ES256", "x5c": listed }))
    }

    fn token_with(&self, header: &serde_json::Value) -> String {
        let text = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(header.to_string()),
            URL_SAFE_NO_PAD.encode(r#"{"jti":"j-1"}"#)
        );
        let random = SystemRandom::new();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, self.signer.serialized_der(), &random);
        let signature = pair.expect("a key").sign(&random, text.as_bytes()).expect("signs");
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn provider(&self) -> Arc<Provider> {
        definition(&STANDARD.encode(&self.root))
    }
}

fn definition(root: &str) -> Arc<Provider> {
    acme(
        &format!(
            "[[verify]]\nname = \"x5c\"\nalgorithm = \"jws\"\nallow = \"ES256\"\nsignature = {{ from = \"{{json:/signed}}\" }}\n\
             [verify.chain]\nroots = \"{root}\"\nleaf_oid = \"1.2.840.99999.1\"\nintermediate_oid = \"1.2.840.99999.2\"\n\
             [event]\nformat = \"json\"\nid = \"{{claim:/jti}}\"\n"
        ),
        &[],
    )
}

fn judge(provider: &Provider, token: &str, now: i64, roots: &[&str]) -> Decision {
    let sent = request(&[], format!(r#"{{"signed":"{token}"}}"#));
    let roots = roots.iter().map(|root| (hookgate::model::Secret::new(root.as_bytes()), None));
    let ring = Keyring::new(provider, roots).expect("roots");
    verify::verify(&sent, provider, &ring, &Fetched::nothing(), at(now))
}

#[track_caller]
fn refused(provider: &Provider, token: &str, reason: Reason, why: &str) {
    let rejection: Rejection = refusal(judge(provider, token, NOW, &[]));
    assert_eq!(rejection.reason, reason, "{}", rejection.detail);
    assert!(rejection.detail.contains(why), "{}", rejection.detail);
}

#[test]
fn a_chain_to_the_definitions_root_proves_a_token_without_any_secret() {
    let ours = Authority::usual();
    let provider = ours.provider();
    assert!(!provider.needs_secret());
    for chain in
        [vec![&ours.leaf[..], &ours.intermediate, &ours.root], vec![&ours.leaf[..], &ours.intermediate]]
    {
        match judge(&provider, &ours.token(&chain), NOW, &[]) {
            Decision::Verified(verified) => assert_eq!(verified.secret_position(), None),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_chain_to_another_root_proves_nothing_even_beside_the_right_one() {
    let (ours, theirs) = (Authority::usual(), Authority::usual());
    let provider = ours.provider();
    let chains = [
        vec![&theirs.leaf[..], &theirs.intermediate, &theirs.root],
        vec![&theirs.leaf[..], &theirs.intermediate, &ours.root],
        vec![&theirs.leaf[..], &ours.intermediate, &ours.root],
    ];
    for chain in chains {
        refused(&provider, &theirs.token(&chain), Reason::UnknownKey, "chain");
    }
    // Our certificates around their signature.
    let token = theirs.token(&[&ours.leaf, &ours.intermediate, &ours.root]);
    refused(&provider, &token, Reason::SignatureMismatch, "none fits");
}

#[test]
fn the_operators_root_stands_in_place_of_the_definitions() {
    let (ours, theirs) = (Authority::usual(), Authority::usual());
    let provider = ours.provider();
    let root = STANDARD.encode(&theirs.root);
    let pem = format!("-----BEGIN CERTIFICATE-----\n{root}\n-----END CERTIFICATE-----\n");
    for root in [&root, &pem] {
        let token = theirs.token(&[&theirs.leaf, &theirs.intermediate]);
        match judge(&provider, &token, NOW, &[&STANDARD.encode(&Authority::usual().root), root]) {
            Decision::Verified(verified) => assert_eq!(verified.secret_position(), Some(2)),
            other => panic!("{other:?}"),
        }
        let own = ours.token(&[&ours.leaf, &ours.intermediate]);
        assert_eq!(refusal(judge(&provider, &own, NOW, &[root])).reason, Reason::UnknownKey);
    }
    for wrong in [format!("base64 DER root: {root}"), "no certificate".to_owned(), root[..40].to_owned()] {
        let secret = (hookgate::model::Secret::new(wrong.as_bytes()), None);
        let error = Keyring::new(&provider, [secret]).expect_err("refused").to_string();
        assert!(error.contains("root certificate"), "{error}");
    }
}

#[test]
fn the_signers_certificate_comes_first() {
    let ours = Authority::usual();
    let provider = ours.provider();
    let wrong = [
        vec![&ours.intermediate[..], &ours.leaf, &ours.root],
        vec![&ours.root[..], &ours.intermediate, &ours.leaf],
        vec![&ours.leaf[..]],
        vec![&ours.leaf[..], &ours.root],
    ];
    for chain in wrong {
        refused(&provider, &ours.token(&chain), Reason::UnknownKey, "chain");
    }
}

#[test]
fn certificates_lack_no_extension_that_they_must_have() {
    let without_leaf = Authority::new(None, Some(&INTERMEDIATE));
    let token = without_leaf.token(&[&without_leaf.leaf, &without_leaf.intermediate]);
    refused(&without_leaf.provider(), &token, Reason::UnknownKey, "lacks the extension");
    let without = Authority::new(Some(&LEAF), None);
    let token = without.token(&[&without.leaf, &without.intermediate]);
    refused(&without.provider(), &token, Reason::UnknownKey, "lacks the extension");
    // A certificate that has it, but is not in the path.
    let other = Authority::usual();
    let token = without.token(&[&without.leaf, &other.intermediate, &without.intermediate]);
    refused(&without.provider(), &token, Reason::UnknownKey, "lacks the extension");
}

#[test]
fn a_chain_counts_while_all_of_it_is_valid() {
    let ours = Authority::usual();
    let provider = ours.provider();
    let token = ours.token(&[&ours.leaf, &ours.intermediate]);
    let year = 365 * 86_400;
    for (now, why) in [(NOW + 2 * year, "expired"), (NOW - 2 * year, "not valid yet")] {
        let rejection = refusal(judge(&provider, &token, now, &[]));
        assert_eq!(rejection.reason, Reason::UnknownKey);
        assert!(rejection.detail.contains(why), "{}", rejection.detail);
    }
}

#[test]
fn certificates_that_are_none_are_refused() {
    let ours = Authority::usual();
    let provider = ours.provider();
    let leaf = STANDARD.encode(&ours.leaf);
    let headers = [
        serde_json::json!({ "alg": "ES256" }),
        serde_json::json!({ "alg": "ES256", "x5c": [] }),
        serde_json::json!({ "alg": "ES256", "x5c": leaf }),
        serde_json::json!({ "alg": "ES256", "x5c": [1] }),
        serde_json::json!({ "alg": "ES256", "x5c": ["!"] }),
        serde_json::json!({ "alg": "ES256", "x5c": vec![leaf; 11] }),
    ];
    for header in headers {
        refused(&provider, &ours.token_with(&header), Reason::MalformedSignature, "token");
    }
    let garbage = serde_json::json!({ "alg": "ES256", "x5c": ["AAAA"] });
    refused(&provider, &ours.token_with(&garbage), Reason::UnknownKey, "cannot be read");
}
