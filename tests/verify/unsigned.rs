//! What the signature does not cover makes no other event of the bytes that it covers.

use hookgate::mapping::map;
use hookgate::model::{Headers, Reason, Request};
use uuid::Uuid;

use super::support::{NOW, SECRET, at, decide, proof, provider, reason, request, signed, with_header};

/// The same request under Svix's header names: what is signed is written alike.
fn under_svix_names(genuine: &Request) -> Request {
    let mut headers = Headers::new();
    for (name, value) in genuine.headers.iter() {
        headers.push(&name.replace("webhook-", "svix-"), value);
    }
    Request { headers, ..genuine.clone() }
}

#[test]
fn an_id_beside_a_signature_that_does_not_cover_it_is_refused() {
    let provider = provider("standard_webhooks", &[]);
    let sent = request(&[("webhook-id", "msg_1")], r#"{"type":"user.created"}"#);
    let svix = under_svix_names(&signed(&provider, SECRET, &sent, at(NOW)));
    let events = map(&proof(decide(&svix, &provider, NOW)), &provider, &"in".into(), &[], Uuid::nil());
    assert_eq!(events.expect("maps")[0].key.event_id, "msg_1");
    let replayed = with_header(&svix, "webhook-id", &[b"msg_2"]);
    assert_eq!(reason(decide(&replayed, &provider, NOW)), Reason::Precondition);
}

#[test]
fn the_content_type_does_not_turn_signed_json_into_a_form() {
    let provider = provider("slack", &[]);
    let hidden = "&payload=%7B%22event_id%22%3A%22EvEVIL%22%7D&trigger_id=EVIL&command=/evil&x=";
    let body = format!(
        r#"{{"type":"event_callback","event_id":"Ev1","event":{{"type":"message","text":"{hidden}"}}}}"#
    );
    for content_type in ["application/json", "application/x-www-form-urlencoded"] {
        let genuine =
            signed(&provider, SECRET, &request(&[("content-type", content_type)], body.clone()), at(NOW));
        let events = map(&proof(decide(&genuine, &provider, NOW)), &provider, &"in".into(), &[], Uuid::nil());
        let events = events.expect("maps");
        assert_eq!((&*events[0].key.event_id, &*events[0].event_type), ("Ev1", "message"), "{content_type}");
    }
}
