//! What SQL modules see of events that are no JSON, for every provider of the catalogue that sends such.

use std::collections::BTreeMap;
use std::sync::Arc;

use hookgate::clock::Timestamp;
use hookgate::config::SqlType;
use hookgate::handler::Handler as _;
use hookgate::handler::sql::SqlHandler;
use hookgate::mapping;
use hookgate::model::{Event, Headers};
use hookgate::provider::{Catalogue, Provider, SampleIds};
use hookgate::store::{Param, Sql};
use serde_json::Value;

use super::modules::module;
use super::support::{databases, event, row};

/// An event as it is stored, and what is expected of one value of it.
struct Case {
    name: String,
    event: Event,
    pointer: String,
    value: String,
}

/// Every sample whose body is no JSON, but of which something is read.
fn cases() -> Vec<Case> {
    let catalogue = Catalogue::load(&[]).expect("embedded");
    let ids = SampleIds { event: "1a2b3c".into(), object: "9z8y7x".into() };
    let now = Timestamp::from_timestamp(1_800_000_000, 0).expect("a time");
    let mut cases = Vec::new();
    for provider in catalogue.iter().map(|provider| configured(provider)) {
        for sample in provider.samples() {
            let (headers, body) = sample.render(&ids, now);
            let opaque = provider.description()["event"]["format"] == "opaque";
            if opaque || serde_json::from_slice::<Value>(&body).is_ok() {
                continue;
            }
            let name = format!("{} {}", provider.id(), sample.event_type);
            let document = mapping::as_json(&provider, &headers, &body);
            let document = document.unwrap_or_else(|| panic!("{name}: handlers cannot read it"));
            let json: Value = serde_json::from_slice(&document).unwrap_or_else(|_| panic!("{name}: no JSON"));
            let (pointer, value) = text("", &json).unwrap_or_else(|| panic!("{name}: holds no text"));
            let mut event = event(&sample.event_type, &name, "");
            (event.headers, event.body, event.document) = (Arc::new(headers), body, Some(document));
            cases.push(Case { name, event, pointer, value });
        }
    }
    cases
}

fn configured(provider: &Provider) -> Arc<Provider> {
    let required = provider.settings().iter().filter(|setting| setting.default.is_none());
    let settings: BTreeMap<String, String> = required
        .map(|setting| (setting.name.clone(), setting.example.clone().unwrap_or_else(|| "example".into())))
        .collect();
    provider.configure(&settings).expect("settings fit")
}

/// The first text in a document, and where it is.
fn text(at: &str, json: &Value) -> Option<(String, String)> {
    match json {
        Value::String(text) if !text.is_empty() => Some((at.to_owned(), text.clone())),
        Value::Object(object) => object.iter().find_map(|(name, value)| {
            text(&format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), value)
        }),
        Value::Array(values) => {
            values.iter().enumerate().find_map(|(index, value)| text(&format!("{at}/{index}"), value))
        }
        _ => None,
    }
}

#[tokio::test]
async fn modules_read_the_fields_of_every_provider_that_sends_forms_or_xml() {
    let cases = cases();
    let senders = "jotform mailchimp_marketing paddle_classic slack_commands slack_interactivity travis_ci twilio withings";
    for provider in senders.split(' ') {
        assert!(cases.iter().any(|case| case.name.starts_with(provider)), "{provider}: has its sample gone?");
    }
    for db in databases().await {
        for Case { name, event, pointer, value } in &cases {
            let mut tx = db.begin().await;
            tx.execute_text("CREATE TABLE seen (v text, p text, b text)", &[]).await.expect("a table");
            let sql = "INSERT INTO seen VALUES (:v, CAST(:payload AS text), CASE WHEN :body IS NULL THEN 'no' ELSE 'yes' END)";
            let module = module(sql, &[("v", pointer, SqlType::Text)]);
            let handler = SqlHandler::new(&module, "hookgate.toml:1", db.dialect).expect(name);
            handler.handle(&mut tx, event).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            match row(&mut tx, Sql::same("SELECT v, p, b FROM seen"), &[]).await.as_deref() {
                Some([Param::Text(Some(v)), Param::Text(Some(p)), Param::Text(Some(b))]) => {
                    assert_eq!((&**v, &**b), (&**value, "yes"), "{name}");
                    assert!(p.starts_with('{') || p.starts_with('['), "{name}: {p}");
                }
                other => panic!("{name}: {other:?}"),
            }
            tx.rollback().await;
        }
    }
}

/// Providers that an operator can tell to send their JSON in a field of a form; their samples are JSON.
#[test]
fn json_in_a_field_of_a_form_is_read_like_json_alone() {
    let catalogue = Catalogue::load(&[]).expect("embedded");
    let ids = SampleIds { event: "1a2b3c".into(), object: "9z8y7x".into() };
    let now = Timestamp::from_timestamp(1_800_000_000, 0).expect("a time");
    for id in ["github", "gitea", "github_marketplace"] {
        let provider = configured(&catalogue.get(id).expect(id));
        for sample in provider.samples() {
            let (headers, json) = sample.render(&ids, now);
            assert_eq!(mapping::as_json(&provider, &headers, &json), None, "{id}: it is JSON itself");
            let text = std::str::from_utf8(&json).expect("text");
            let body = serde_urlencoded::to_string([("payload", text)]).expect("a form").into();
            assert_eq!(mapping::as_json(&provider, &form(), &body), Some(json), "{id}");
        }
    }
}

/// Where an event is mostly JSON, and sometimes a form by itself.
#[test]
fn a_form_instead_of_the_usual_json_is_read_as_its_fields() {
    let catalogue = Catalogue::load(&[]).expect("embedded");
    for id in ["mailgun", "slack_events", "woocommerce"] {
        let provider = configured(&catalogue.get(id).expect(id));
        let read = mapping::as_json(&provider, &form(), &"event=delivered&a=1&a=2".into());
        assert_eq!(read.as_deref(), Some(br#"{"event":"delivered","a":["1","2"]}"#.as_slice()), "{id}");
    }
}

fn form() -> Headers {
    let mut headers = Headers::new();
    headers.push("content-type", *b"application/x-www-form-urlencoded");
    headers
}
