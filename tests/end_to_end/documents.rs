//! Events whose bytes are no JSON: handlers read them all the same, and what is stored is what came.

use std::collections::BTreeMap;

use hookgate::clock::{Clock as _, SystemClock};
use hookgate::model::{Headers, Request, Secret};
use hookgate::provider::Catalogue;
use hookgate::verify;

use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::GatewayConfig;
use crate::support::http;

const SECRET: &str = "a-secret-of-some-length-for-tests";

/// A list in XML, with a token, that wants the id of the whole echoed.
const SOAP: &str = r#"id = "soap"
name = "Soap"
confidence = "confirmed"
docs = "https://example.com"
[dashboard]
place = "Settings"
secret = "the token"
[[verify]]
name = "token"
algorithm = "token"
signature = { from = "{header:x-token}", encoding = "plain" }
[event]
format = "xml"
id = "{xml:/Note/Id}"
[batch]
items = "/Env/Note"
[reply]
success = { status = 200, text = "<Ack>{xml:/Env/Id}</Ack>", content_type = "text/xml" }
"#;

const NOTE: &str =
    "INSERT INTO seen (event_id, value, payload) VALUES (:event_id, :value, CAST(:payload AS text));";

async fn handlers_read_what_stands_in_a_form_and_in_xml(engine: Engine) {
    for mode in ["sync", "async"] {
        let database = Database::new(engine).await;
        database.execute("CREATE TABLE seen (event_id text, value text, payload text)").await;
        let gateway = GatewayConfig::new(&database.url, mode)
            .definition("soap", SOAP)
            .endpoint("github", SECRET, mode, NOTE, r#"{ value = { pointer = "/action" } }"#)
            .endpoint("soap", SECRET, mode, NOTE, r#"{ value = { pointer = "/Note/@kind" } }"#)
            .start()
            .await;

        let form = b"payload=%7B%22action%22%3A%22opened%22%7D".as_slice();
        let answer = http::post(gateway.ingress, "/github", &signed(form), form).await.expect("an answer");
        assert_eq!(answer.status, 200, "{mode}: {}", answer.text());
        let stored = "SELECT body FROM webhook_inbox WHERE provider = 'github'";
        assert_eq!(database.bytes(stored).await, [form], "{mode}");

        let list =
            "<Env><Id>7&amp;8</Id><Note kind='a'><Id>1</Id></Note><Note kind='b'><Id>2</Id></Note></Env>";
        let answer = http::post(gateway.ingress, "/soap", &[("x-token", SECRET.as_bytes())], list).await;
        let answer = answer.expect("an answer");
        assert_eq!((answer.status.as_u16(), &*answer.text()), (200, "<Ack>7&8</Ack>"), "{mode}");
        assert_eq!(answer.headers["content-type"], "text/xml");

        // The batch is kept once, beside its events; the form is a single event.
        assert_eq!(database.bytes("SELECT body FROM webhook_requests").await, [list.as_bytes()], "{mode}");

        database.wait_for("SELECT count(*) FROM seen", 3).await;
        for (value, part) in [("opened", "\"action\""), ("a", "{\"Note\""), ("b", "\"Id\"")] {
            let seen =
                format!("SELECT count(*) FROM seen WHERE value = '{value}' AND payload LIKE '%{part}%'");
            assert_eq!(database.count(&seen).await, 1, "{mode}: {value}");
        }
    }
}

/// GitHub's headers for this body, with its signature.
fn signed(body: &'static [u8]) -> Vec<(&'static str, &'static [u8])> {
    let mut headers = Headers::new();
    headers.push("content-type", *b"application/x-www-form-urlencoded");
    let request = Request { method: "POST".into(), ..Request::bare(headers, body.into()) };
    let catalogue = Catalogue::load(&[]).expect("embedded");
    let provider =
        catalogue.get("github").expect("there").configure(&BTreeMap::default()).expect("configured");
    let signed = verify::sign(&provider, &Secret::new(SECRET), &request, SystemClock.now()).expect("signs");
    let signature =
        signed.headers.into_iter().find(|(name, _)| name == "x-hub-signature-256").expect("signed").1;
    vec![
        ("content-type", b"application/x-www-form-urlencoded"),
        ("x-github-event", b"issues"),
        ("x-github-delivery", b"72d3162e-cc78-11e3-81ab-4c9367dc0958"),
        ("x-hub-signature-256", signature.into_bytes().leak()),
    ]
}

both_engines!(handlers_read_what_stands_in_a_form_and_in_xml);
