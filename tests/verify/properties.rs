//! What holds for any body, secret and signature.

use hookgate::model::Secret;
use hookgate::verify::{self, Decision, Fetched, Keyring};
use proptest::prelude::*;

use super::support::{NOW, at, decide, provider, request, with_header};

/// The header that carries each preset's signature.
const PLACES: [(&str, &str); 6] = [
    ("stripe", "stripe-signature"),
    ("github", "x-hub-signature-256"),
    ("slack", "x-slack-signature"),
    ("standard_webhooks", "webhook-signature"),
    ("shopify", "x-shopify-hmac-sha256"),
    ("generic_hmac", "x-signature"),
];

fn is_genuine(decision: &Decision) -> bool {
    !matches!(decision, Decision::Rejected(_))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_signed_verifies_and_one_changed_byte_never_does(
        which in 0..PLACES.len(),
        body in proptest::collection::vec(any::<u8>(), 1..200),
        secret in proptest::collection::vec(any::<u8>(), 16..40),
        at_byte in any::<prop::sample::Index>(),
        flip in 1_u8..=255,
    ) {
        let (id, place) = PLACES[which];
        let provider = provider(id, &[]);
        let secret = if id == "standard_webhooks" {
            use base64::Engine as _;
            format!("whsec_{}", base64::engine::general_purpose::STANDARD.encode(&secret)).into_bytes()
        } else {
            secret
        };
        let keys = |secret: &[u8]| Keyring::new(&provider, [(Secret::new(secret), None)]);
        let plain = request(&[], body.clone());
        let signed_headers = verify::sign(&provider, &Secret::new(secret.as_slice()), &plain, at(NOW)).expect("signs");
        let mut genuine = plain;
        for (name, value) in &signed_headers.headers {
            genuine.headers.push(name, value.as_bytes());
        }
        let ring = keys(&secret).expect("fits");
        prop_assert!(is_genuine(&verify::verify(&genuine, &provider, &ring, &Fetched::nothing(), at(NOW))));

        let mut changed = genuine.clone();
        let mut bytes = body;
        let index = at_byte.index(bytes.len());
        bytes[index] ^= flip;
        changed.body = bytes.into();
        prop_assert!(!is_genuine(&verify::verify(&changed, &provider, &ring, &Fetched::nothing(), at(NOW))), "body");

        let mut other = secret.clone();
        let index = at_byte.index(other.len());
        other[index] ^= flip;
        // A changed secret that still decodes to the same key is the same secret in other letters.
        if id != "standard_webhooks"
            && let Ok(ring) = keys(&other)
        {
            prop_assert!(!is_genuine(&verify::verify(&genuine, &provider, &ring, &Fetched::nothing(), at(NOW))), "secret");
        }

        let mut value = genuine.headers.first(place).expect("signed").to_vec();
        let index = at_byte.index(value.len());
        value[index] ^= flip;
        let changed = with_header(&genuine, place, &[&value]);
        prop_assert!(!is_genuine(&verify::verify(&changed, &provider, &ring, &Fetched::nothing(), at(NOW))), "signature");
    }

    #[test]
    fn arbitrary_bytes_are_refused_and_never_panic(
        body in proptest::collection::vec(any::<u8>(), 0..300),
        value in proptest::collection::vec(any::<u8>(), 0..300),
        shaped in "(t=[0-9]{0,20},?)?(v[0-9a]{1,2}[=,][0-9a-fA-Zz+/= ]{0,90},?){0,5}",
    ) {
        for (id, place) in PLACES {
            let provider = provider(id, &[]);
            let time = NOW.to_string();
            let request = request(&[("x-slack-request-timestamp", &time), ("webhook-timestamp", &time), ("webhook-id", "1")], body.clone());
            for value in [value.as_slice(), shaped.as_bytes()] {
                let request = with_header(&request, place, &[value]);
                prop_assert!(!is_genuine(&decide(&request, &provider, NOW)));
            }
        }
    }
}
