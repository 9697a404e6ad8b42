//! The check of a layer's shape against the schema.
//!
//! serde stops at the first error and knows no lines; this walk reports every unknown key, wrong type and value out
//! of bounds, under its key.
//!
//! What no error shows: a text where something else than a text is expected (`secrets = "whsec_…"`, a URL in the place
//! of `[database]`), for it may be a secret in the wrong place; and whatever stands under a key that bears secrets.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::key::Key;
use super::problem::{Report, suggest};
use super::schema::Schema;

/// Reports all that is wrong with the shape of a layer, and takes what is wrong out of it, so that whoever comes next
/// can go on with the rest. Required keys are not asked for: a later layer may have them. `false` if the value itself
/// must go.
pub(super) fn check_layer(value: &mut Value, schema: Schema<'_>, key: &Key, report: &mut Report) -> bool {
    let Some(schema) = schema.alternatives().find(|schema| schema.has_type(type_of(value))) else {
        report.error(
            key,
            format!("found {}, expected {}", found(value, is_secret(schema, key)), expected(schema)),
        );
        return false;
    };
    match value {
        Value::Object(table) => {
            check_table(table, schema, key, report);
            true
        }
        Value::Array(elements) => check_elements(elements, schema, key, report),
        Value::String(text) => check_word(text, schema, key, report),
        Value::Number(number) => {
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            let (low, high) = (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
            let fits = number.as_f64().is_some_and(|number| (low..=high).contains(&number));
            if !fits {
                let found = if is_secret(schema, key) { "a number".to_owned() } else { number.to_string() };
                report.error(key, format!("found {found}, expected {}", expected(schema)));
            }
            fits
        }
        _ => true,
    }
}

fn check_table(table: &mut Map<String, Value>, schema: Schema<'_>, key: &Key, report: &mut Report) {
    table.retain(|name, value| {
        let below = key.child(name);
        if let Some(schema) = schema.property(name) {
            return check_layer(value, schema, &below, report);
        }
        let known = suggest(name, schema.names());
        if key.bears_secret() {
            // Even the name may be a secret, in `secrets = [{ whsec_… = "" }]`.
            report.error_at(
                report.places.nearest(&below),
                key.clone(),
                "unknown key in this table",
                Some(known),
            );
        } else {
            report.error_help(&below, "unknown key", known);
        }
        false
    });
}

/// One wrong element takes the list with it: without it the others would have other places.
fn check_elements(elements: &mut [Value], schema: Schema<'_>, key: &Key, report: &mut Report) -> bool {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let too_few = bound("minItems").is_some_and(|least| elements.len() < least);
    if too_few {
        report.error(key, "the list is empty; at least one is needed");
    }
    let too_many = bound("maxItems").filter(|most| elements.len() > *most);
    if let Some(most) = too_many {
        report.error(key, format!("the list has {} entries; at most {most} are possible", elements.len()));
    }
    let mut good = !too_few && too_many.is_none();
    let Some(items) = schema.items() else { return good };
    for (at, element) in elements.iter_mut().enumerate() {
        good &= check_layer(element, items, &key.index(at), report);
    }
    good
}

fn check_word(text: &str, schema: Schema<'_>, key: &Key, report: &mut Report) -> bool {
    let words: Vec<_> = schema.words().map(|word| format!("\"{word}\"")).collect();
    if words.is_empty() || schema.words().any(|word| word == text) {
        return true;
    }
    let found = if is_secret(schema, key) { "another text".to_owned() } else { format!("{text:?}") };
    let what = format!("found {found}, expected {}", words.join(" or "));
    report.error_help(key, what, suggest(text, schema.words()));
    false
}

/// Reports what is required and stands in no layer, and takes tables out of which something is missing. `value` is
/// all layers merged. `false` if the value itself must go.
pub(super) fn check_required(value: &mut Value, schema: Schema<'_>, key: &Key, report: &mut Report) -> bool {
    let Some(schema) = schema.alternatives().find(|schema| schema.has_type(type_of(value))) else {
        return false;
    };
    match value {
        Value::Object(table) => {
            for missing in schema.required().filter(|name| !table.contains_key(*name)) {
                let below = key.child(missing);
                if !report.has_error_within(&below) {
                    let about = schema.property(missing).and_then(Schema::description).unwrap_or_default();
                    report.error_help(&below, "is missing", about);
                }
            }
            table.retain(|name, value| {
                let Some(schema) = schema.property(name) else { return true };
                let below = key.child(name);
                let good = check_required(value, schema, &below, report);
                if !good {
                    report.dropped.insert(below);
                }
                good
            });
            schema.required().all(|name| table.contains_key(name))
        }
        Value::Array(elements) => {
            let Some(items) = schema.items() else { return true };
            let mut good = true;
            for (at, element) in elements.iter_mut().enumerate() {
                good &= check_required(element, items, &key.index(at), report);
            }
            good
        }
        _ => true,
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

fn is_secret(schema: Schema<'_>, key: &Key) -> bool {
    schema.is_secret() || key.bears_secret()
}

/// What stands where another type is expected. A text is never repeated, nor a number in a secret's place.
fn found(value: &Value, secret: bool) -> String {
    match value {
        Value::String(_) => "a text".to_owned(),
        Value::Number(_) if secret => "a number".to_owned(),
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
