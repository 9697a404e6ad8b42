//! Items proved one by one (`each`), two proofs together (`with`), and none (`none`).

use std::collections::BTreeMap;
use std::sync::Arc;

use hookgate::mapping::map;
use hookgate::model::{Reason, Secret};
use hookgate::provider::Provider;
use hookgate::verify::{self, Decision, Fetched, Keyring};
use uuid::Uuid;

use super::support::{
    NOW, SECRET, acme, at, decide, keyring, proof, provider, reason, refusal, request, signed,
};

const KEY: &str = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";

fn adyen_item(psp: &str, signature: &str) -> String {
    format!(
        r#"{{"NotificationRequestItem":{{"pspReference":"{psp}","merchantAccountCode":"Shop","amount":{{"currency":"EUR","value":1}},"eventCode":"REFUND","success":"true","additionalData":{{"hmacSignature":"{signature}"}}}}}}"#
    )
}

fn adyen_body(items: &[String]) -> String {
    format!(r#"{{"live":"false","notificationItems":[{}]}}"#, items.join(","))
}

/// Three items, each signed by itself.
fn three() -> (Arc<Provider>, String) {
    let adyen = provider("adyen", &[]);
    let items = ["a", "b", "c"].map(|psp| adyen_item(psp, "AAAA"));
    let signed = verify::sign(&adyen, &Secret::new(KEY), &request(&[], adyen_body(&items)), at(NOW));
    let body = signed.expect("signs").body.expect("a body");
    (adyen, String::from_utf8(body.to_vec()).expect("text"))
}

fn judge(provider: &Provider, body: &str) -> Decision {
    verify::verify(&request(&[], body), provider, &keyring(provider, &[KEY]), &Fetched::nothing(), at(NOW))
}

#[test]
fn every_item_is_proved_by_its_own_signature() {
    let (adyen, body) = three();
    let verified = proof(judge(&adyen, &body));
    let events = map(&verified, &adyen, &"in".into(), &[], Uuid::nil()).expect("maps");
    let ids: Vec<&str> = events.iter().map(|event| event.key.event_id.as_str()).collect();
    assert_eq!(ids, ["a:REFUND:true", "b:REFUND:true", "c:REFUND:true"]);
}

#[test]
fn one_bad_item_of_three_refuses_the_request() {
    let (adyen, body) = three();
    for (number, psp) in [("item 1", "a"), ("item 2", "b"), ("item 3", "c")] {
        let changed = body.replace(&format!(r#""pspReference":"{psp}""#), r#""pspReference":"x""#);
        assert_ne!(changed, body);
        let rejection = refusal(judge(&adyen, &changed));
        assert_eq!(rejection.reason, Reason::SignatureMismatch);
        assert!(rejection.detail.starts_with(number), "{}", rejection.detail);
    }
    let unsigned = body.replace("hmacSignature", "x");
    assert_eq!(reason(judge(&adyen, &unsigned)), Reason::MissingSignature);
    let last = body.rfind("hmacSignature").expect("there");
    let last_unsigned = format!("{}x{}", &body[..last], &body[last + "hmacSignature".len()..]);
    let rejection = refusal(judge(&adyen, &last_unsigned));
    assert_eq!(rejection.reason, Reason::MissingSignature);
    assert!(rejection.detail.starts_with("item 3"), "{}", rejection.detail);
}

#[test]
fn no_item_proves_nothing() {
    let adyen = provider("adyen", &[]);
    for body in [adyen_body(&[]), r#"{"live":"false"}"#.into(), r#"{"notificationItems":{}}"#.into()] {
        assert_eq!(reason(judge(&adyen, &body)), Reason::MissingSignature, "{body}");
    }
    let chosen = "[[verify]]\nname = \"v1\"\nwhen = \"{header:x-batch}\"\neach = \"/items/*\"\nalgorithm = \"token\"\n\
                  signature = { from = \"{json:/token}\", encoding = \"plain\" }\n[event]\nformat = \"json\"\nid = \"{json:/id}\"\n";
    let acme = acme(chosen, &[]);
    let empty = request(&[("x-batch", "1")], r#"{"items":[]}"#);
    let rejection = refusal(decide(&empty, &acme, NOW));
    assert_eq!(rejection.reason, Reason::MissingSignature);
    assert!(rejection.detail.contains("nothing is proved"), "{}", rejection.detail);
}

#[test]
fn a_request_with_too_many_items_is_refused_before_any_is_proved() {
    let items = vec!["{}"; 10_001].join(",");
    let rest = "[[verify]]\nname = \"v1\"\nwhen = \"{body}\"\neach = \"/items/*\"\nalgorithm = \"token\"\n\
                signature = { from = \"{json:/token}\", encoding = \"plain\" }\n[event]\nformat = \"json\"\nid = \"{json:/id}\"\n";
    let rejection =
        refusal(decide(&request(&[], format!(r#"{{"items":[{items}]}}"#)), &acme(rest, &[]), NOW));
    assert_eq!(rejection.reason, Reason::MalformedSignature);
    assert!(rejection.detail.contains("10000"), "{}", rejection.detail);
}

#[test]
fn an_item_is_proved_with_values_of_the_whole_and_required_ones_of_its_own() {
    let rest = "[[verify]]\nname = \"v1\"\neach = \"/items/*\"\nalgorithm = \"hmac-sha256\"\ntext = \"{root:/account}.{json:/id}\"\n\
                signature = { from = \"{json:/sign}\", encoding = \"hex\" }\nrequire = \"{json:/mode} == live\"\n\
                [batch]\nitems = \"/items/*\"\n[event]\nformat = \"json\"\nid = \"{json:/id}\"\n";
    let acme = acme(rest, &[]);
    let body = |mode: &str| {
        format!(
            r#"{{"account":"a1","items":[{{"id":"1","mode":"live","sign":""}},{{"id":"2","mode":"{mode}","sign":""}}]}}"#
        )
    };
    let sign = |body: String| {
        let signed = verify::sign(&acme, &Secret::new(SECRET), &request(&[], body), at(NOW)).expect("signs");
        request(&[], signed.body.expect("a body").to_vec())
    };
    let genuine = sign(body("live"));
    assert!(matches!(decide(&genuine, &acme, NOW), Decision::Verified(_)));
    let text = String::from_utf8(genuine.body.to_vec()).expect("text");
    let other = request(&[], text.replace(r#""account":"a1""#, r#""account":"a2""#));
    assert_eq!(reason(decide(&other, &acme, NOW)), Reason::SignatureMismatch);
    assert_eq!(reason(decide(&sign(body("test")), &acme, NOW)), Reason::Precondition);
}

/// A signature, and beside it a token in the URL that is not enough alone.
const TOGETHER: &str = "[[verify]]\nname = \"signed\"\nalgorithm = \"hmac-sha256\"\ntext = \"{body}\"\nwith = \"token\"\n\
                        signature = { from = \"{header:x-sign}\", encoding = \"hex\" }\n\
                        [[verify]]\nname = \"token\"\nopt_in = true\nalgorithm = \"token\"\n\
                        signature = { from = \"{header:x-token}\", encoding = \"plain\" }\n\
                        [event]\nformat = \"json\"\nid = \"{json:/id}\"\n";

#[test]
fn two_proofs_together_need_both() {
    let acme = acme(TOGETHER, &[]);
    let genuine = signed(&acme, SECRET, &request(&[], r#"{"id":"1"}"#), at(NOW));
    assert!(matches!(decide(&genuine, &acme, NOW), Decision::Verified(_)));
    for (header, missing) in [("x-sign", "header `x-sign`"), ("x-token", "header `x-token`")] {
        let half = super::support::with_header(&genuine, header, &[]);
        let rejection = refusal(decide(&half, &acme, NOW));
        assert_eq!(rejection.reason, Reason::MissingSignature);
        assert!(rejection.detail.contains(missing), "{}", rejection.detail);
        let wrong = super::support::with_header(&genuine, header, &[&[b'0'; 64]]);
        assert_eq!(reason(decide(&wrong, &acme, NOW)), Reason::SignatureMismatch, "{header}");
    }
}

#[test]
fn nothing_is_taken_unproved_unless_an_operator_names_it() {
    let monday = super::support::catalogue().get("monday").expect("there");
    let sent = request(&[], r#"{"event":{"type":"create_pulse","triggerUuid":"1"}}"#);
    let usual = monday.configure(&BTreeMap::new()).expect("configures");
    assert_eq!(reason(decide(&sent, &usual, NOW)), Reason::MissingSignature);
    assert!(usual.needs_secret());
    let named = monday.configure_variant(&BTreeMap::new(), Some("unsigned")).expect("configures");
    assert!(!named.needs_secret());
    let ring = Keyring::new(&named, []).expect("needs nothing");
    let decision = verify::verify(&sent, &named, &ring, &Fetched::nothing(), at(NOW));
    assert_eq!(proof(decision).secret_position(), None);
    assert!(Keyring::new(&named, [(Secret::new(SECRET), None)]).is_err());
}
