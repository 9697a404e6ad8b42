//! Each filter by itself, and all of them over anything.

use std::sync::{Arc, OnceLock};

use hookgate::mapping::map;
use hookgate::provider::Provider;
use proptest::prelude::*;
use uuid::Uuid;

use super::support::{NOW, SECRET, acme, at, decide, proof, request, signed};

/// What `filters` make of `body`; why not, where they make nothing.
fn filtered(filters: &str, body: impl Into<Vec<u8>>) -> Result<String, String> {
    made(&with(filters), body)
}

fn with(filters: &str) -> Arc<Provider> {
    let rest = format!(
        "[[verify]]\nname = \"v1\"\nalgorithm = \"hmac-sha256\"\ntext = \"{{body}}\"\n\
         signature = {{ from = \"{{header:x-sign}}\", encoding = \"hex\" }}\n\
         [event]\nformat = \"opaque\"\nid = '{{body|{filters}}}'\n"
    );
    acme(&rest, &[])
}

fn made(provider: &Provider, body: impl Into<Vec<u8>>) -> Result<String, String> {
    let genuine = signed(provider, SECRET, &request(&[], body), at(NOW));
    let events = map(&proof(decide(&genuine, provider, NOW)), provider, &"e".into(), &[], Uuid::nil());
    events.map(|events| events[0].key.event_id.clone()).map_err(|rejection| rejection.detail.to_string())
}

#[track_caller]
fn gives(filters: &str, body: &str, expected: &str) {
    assert_eq!(filtered(filters, body).as_deref(), Ok(expected), "{filters} of {body}");
}

#[track_caller]
fn refuses(filters: &str, body: &str, why: &str) {
    let problem = filtered(filters, body).expect_err("nothing is made of it");
    assert!(problem.contains(why), "{filters} of {body}: {problem}");
}

#[test]
fn checksums_and_encodings() {
    // The check value of CRC-32 in every catalogue of checksums.
    gives("crc32", "123456789", "3421780262");
    gives("unhex|base64url", "fbff", "-_8");
    gives("unbase64url|hex", "-_8", "fbff");
    gives("unbase64url|hex", "-_8=", "fbff");
    refuses("unbase64url", "+/8", "is not base64url");
    gives("urlencode", "a b&c=d/é~", "a%20b%26c%3Dd%2F%C3%A9~");
    gives("urldecode", "a%20b+%26%C3%A9%zz", "a b+&é%zz");
    gives("xml", "<a href=\"x\">'é' & co</a>", "&lt;a href=&quot;x&quot;&gt;&#39;é&#39; &amp; co&lt;/a&gt;");
    gives("replace:aa:b", "aaaxaa", "baxb");
    gives("replace:a:", "banana", "bnn");
}

#[test]
fn json_is_written_again_as_serializers_do() {
    let text = "{ \"b\" : [ 1.0, 2e5 , {\"z\":null,\"a\":\"\\u00e9 \\/ \\n\\\"\"} ] ,\n \"a\" : { } }";
    gives("json_compact", text, r#"{"b":[1.0,2e5,{"z":null,"a":"é / \n\""}],"a":{}}"#);
    gives("json_sorted", text, r#"{"a":{},"b":[1.0,2e5,{"a":"é / \n\"","z":null}]}"#);
    gives(
        "json_sorted",
        r#"{"b":1,"a":{"d":1,"c":2},"b":[{"y":1,"x":[]}]}"#,
        r#"{"a":{"c":2,"d":1},"b":[{"x":[],"y":1}]}"#,
    );
    gives("json_compact", " \"a b\" ", "\"a b\"");
    gives("json_ascii", r#"{"a":"é😀"}"#, r#"{"a":"\u00e9\ud83d\ude00"}"#);
    gives("json_slashes", r#"{"a":"b/c\/d\\/"}"#, r#"{"a":"b\/c\/d\\\/"}"#);
    refuses("json_compact", "{\"a\":}", "is not valid JSON");
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(filtered("json_sorted|sha256|hex", deep(120)).is_ok());
    refuses("json_sorted", &deep(100_000), "is nested more than");
    gives("raw:/a", r#"{"a": {"b" : 1}}"#, r#"{"b" : 1}"#);
    refuses("raw:/a", r#"{"a":null}"#, "is missing");
}

#[test]
fn pairs_are_sorted_and_joined() {
    let form = "b=2&sign=x&a=1%262&b=1&c=&b=2";
    gives("join_params:=:&:sign", form, "a=1&2&b=2&b=1&b=2&c=");
    gives("join_params:=:&:sign:mask,unique,nonempty", form, "a=1_2&b=1&b=2");
    gives("join_params:::sign,c:values", form, "1&2212");
    gives("join_params::,:c,sign", form, "a1&2,b2,b1,b2");
}

#[test]
fn urls_are_taken_apart_as_they_are_written() {
    for (url, without, origin, host) in [
        ("https://a.example:8443/x?y=:1", "https://a.example/x?y=:1", "https://a.example:8443", "a.example"),
        ("https://a.example?y", "https://a.example?y", "https://a.example", "a.example"),
        ("http://[2001:db8::1]:80/", "http://[2001:db8::1]/", "http://[2001:db8::1]:80", "[2001:db8::1]"),
        ("http://[2001:db8::1]/", "http://[2001:db8::1]/", "http://[2001:db8::1]", "[2001:db8::1]"),
    ] {
        gives("without_port", url, without);
        gives("origin", url, origin);
        gives("host", url, host);
    }
    gives("default_port", "http://[2001:db8::1]/", "http://[2001:db8::1]:80/");
    refuses("host", "a.example/x", "is no URL");
}

#[test]
fn an_address_is_in_a_network_or_absent() {
    let filters = "within:192.0.2.0/24 2001:db8::/32 203.0.113.9";
    for inside in ["192.0.2.77", "2001:db8:ff::1", "203.0.113.9", "::ffff:192.0.2.1"] {
        gives(filters, inside, inside);
    }
    for outside in ["192.0.3.1", "2001:db9::1", "203.0.113.8", "::c000:201"] {
        refuses(filters, outside, "is missing");
    }
    refuses(filters, "192.0.2.077", "is no IP address");
    refuses("within:", "192.0.2.1", "is missing");
}

#[test]
fn a_filter_that_is_written_wrong_is_an_error_at_load() {
    for (filters, why) in [
        ("within:192.0.2.0/33", "is no network"),
        ("join_params:=", "is written join_params"),
        ("join_params:=:&:x:backwards", "is no flag"),
        ("replace:a", "is written replace"),
        ("replace::a", "is written replace"),
        ("raw:a", "is not a JSON pointer"),
    ] {
        let loaded = std::panic::catch_unwind(|| filtered(filters, "x"));
        let panic = loaded.expect_err("refused");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains(why), "{filters}: {message}");
    }
}

/// All that read a body.
const ALL: [&str; 27] = [
    "crc32",
    "unhex|hex",
    "unbase64|base64",
    "unbase64url|base64url",
    "urlencode",
    "urldecode|hex",
    "replace:a:bb|hex",
    "json:/a",
    "raw:/0",
    "json_compact|hex",
    "json_sorted|hex",
    "json_ascii|hex",
    "json_slashes|hex",
    "join_params:=:&:a:unique,mask|hex",
    "default_port",
    "without_port",
    "origin",
    "host",
    "within:192.0.2.0/24",
    "nfkd|hex",
    "box_escape|hex",
    "php_serialize:a|hex",
    "form_concat|hex",
    "public-key|hex",
    "before::",
    "after:a|hex",
    "last:3|hex",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_filter_panics(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        shaped in r#"([\[\]{}",:\\/ ]|a|\\u[0-9a-f]{4}|é|://|%[0-9a-f]{2}|=|&){0,60}"#,
    ) {
        static PROVIDERS: OnceLock<Vec<Arc<Provider>>> = OnceLock::new();
        for provider in PROVIDERS.get_or_init(|| ALL.map(with).to_vec()) {
            let _ = made(provider, bytes.clone());
            let _ = made(provider, shaped.clone());
        }
    }

    #[test]
    fn json_written_again_is_the_same_json(value in json(), spaced in any::<bool>()) {
        let text = if spaced { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("JSON");
        for filters in ["json_compact", "json_sorted", "json_ascii", "json_slashes"] {
            if let Ok(out) = filtered(filters, text.clone()) {
                let again: serde_json::Value = serde_json::from_str(&out).expect("still JSON");
                prop_assert_eq!(&again, &value, "{}", filters);
            }
        }
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "[a-z/\"\\\\é😀 {}\\[\\],:]{0,6}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map("[a-z/\"]{0,3}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}
