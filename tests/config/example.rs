//! `config/hookgate.toml` and its neighbours.

use std::collections::BTreeSet;
use std::path::Path;

#[cfg(feature = "full")]
use base64::Engine as _;
#[cfg(feature = "full")]
use base64::engine::general_purpose::STANDARD;
use hookgate::config::{self, Sources, json_schema};
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;

use super::{Case, SECRET};

const EXAMPLE: &str = include_str!("../../config/hookgate.toml");

/// The example with every setting switched on: `#` without a blank behind it is taken away.
fn switched_on() -> String {
    let on = |line: &str| match line.strip_prefix('#') {
        Some(setting) if !setting.is_empty() && !setting.starts_with(' ') => setting.to_owned(),
        _ => line.to_owned(),
    };
    EXAMPLE.lines().map(on).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_as_it_is_starts_without_secrets_and_sets_the_defaults() {
    let listing = |files| {
        let merged = config::merge(&Sources { files, ..Sources::default() }).expect("good");
        merged.values
    };
    assert_eq!(listing(vec!["config/hookgate.toml".into()]), listing(Vec::new()));
    let loaded = config::load(&Sources { files: vec!["config/hookgate.toml".into()], ..Sources::default() });
    let warnings = loaded.expect("good").warnings;
    assert!(warnings.len() == 1 && warnings[0].what.starts_with("there are no endpoints"), "{warnings:#?}");
}

#[test]
fn the_example_names_every_key_of_the_schema() {
    let example: Value = toml::from_str(&switched_on()).expect("TOML");
    let mut missing = BTreeSet::new();
    let schema = json_schema();
    compare(&schema, &schema, &[&example], "", &mut missing);
    assert_eq!(missing, BTreeSet::new(), "add these keys to config/hookgate.toml");
}

/// Walks schema and example together. All endpoints, routes and destinations of the example count as one.
fn compare(root: &Value, schema: &Value, examples: &[&Value], name: &str, missing: &mut BTreeSet<String>) {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(&path[1..]));
    let schema = target.unwrap_or(schema);
    if let Some(any) = schema.get("anyOf").and_then(Value::as_array) {
        for schema in any {
            compare(root, schema, examples, name, missing);
        }
    }
    if let Some(items) = schema.get("items") {
        let elements: Vec<&Value> = examples.iter().filter_map(|value| value.as_array()).flatten().collect();
        compare(root, items, &elements, name, missing);
    }
    if let Some(any) = schema.get("additionalProperties").filter(|any| any.is_object()) {
        let values: Vec<&Value> =
            examples.iter().filter_map(|value| value.as_object()).flat_map(|table| table.values()).collect();
        compare(root, any, &values, name, missing);
    }
    for (key, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let values: Vec<&Value> = examples.iter().filter_map(|value| value.get(key)).collect();
        let name = format!("{name}.{key}");
        if values.is_empty() {
            missing.insert(name);
        } else {
            compare(root, schema, &values, &name, missing);
        }
    }
}

#[cfg(feature = "full")]
#[test]
fn the_example_with_everything_switched_on_is_good() {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["partner".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate").pem();
    let case = Case::new(&switched_on().replace("include = [\"endpoints/*.toml\"]", "include = []"))
        .file("handlers/order.sql", "SELECT :amount")
        .file("tls/certificate.pem", "")
        .file("tls/key.pem", "")
        .file("tls/partner.pem", &certificate)
        .file("tls/partner.key", key.serialize_pem())
        .file("tls/partner-ca.pem", &certificate);
    let case = [
        "SLACK_SIGNING_SECRET",
        "METRICS_TOKEN",
        "ORDERS_SECRET",
        "ORDERS_OLD_SECRET",
        "CRM_SIGNING_SECRET",
        "CRM_AUTHORIZATION",
    ]
    .into_iter()
    .fold(case, |case, name| {
        case.variable(name, &format!("whsec_{}", STANDARD.encode(format!("{name:-<24}"))))
    });
    let case = case
        .variable("REDIS_URL", "rediss://:secret@redis.example.com/0")
        .variable("AMQP_URL", "amqps://hook:secret@rabbit.example.com/%2f")
        .variable("AWS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
        .variable("AWS_KEY", "secret")
        .variable("KAFKA_USER", "hook")
        .variable("KAFKA_PASSWORD", "secret");
    let loaded = case.load();
    assert_eq!(loaded.config.routes.len(), 4);
    assert_eq!(loaded.warnings.len(), 0, "{:#?}", loaded.warnings);
    // What the remarks beside an optional key call its default is what a file without it gets.
    let crm = &loaded.config.destinations["crm"];
    let without =
        Case::new("[destinations.crm]\ntype = \"http\"\nurl = \"https://crm.example.com/hooks\"\n").load();
    let default = &without.config.destinations["crm"];
    assert_eq!(
        (crm.timeout, crm.concurrency, crm.drop_signature, crm.cloudevents),
        (default.timeout, default.concurrency, default.drop_signature, default.cloudevents)
    );
    assert_eq!(crm.queue.policy(), default.queue.policy());
    assert_eq!(format!("{:?}", crm.kind), format!("{:?}", default.kind));
}

#[test]
fn each_example_endpoint_is_good_once_its_variables_are_set() {
    let mut seen = 0;
    for entry in Path::new("config/endpoints").read_dir().expect("the folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("read");
        let names = text.split("env:").skip(1).filter_map(|rest| rest.split('"').next());
        let case = names.fold(Case::new(""), |case, name| case.variable(name, SECRET));
        let sources = Sources { files: vec!["config/hookgate.toml".into(), path.clone()], ..case.sources() };
        let loaded = config::load(&sources).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(loaded.config.endpoints.len(), 1, "{}", path.display());
        seen += 1;
    }
    assert!(seen > 1);
}
