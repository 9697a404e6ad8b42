//! Reading single values out of an event's JSON.

use hookgate::handler::Payload;
use hookgate::model::Event;
use serde_json::value::RawValue;

use super::support::event;

fn with(body: &str) -> Event {
    event("invoice.paid", "evt_1", body)
}

#[test]
fn pointers_find_members_and_elements() {
    let event = with(r#" {"a":{"b":[10,{"c":"é"}]},"":"empty","x/y":{"~":1},"é":2,"n":null} "#);
    let payload = Payload::of(&event).unwrap();
    for (pointer, expected) in [
        ("/a/b/0", Some("10")),
        ("/a/b/1/c", Some("\"é\"")),
        ("/", Some("\"empty\"")),
        ("/x~1y/~0", Some("1")),
        ("/é", Some("2")),
        ("/n", None),
        ("/a/b/2", None),
        ("/a/b/00", None),
        ("/a/b/-", None),
        ("/a/b/c", None),
        ("/a/b/0/c", None),
        ("/missing/deeper", None),
        ("no slash", None),
    ] {
        assert_eq!(payload.get(pointer).map(RawValue::get), expected, "{pointer}");
    }
    assert!(payload.get("").unwrap().get().starts_with('{'));
}

#[test]
fn what_stands_elsewhere_in_the_body_has_no_say() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let event = with(&format!(
        r#"{{"big":1e400,"deep":{deep},"nul":"\u0000","half":"\ud800","a":1,"a":{{"b":"last"}},"big2":[-1e999]}}"#
    ));
    assert_eq!(Payload::of(&event).unwrap().text("/a/b").unwrap(), "last");
}

#[test]
fn a_value_that_is_not_there_or_of_another_type_fails_for_good_with_its_name() {
    let event = with(
        r#"{"id":7,"nul":"a\u0000b","half":"\ud800","float":1.5,"huge":9223372036854775808,"nothing":null}"#,
    );
    let payload = Payload::of(&event).unwrap();
    let failures = [
        (payload.text("/id").map(|_| ()), "handler.payload.id"),
        (payload.text("/nul").map(|_| ()), "handler.payload.nul"),
        (payload.text("/half").map(|_| ()), "handler.payload.half"),
        (payload.text("/nothing").map(|_| ()), "handler.payload.nothing"),
        (payload.text("/data/object/customer").map(|_| ()), "handler.payload.customer"),
        (payload.optional_text("/id").map(|_| ()), "handler.payload.id"),
        (payload.bigint("/float").map(|_| ()), "handler.payload.float"),
        (payload.bigint("/huge").map(|_| ()), "handler.payload.huge"),
        (payload.bigint("/missing").map(|_| ()), "handler.payload.missing"),
        (payload.optional_unix_time("/nul").map(|_| ()), "handler.payload.nul"),
    ];
    for (result, code) in failures {
        let error = result.expect_err(code);
        assert_eq!((error.code.as_str(), error.retryable), (code, false));
        assert!(!error.to_string().contains("9223372036854775808"), "no values in {error}");
    }
    assert_eq!(payload.optional_text("/nothing").unwrap(), None);
    assert_eq!(payload.optional_text("/missing").unwrap(), None);
    assert_eq!(payload.optional_unix_time("/missing").unwrap(), None);
}

#[test]
fn integers_keep_every_digit() {
    let event = with(r#"{"id":9007199254740993,"low":-9223372036854775808}"#);
    let payload = Payload::of(&event).unwrap();
    assert_eq!(payload.bigint("/id").unwrap(), 9_007_199_254_740_993);
    assert_eq!(payload.bigint("/low").unwrap(), i64::MIN);
}

#[test]
fn a_body_that_is_no_json_fails_for_good() {
    for body in ["", "{", "payload=%7B%7D", "{} {}", "\u{feff}{}"] {
        let error = Payload::of(&with(body)).map(|_| ()).expect_err(body);
        assert_eq!((error.code.as_str(), error.retryable), ("handler.payload", false), "{body:?}");
    }
    let mut invalid = with("");
    invalid.body = b"{\"a\":\"\xff\"}".as_slice().into();
    assert!(Payload::of(&invalid).is_err());
}
