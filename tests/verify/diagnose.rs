//! What is said of a rejected request: it changes nothing, costs little, and never fails.

use std::time::{Duration, Instant};

use hookgate::model::{Reason, Rejection, Request, Secret};
use hookgate::provider::Provider;
use hookgate::verify::{self, Decision, Fetched, Hint, Keyring, diagnose};
use proptest::prelude::*;

use super::support::{
    EVENT, NOW, SECRET, acme, at, catalogue, keyring, provider, refusal, request, signed, stripe, with_header,
};

fn hints(request: &Request, provider: &Provider, keyring: &Keyring) -> Vec<Hint> {
    let decision = verify::verify(request, provider, keyring, &Fetched::nothing(), at(NOW));
    diagnose(request, provider, keyring, &refusal(decision), at(NOW))
}

#[test]
fn a_secret_that_has_passed_its_end_is_named_with_its_position_and_end() {
    let stripe_provider = provider("stripe", &[]);
    let secrets = [("whsec_the_new_one_0123456789", None), (SECRET, Some(at(NOW)))];
    let secrets = secrets.map(|(text, until)| (Secret::new(text.as_bytes()), until));
    let ring = Keyring::new(&stripe_provider, secrets).expect("fits");
    let [hint] = hints(&stripe(EVENT, NOW), &stripe_provider, &ring).try_into().expect("one");
    assert!(hint.is_proven());
    let said = "signed with secret 2, which counted until 2027-01-15T08:00:00+00:00 only";
    assert!(hint.to_string().starts_with(said), "{hint}");
}

#[test]
fn a_mistake_beside_a_second_live_secret_is_found_too() {
    let stripe_provider = provider("stripe", &[]);
    let ring = keyring(&stripe_provider, &["whsec_another_0123456789abcdef", SECRET]);
    let mut late = stripe(EVENT, NOW);
    late.body = format!("{EVENT}\n").into();
    let hint = hints(&late, &stripe_provider, &ring).remove(0);
    assert!(hint.to_string().contains("without its last line break"), "{hint}");
}

#[test]
fn a_digest_beside_the_signature_that_is_of_another_form_of_the_body_is_named() {
    let twilio = provider("twilio", &[]);
    let mut call = request(&[("content-type", "application/json")], "{\"a\": 1}");
    call.query =
        Some("bodySHA256=015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862".to_owned());
    let call = signed(&twilio, SECRET, &call, at(NOW));
    let ring = keyring(&twilio, &[SECRET]);
    let decision = verify::verify(&call, &twilio, &ring, &Fetched::nothing(), at(NOW));
    let rejection = refusal(decision);
    assert_eq!(rejection.reason, Reason::Precondition);
    let hint = diagnose(&call, &twilio, &ring, &rejection, at(NOW)).remove(0);
    assert!(hint.is_proven() && hint.to_string().contains("compact JSON"), "{hint}");
}

#[test]
fn what_is_not_a_mistake_of_the_set_up_is_not_looked_into() {
    let stripe_provider = provider("stripe", &[]);
    let ring = keyring(&stripe_provider, &["whsec_another_0123456789abcdef"]);
    let mut late = stripe(EVENT, NOW);
    late.body = format!("{EVENT}\n").into();
    for reason in [Reason::Method, Reason::KeyUnavailable, Reason::HandshakeMismatch, Reason::UnknownKey] {
        let rejection = Rejection::new(reason, "for a test");
        assert_eq!(diagnose(&late, &stripe_provider, &ring, &rejection, at(NOW)), [], "{reason:?}");
    }
    late.body = vec![b' '; (1 << 20) + 1].into();
    assert_eq!(hints(&late, &stripe_provider, &ring), [], "a body above the limit");
}

#[test]
fn a_request_made_to_be_dear_is_given_up_early() {
    // Sixteen groups of signatures, several texts and three keys: each change of it would cost hundreds of MACs.
    let text = r#"["{part:t}.{body}", "{part:t}:{body}", "{part:t}{body}", "{body}{part:t}"]"#;
    let dear = acme(
        &format!(
            "[[verify]]\nname = \"v1\"\nalgorithm = \"hmac-sha256\"\ntext = {text}\n\
             signature = {{ from = \"{{header:x-sig}}\", split = \" \", pairs = \",\", take = \"v1\", encoding = \"hex\" }}\n\
             [event]\nformat = \"json\"\nid = \"{{json:/id}}\"\ntype = \"{{json:/type}}\"\n"
        ),
        &[],
    );
    let value: Vec<String> = (0..16).map(|n| format!("t={n},v1={}", "00".repeat(32))).collect();
    let body = serde_json::json!({ "id": "x", "text": "é".repeat(30_000) }).to_string();
    let forged = with_header(&request(&[], body), "x-sig", &[value.join(" ").as_bytes()]);
    let ring = keyring(&dear, &[SECRET, "another_0123456789abcdef", "third_0123456789abcdef"]);
    let began = Instant::now();
    assert!(hints(&forged, &dear, &ring).iter().all(|hint| !hint.is_proven()));
    // 200 MACs over this body take a second or two without optimisation; one for each change would take minutes.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_request_makes_it_fail_or_proves_anything_without_the_secret(
        which in any::<prop::sample::Index>(),
        body in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..80),
            "[{}\\[\\]\":,%+&= a-z0-9\\\\é\r\n]{0,60}".prop_map(String::into_bytes),
        ],
        value in "[ -~]{0,60}",
        name in "(x-original-|http_|x-)?[a-z-]{1,12}",
        reason in prop::sample::select(vec![
            Reason::SignatureMismatch, Reason::MissingSignature, Reason::MalformedSignature,
            Reason::StaleTimestamp, Reason::FutureTimestamp, Reason::Precondition,
        ]),
    ) {
        let ids: Vec<&str> = catalogue().ids().collect();
        let known = catalogue().get(ids[which.index(ids.len())]).expect("known");
        let examples = known.settings().iter().filter_map(|it| Some((it.name.clone(), it.example.clone()?)));
        let Ok(known) = known.configure(&examples.collect()) else { return Ok(()) };
        let Ok(ring) = Keyring::new(&known, [(Secret::new(SECRET.as_bytes()), None)]) else { return Ok(()) };
        let mut forged = request(&[(name.as_str(), value.as_str()), ("host", value.as_str())], body);
        for header in known.signature_headers() {
            forged.headers.push(header, value.as_bytes());
        }
        if matches!(
            verify::verify(&forged, &known, &ring, &Fetched::nothing(), at(NOW)),
            Decision::Rejected(_)
        ) {
            let rejection = Rejection::new(reason, "for a test");
            let hints = diagnose(&forged, &known, &ring, &rejection, at(NOW));
            let time = matches!(reason, Reason::StaleTimestamp | Reason::FutureTimestamp);
            prop_assert!(time || hints.iter().all(|hint| !hint.is_proven()), "{}: {hints:?}", known.id());
        }
    }
}
