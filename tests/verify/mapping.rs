//! From genuine bytes to events, whatever the bytes are.

use hookgate::mapping::{map, same_event, storable_headers};
use hookgate::model::{NewEvent, Reason, Rejection};
use serde_json::json;
use uuid::Uuid;

use super::support::{EVENT, NOW, SECRET, at, decide, proof, provider, request, signed, stripe};

fn mapped(body: impl Into<Vec<u8>>) -> Result<Vec<NewEvent>, Rejection> {
    mapped_expecting(body, &[])
}

fn mapped_expecting(
    body: impl Into<Vec<u8>>,
    expect: &[(String, serde_json::Value)],
) -> Result<Vec<NewEvent>, Rejection> {
    let provider = provider("stripe", &[]);
    let verified = proof(decide(&stripe(body, NOW), &provider, NOW));
    map(&verified, &provider, &"billing".into(), expect, Uuid::nil())
}

#[test]
fn an_event_carries_what_the_definition_says_and_its_own_bytes() {
    let events = mapped(EVENT).expect("maps");
    let [event] = events.as_slice() else { panic!("one event") };
    assert_eq!(event.key.to_string(), "stripe:billing:evt_1");
    assert_eq!(event.event_type, "invoice.paid");
    assert_eq!(event.occurred_at, Some(at(NOW)));
    assert_eq!(event.ordering_key.as_deref(), Some("in_1"));
    assert_eq!(&*event.body, EVENT.as_bytes());
    assert_eq!(event.body_sha256, hookgate::mapping::sha256(EVENT.as_bytes()));
}

#[test]
fn a_strange_body_is_mapped_or_refused_with_its_reason() {
    let deep =
        |levels: usize| format!(r#"{{"id":"evt_1","x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    let id = |body: &[u8]| mapped(body).map(|events| events[0].key.event_id.clone());
    let reason = |body: &[u8]| id(body).expect_err("refused").reason;
    let taken: &[(&str, Vec<u8>, &str)] = &[
        ("an escaped NUL", br#"{"id":"evt_1","note":"a\u0000b"}"#.to_vec(), "evt_1"),
        ("the last of two equal keys", br#"{"id":"evt_1","id":"evt_2"}"#.to_vec(), "evt_2"),
        ("a number beyond a double", br#"{"id":"evt_1","n":1e400}"#.to_vec(), "evt_1"),
        ("a number as id", br#"{"id":12345678901234567890123}"#.to_vec(), "12345678901234567890123"),
        ("200 levels", deep(200).into_bytes(), "evt_1"),
        ("a million levels", deep(1_000_000).into_bytes(), "evt_1"),
        ("a byte order mark", [b"\xef\xbb\xbf".as_slice(), EVENT.as_bytes()].concat(), "evt_1"),
        ("escapes in the id", br#"{"id":"evt\u005f1"}"#.to_vec(), "evt_1"),
        ("a lone surrogate elsewhere", br#"{"id":"evt_1","note":"\ud800"}"#.to_vec(), "evt_1"),
        ("white space around", b" \n{ \"id\" : \"evt_1\" }\r\n".to_vec(), "evt_1"),
    ];
    for (name, body, expected) in taken {
        assert_eq!(id(body).as_deref(), Ok(*expected), "{name}");
    }
    let refused: &[(&str, Vec<u8>, Reason)] = &[
        ("empty", Vec::new(), Reason::MalformedBody),
        ("not JSON", b"id=evt_1".to_vec(), Reason::MalformedBody),
        ("more after the end", [EVENT.as_bytes(), b"{}"].concat(), Reason::MalformedBody),
        ("cut", EVENT.as_bytes()[..50].to_vec(), Reason::MalformedBody),
        ("invalid UTF-8", b"{\"id\":\"evt_1\",\"x\":\"\xff\"}".to_vec(), Reason::MalformedBody),
        ("a lone surrogate in the id", br#"{"id":"evt\ud800"}"#.to_vec(), Reason::MalformedBody),
        (
            "two byte order marks",
            [b"\xef\xbb\xbf\xef\xbb\xbf".as_slice(), EVENT.as_bytes()].concat(),
            Reason::MalformedBody,
        ),
        ("no id", br#"{"type":"invoice.paid"}"#.to_vec(), Reason::NoEventId),
        ("an empty id", br#"{"id":""}"#.to_vec(), Reason::NoEventId),
        ("null as id", br#"{"id":null}"#.to_vec(), Reason::NoEventId),
        ("an object as id", br#"{"id":{"id":"evt_1"}}"#.to_vec(), Reason::NoEventId),
        ("a NUL in the id", br#"{"id":"evt\u00001"}"#.to_vec(), Reason::NoEventId),
        ("a line break in the id", br#"{"id":"evt\n1"}"#.to_vec(), Reason::NoEventId),
        ("an id of 256 bytes", format!(r#"{{"id":"{}"}}"#, "a".repeat(256)).into_bytes(), Reason::NoEventId),
        ("an array", b"[]".to_vec(), Reason::NoEventId),
        ("a NUL in the type", br#"{"id":"evt_1","type":"a\u0000"}"#.to_vec(), Reason::MalformedBody),
    ];
    for (name, body, expected) in refused {
        assert_eq!(reason(body), *expected, "{name}");
    }
}

#[test]
fn the_last_of_two_equal_keys_wins_for_what_is_inside_them_too() {
    let events =
        mapped(r#"{"id":"evt_1","data":{"object":{"id":"in_1"}},"data":{"object":{}}}"#).expect("maps");
    assert_eq!(events[0].ordering_key, None);
}

#[test]
fn events_of_another_environment_are_refused() {
    let live = [("/livemode".to_owned(), json!(true))];
    assert_eq!(mapped_expecting(EVENT, &live).expect_err("test event").reason, Reason::WrongEnvironment);
    let missing = mapped_expecting(r#"{"id":"evt_1"}"#, &live).expect_err("no livemode");
    assert_eq!(missing.reason, Reason::WrongEnvironment);
    let test = [("/livemode".to_owned(), json!(false))];
    assert_eq!(mapped_expecting(EVENT, &test).expect("maps").len(), 1);
}

#[test]
fn github_is_read_from_json_and_from_a_form_alike() {
    let provider = provider("github", &[]);
    let headers = [("x-github-delivery", "d-1"), ("x-github-event", "push")];
    let json = r#"{"repository":{"full_name":"a/b","owner":{"login":"a"}}}"#;
    let form = "payload=%7B%22repository%22%3A%7B%22full_name%22%3A%22a%2Fb%22%2C%22owner%22%3A%7B%22login%22%3A%22a%22%7D%7D%7D";
    for (content_type, body) in
        [("application/json", json), ("Application/X-WWW-Form-Urlencoded; charset=UTF-8", form)]
    {
        let plain = request(&[headers[0], headers[1], ("content-type", content_type)], body);
        let verified = proof(decide(&signed(&provider, SECRET, &plain, at(NOW)), &provider, NOW));
        let events = map(&verified, &provider, &"code".into(), &[], Uuid::nil()).expect("maps");
        assert_eq!(events[0].key.event_id, "d-1");
        assert_eq!(events[0].event_type, "push");
        assert_eq!(events[0].account.as_deref(), Some("a"));
        assert_eq!(events[0].ordering_key.as_deref(), Some("a/b"));
        assert_eq!(&*events[0].body, body.as_bytes());
    }
}

#[test]
fn a_redelivery_differs_only_in_what_is_volatile() {
    let provider = provider("stripe", &[]);
    let same = |other: &str| same_event(EVENT.as_bytes(), other.as_bytes(), &provider);
    assert!(same(EVENT));
    assert!(same(&EVENT.replace(r#""pending_webhooks":1"#, r#""pending_webhooks":0"#)));
    assert!(same(&EVENT.replace(r#""pending_webhooks":1,"#, "")));
    assert!(same(&EVENT.replace(',', ", ")));
    assert!(!same(&EVENT.replace("in_1", "in_2")));
    assert!(!same(&EVENT.replace(r#""pending_webhooks":1"#, r#""pending_webhooks":1,"more":1"#)));
    assert!(!same("not JSON"));
    assert!(!same(""));
}

#[test]
fn a_header_that_is_the_secret_is_not_stored() {
    let provider = provider("generic_token", &[]);
    let request = request(&[("authorization", &format!("Bearer {SECRET}")), ("x-other", "kept")], EVENT);
    let stored = storable_headers(&request, &provider);
    assert_eq!(stored.text("authorization"), Some("[removed]"));
    assert_eq!(stored.text("x-other"), Some("kept"));
}
