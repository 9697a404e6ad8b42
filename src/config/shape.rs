//! The check of a layer's shape against the schema.
//!
//! serde stops at the first error and knows no lines; this walk reports every unknown key, wrong type and value out
//! of bounds, under its key.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::key::Key;
use super::problem::{Report, suggest};
use super::schema::Schema;

/// Reports all that is wrong with the shape of a layer, and takes unknown keys out of it, so that whoever comes next
/// can go on with the rest. Required keys are not asked for: a later layer may have them.
pub(super) fn check_layer(value: &mut Value, schema: Schema<'_>, key: &Key, report: &mut Report) {
    let Some(schema) = schema.alternatives().find(|schema| schema.has_type(type_of(value))) else {
        report.error(key, format!("found {}, expected {}", found(value, schema), expected(schema)));
        return;
    };
    match value {
        Value::Object(table) => check_table(table, schema, key, report),
        Value::Array(elements) => {
            check_length(elements.len(), schema, key, report);
            let Some(items) = schema.items() else { return };
            for (at, element) in elements.iter_mut().enumerate() {
                check_layer(element, items, &key.index(at), report);
            }
        }
        Value::String(text)
            if schema.words().next().is_some_and(|_| !schema.words().any(|word| word == text)) =>
        {
            let words: Vec<_> = schema.words().map(|word| format!("\"{word}\"")).collect();
            report.error_help(
                key,
                format!("found {text:?}, expected {}", words.join(" or ")),
                suggest(text, schema.words()),
            );
        }
        Value::Number(number) => {
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            let (low, high) = (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
            if number.as_f64().is_some_and(|number| number < low || number > high) {
                report.error(key, format!("found {number}, expected {}", expected(schema)));
            }
        }
        _ => {}
    }
}

fn check_table(table: &mut Map<String, Value>, schema: Schema<'_>, key: &Key, report: &mut Report) {
    let names: Vec<String> = table.keys().cloned().collect();
    for name in names {
        let below = key.child(&name);
        if let (Some(schema), Some(value)) = (schema.property(&name), table.get_mut(&name)) {
            check_layer(value, schema, &below, report);
        } else {
            table.shift_remove(&name);
            report.error_help(&below, "unknown key", suggest(&name, schema.names()));
        }
    }
}

fn check_length(length: usize, schema: Schema<'_>, key: &Key, report: &mut Report) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    if bound("minItems").is_some_and(|least| length < least) {
        report.error(key, "the list is empty; at least one is needed");
    }
    if let Some(most) = bound("maxItems").filter(|most| length > *most) {
        report.error(key, format!("the list has {length} entries; at most {most} are possible"));
    }
}

/// Reports what is required and stands in no layer. `value` is all layers merged.
pub(super) fn check_required(value: &Value, schema: Schema<'_>, key: &Key, report: &mut Report) {
    let Some(schema) = schema.alternatives().find(|schema| schema.has_type(type_of(value))) else { return };
    match value {
        Value::Object(table) => {
            for missing in schema.required().filter(|name| !table.contains_key(*name)) {
                let about = schema.property(missing).and_then(Schema::description).unwrap_or_default();
                report.error_help(&key.child(missing), "is missing", about);
            }
            for (name, value) in table {
                if let Some(schema) = schema.property(name) {
                    check_required(value, schema, &key.child(name), report);
                }
            }
        }
        Value::Array(elements) => {
            let Some(items) = schema.items() else { return };
            for (at, element) in elements.iter().enumerate() {
                check_required(element, items, &key.index(at), report);
            }
        }
        _ => {}
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What stands there. A secret's place may hold the secret itself: only its type is named.
fn found(value: &Value, schema: Schema<'_>) -> String {
    match value {
        Value::String(text) if !schema.is_secret() => format!("the text {text:?}"),
        Value::String(_) => "a text".to_owned(),
        Value::Number(_) if schema.is_secret() => "a number".to_owned(),
        Value::Number(number) => format!("the number {number}"),
        Value::Bool(flag) => flag.to_string(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        Value::Null => "nothing".to_owned(),
    }
}

fn expected(schema: Schema<'_>) -> String {
    let kinds: Vec<String> = schema.alternatives().filter_map(kind).collect();
    let mut text = kinds.join(" or ");
    let example = schema.get("examples").and_then(|all| all.get(0)).and_then(Value::as_str);
    if let Some(example) = example {
        let _ = write!(text, " such as {example:?}");
    }
    text
}

fn kind(schema: Schema<'_>) -> Option<String> {
    let bound = |name: &str| schema.get(name).map(ToString::to_string);
    let name = ["string", "integer", "boolean", "array", "object", "number"]
        .into_iter()
        .find(|name| schema.has_type(name))?;
    Some(match (name, bound("minimum"), bound("maximum")) {
        ("integer", Some(low), Some(high)) => format!("a whole number from {low} to {high}"),
        ("integer", ..) => "a whole number".to_owned(),
        ("string", ..) => "a text in quotes".to_owned(),
        ("boolean", ..) => "true or false".to_owned(),
        ("array", ..) => "a list".to_owned(),
        ("object", ..) => "a table".to_owned(),
        _ => "a number".to_owned(),
    })
}
