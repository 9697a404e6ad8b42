//! Bodies that are not JSON: XML, lines of JSON, forms of several parts.

use std::sync::{Arc, OnceLock};

use hookgate::mapping::map;
use hookgate::model::{NewEvent, Reason, Rejection, Request};
use hookgate::provider::Provider;
use proptest::prelude::*;
use uuid::Uuid;

use super::support::{NOW, SECRET, acme, at, decide, proof, request, signed};

const VERIFY: &str = "[[verify]]\nname = \"v1\"\nalgorithm = \"hmac-sha256\"\ntext = \"{body}\"\n\
                      signature = { from = \"{header:x-sign}\", encoding = \"hex\" }\n";

fn definition(rest: &str) -> Arc<Provider> {
    acme(&format!("{VERIFY}{rest}"), &[])
}

fn mapped(provider: &Provider, request: &Request) -> Result<Vec<NewEvent>, Rejection> {
    let genuine = signed(provider, SECRET, request, at(NOW));
    map(&proof(decide(&genuine, provider, NOW)), provider, &"e".into(), &[], Uuid::nil())
}

fn ids(provider: &Provider, request: &Request) -> Result<Vec<String>, Rejection> {
    let events = mapped(provider, request)?;
    Ok(events.into_iter().map(|event| event.key.event_id).collect())
}

/// What one value of an XML document is.
fn value(path: &str, document: &str) -> Result<String, Rejection> {
    let provider = definition(&format!("[event]\nformat = \"xml\"\nid = \"{{xml:{path}}}\"\n"));
    Ok(ids(&provider, &request(&[], document))?.remove(0))
}

#[track_caller]
fn refused(path: &str, document: &str, why: &str) {
    let rejection = value(path, document).expect_err("refused");
    assert!(rejection.detail.contains(why), "{document}: {}", rejection.detail);
}

#[test]
fn a_value_of_xml_is_the_text_of_the_first_element_at_its_path() {
    let document = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?><!-- c --><e:a xmlns:e=\"urn:e\" kind='k&amp;&#x41;'>\
                    <b/><x><b><c>no</c></b></x><b><c x:type='t' xmlns:x='u' xmlns:type='n'>1 &lt; <![CDATA[&2]]>&#51;</c></b><b><c>2</c></b><o><p>3</p></o></e:a>";
    for (path, expected) in
        [("/a/b/c", "1 < &23"), ("/a/@kind", "k&A"), ("/a/b/c/@type", "t"), ("/a/o/p", "3")]
    {
        assert_eq!(value(path, document).as_deref(), Ok(expected), "{path}");
    }
    for absent in ["/a/o", "/b/c", "/a/b/d", "/a/c", "/a/b/c/@x"] {
        assert_eq!(value(absent, document).expect_err("absent").reason, Reason::NoEventId, "{absent}");
    }
}

#[test]
fn what_is_no_plain_xml_is_refused_whole() {
    for (document, why) in [
        ("<!DOCTYPE a [<!ENTITY x \"y\">]><a><id>&x;</id></a>", "document type"),
        ("<a><id>1</id><b>&x;</b></a>", "entity"),
        ("<a><id k='&x;'>1</id><b>&#0;</b></a>", "entity"),
        ("<a><id>1</id></a><a/>", "several roots"),
        ("<a><id>1</id></a>x", "beside its root"),
        ("<a><id>1</id>", "not closed"),
        ("<a><id>1</id></b>", "not well-formed"),
        ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a><id>1</id></a>", "not UTF-8"),
        ("{\"id\":1}", "beside its root"),
        ("", "no element"),
    ] {
        refused("/a/id", document, why);
    }
    let deep = format!("<a><id>1</id>{}{}</a>", "<b>".repeat(128), "</b>".repeat(128));
    refused("/a/id", &deep, "deep");
    refused("/a/id", &format!("<a><id>1</id>{}</a>", "<b/>".repeat(200_001)), "more than 200000");
    let attributes: Vec<String> = (0..70).map(|number| format!(" a{number}=''")).collect();
    let attributes = attributes.concat();
    refused("/a/@id", &format!("<a{attributes}/>"), "more than 64 attributes");
}

const LIST: &str =
    "[event]\nformat = \"xml\"\nid = \"{xml:/Note/Id}-{root:/Env/Org}-{parent:/list/@n}-{index}\"\n";

#[test]
fn a_list_in_xml_is_a_batch_whose_items_have_their_own_bytes() {
    let provider = definition(&format!("{LIST}[batch]\nitems = \"/Env/list/Note\"\n"));
    let document = "<s:Env xmlns:s='u'><s:Org>7</s:Org><list n='1'><Note><Id>a</Id></Note> <Note><Id>b</Id></Note></list>\
                    <list n='2'><other/><s:Note><Id>c</Id></s:Note></list><list n='3'/></s:Env>";
    let events = mapped(&provider, &request(&[], document)).expect("maps");
    let seen: Vec<(&str, &[u8])> = events.iter().map(|event| (&*event.key.event_id, &*event.body)).collect();
    assert_eq!(
        seen,
        [
            ("a-7-1-0", b"<Note><Id>a</Id></Note>".as_slice()),
            ("b-7-1-1", b"<Note><Id>b</Id></Note>"),
            ("c-7-2-2", b"<s:Note><Id>c</Id></s:Note>"),
        ]
    );
    let none = mapped(&provider, &request(&[], "<Env><list/></Env>")).expect_err("no item");
    assert_eq!(none.reason, Reason::MalformedBody);
    let many = format!("<Env><list>{}</list></Env>", "<Note/>".repeat(10_001));
    assert!(mapped(&provider, &request(&[], many)).expect_err("too many").detail.contains("10000 items"));
    let one = "[event]\nformat = \"xml\"\nid = [\"{xml:/Note/Id}\", \"{xml:/Env/Id}\"]\n[batch]\nitems = [\"/Env/Note\", \"\"]\n";
    assert_eq!(ids(&definition(one), &request(&[], "<Env><Id>1</Id></Env>")), Ok(vec!["1".to_owned()]));
}

#[test]
fn xml_may_stand_in_a_field_of_a_form() {
    let rest = "[event]\nformat = \"xml\"\ndocument = \"{form:payload|unbase64}\"\nid = \"{xml:/n/id}\"\n";
    let provider = definition(rest);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = "payload=PG4%2BPGlkPjE8L2lkPjwvbj4%3D";
    assert_eq!(ids(&provider, &request(&form, body)), Ok(vec!["1".to_owned()]));
}

#[test]
fn every_line_of_json_is_an_event() {
    let provider = definition("[event]\nformat = \"json-lines\"\nid = \"{json:/id}\"\nvolatile = \"/n\"\n");
    let body = "{\"id\":1}\r\n\n  {\"id\":2, \"x\":[]}\n";
    let events = mapped(&provider, &request(&[], body)).expect("maps");
    let seen: Vec<(&str, &[u8])> = events.iter().map(|event| (&*event.key.event_id, &*event.body)).collect();
    assert_eq!(seen, [("1", b"{\"id\":1}".as_slice()), ("2", b"{\"id\":2, \"x\":[]}")]);
    assert_eq!(ids(&provider, &request(&[], "\n \n")), Ok(Vec::new()));
    let broken = ids(&provider, &request(&[], "{\"id\":1}\n{\"id\":")).expect_err("broken");
    assert_eq!(broken.reason, Reason::MalformedBody);
    assert!(broken.detail.contains("line 2"), "{}", broken.detail);
    assert!(hookgate::mapping::same_event(b"{\"id\":1,\"n\":1}", b"{\"id\":1,\"n\":2}", &provider));
}

fn multipart(boundary: &str, parts: &[(&str, &str)]) -> Request {
    let parts = parts.iter().map(|(head, content)| {
        format!("--{boundary}\r\ncontent-disposition: form-data; {head}\r\n\r\n{content}\r\n")
    });
    let body = parts.collect::<String>() + &format!("--{boundary}--\r\n");
    request(&[("content-type", "multipart/form-data; boundary=chosen-by-a-stranger")], body)
}

#[test]
fn a_form_of_several_parts_has_fields_and_files() {
    let rest = "[event]\nformat = \"multipart\"\nid = \"{form:a}\"\ntype = \"{form:f?}{file:f|md5|hex}\"\n";
    let provider = definition(rest);
    let parts = [("name=\"a\"", "1 é\r\n--x"), ("name=\"f\"; filename=\"f.bin\"", "abc"), ("name=\"b\"", "")];
    // An id holds no line end, but the field does.
    assert!(mapped(&provider, &multipart("xyz", &parts)).expect_err("an id").detail.contains("control"));
    let parts = [("name=\"a\"", "1 é"), parts[1], parts[2]];
    let events = mapped(&provider, &multipart("xyz", &parts)).expect("maps");
    assert_eq!(
        (&*events[0].key.event_id, &*events[0].event_type),
        ("1 é", "900150983cd24fb0d6963f7d28e17f72")
    );
    let twice = [("name=\"a\"", "1"), ("name=\"a\"", "2")];
    assert_eq!(ids(&provider, &multipart("xyz", &twice)).expect_err("twice").reason, Reason::NoEventId);
    let mut open = multipart("xyz", &parts);
    open.body.truncate(open.body.len() - 6);
    assert_eq!(ids(&provider, &open).expect_err("not closed").reason, Reason::NoEventId);
    let many: Vec<_> = (0..1001).map(|_| ("name=\"b\"", "1")).chain([("name=\"a\"", "1")]).collect();
    assert!(ids(&provider, &multipart("xyz", &many)).is_err());
}

#[test]
fn a_format_and_its_batch_must_fit() {
    for (rest, why) in [
        ("[event]\nformat = \"json-lines\"\nid = \"1\"\n[batch]\nitems = \"/a/*\"\n", "leave [batch] out"),
        ("[event]\nformat = \"xml\"\nid = \"1\"\n[batch]\nitems = \"/a/*\"\n", "names elements"),
        ("[event]\nformat = \"xml\"\nid = \"{xml:/s:a}\"\n", "no path into XML"),
        ("[event]\nformat = \"xml\"\nid = \"{xml:a}\"\n", "no path into XML"),
        ("[event]\nformat = \"xml\"\nid = \"{xml:/@a}\"\n", "no path into XML"),
    ] {
        let panic = std::panic::catch_unwind(|| definition(rest)).expect_err("refused");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains(why), "{rest}: {message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    #[test]
    fn no_decoder_panics(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        xml in r"(<(/?)[ab](:b)?( [ab]='[&;a]*')?/?>|<!\[CDATA\[|\]\]>|&(amp|#[0-9]{1,3}|x);|<!--|-->|<\?xml |<!DOCTYPE|a|é|\n){0,40}",
        parts in "--x(\r\n|content-disposition: form-data; |name=\"?[ab]|filename=f|--x|--|: |a|;|é|\"){0,40}",
        lines in r#"(\{"id":1\}|[\[\]{}"\n\r ,:]|1){0,40}"#,
    ) {
        static PROVIDERS: OnceLock<[Arc<Provider>; 4]> = OnceLock::new();
        let providers = PROVIDERS.get_or_init(|| [
            definition(&format!("{LIST}[batch]\nitems = [\"/a/b\", \"/b\", \"\"]\n")),
            definition("[event]\nformat = \"xml\"\nid = \"{xml:/a/b/@a}{xml:/a}\"\n"),
            definition("[event]\nformat = \"json-lines\"\nid = \"{json:/id}\"\n"),
            definition("[event]\nformat = \"multipart\"\nid = \"{form:a}{file:b}\"\n"),
        ]);
        for body in [&bytes[..], xml.as_bytes(), parts.as_bytes(), lines.as_bytes()] {
            for provider in providers {
                let _ = mapped(provider, &request(&[("content-type", "multipart/form-data")], body));
            }
        }
    }
}

#[test]
fn a_success_reply_may_hold_values_of_its_request() {
    let reply = "[reply]\nsuccess = { status = 201, text = \"ok {json:/id}\", headers = { x-id = \"{header:x-id}\" } }\n";
    let provider = definition(&format!("[event]\nformat = \"json\"\nid = \"{{json:/id}}\"\n{reply}"));
    let made = |headers: &[(&str, &str)]| {
        let genuine = signed(&provider, SECRET, &request(headers, r#"{"id":"a b"}"#), at(NOW));
        hookgate::mapping::reply(&proof(decide(&genuine, &provider, NOW)), &provider)
    };
    let reply = made(&[("x-id", "7")]).expect("made");
    assert_eq!((reply.status, &*reply.body), (201, b"ok a b".as_slice()));
    assert!(reply.headers.contains(&("x-id".into(), "7".into())));
    // Without the value, or with one that no header can hold, the gateway's own reply has to do.
    assert!(made(&[]).is_none());
    assert!(made(&[("x-id", "7\r\nx: y")]).is_none());
    assert!(provider.reply(hookgate::model::Outcome::Accepted).is_none());
}

#[test]
fn an_environment_is_expected_of_forms_xml_and_lines_too() {
    let expect = |pointer: &str| vec![(pointer.to_owned(), serde_json::Value::from(false))];
    let of = |rest: &str, pointer: &str, headers: &[(&str, &str)], body: &str| {
        let provider = definition(rest);
        let genuine = signed(&provider, SECRET, &request(headers, body), at(NOW));
        let verified = proof(decide(&genuine, &provider, NOW));
        map(&verified, &provider, &"e".into(), &expect(pointer), Uuid::nil()).map_err(|why| why.reason)
    };
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let rest = "[event]\nformat = \"form\"\nid = \"{form:id}\"\n";
    assert_eq!(of(rest, "/test", &form, "id=1&test=false").expect("maps").len(), 1);
    assert_eq!(of(rest, "/test", &form, "id=1&test=true").expect_err("other"), Reason::WrongEnvironment);
    let rest = "[event]\nformat = \"xml\"\nid = \"{xml:/a/id}\"\n";
    assert_eq!(of(rest, "/a/test", &[], "<a><id>1</id><test>false</test></a>").expect("maps").len(), 1);
    assert_eq!(of(rest, "/a/test", &[], "<a><id>1</id></a>").expect_err("other"), Reason::WrongEnvironment);
    let rest = "[event]\nformat = \"json-lines\"\nid = \"{json:/id}\"\n";
    let lines = "{\"id\":1,\"test\":false}\n{\"id\":2,\"test\":";
    assert_eq!(of(rest, "/test", &[], &format!("{lines}false}}")).expect("maps").len(), 2);
    assert_eq!(
        of(rest, "/test", &[], &format!("{lines}\"false\"}}")).expect_err("other"),
        Reason::WrongEnvironment
    );
}

/// Each of these would read all of it once more, if nothing remembered what stands around the items.
#[test]
fn what_stands_around_ten_thousand_items_is_read_once() {
    let xml = definition(&format!("{LIST}[batch]\nitems = \"/Env/list/Note\"\n"));
    let notes: Vec<String> = (0..10_000).map(|number| format!("<Note><Id>{number}</Id></Note>")).collect();
    let document = format!("<Env><Org>7</Org><list n='1'>{}</list></Env>", notes.concat());
    let began = std::time::Instant::now();
    let events = mapped(&xml, &request(&[], document)).expect("maps");
    assert_eq!(&*events[9_999].key.event_id, "9999-7-1-9999");
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
