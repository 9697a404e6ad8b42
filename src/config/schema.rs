//! The JSON Schema of a file, and the check of a layer's shape against it.
//!
//! serde stops at the first error and knows no lines; this walk reports every unknown key, wrong type and value out
//! of bounds, under its key. It reads the part of JSON Schema that schemars writes for [`super::raw`].

use serde_json::{Map, Value};

use super::key::Key;
use super::problem::{Report, suggest};
use super::raw::Raw;

/// A schema, with the root that its `$ref`s are looked up in.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    root: &'a Value,
    node: &'a Value,
}

/// The schema of a configuration file (JSON Schema 2020-12).
#[must_use]
pub fn json_schema() -> Value {
    schemars::schema_for!(Raw).to_value()
}

impl<'a> Schema<'a> {
    /// The whole.
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, node: root }
    }

    /// The schema of a value in this table, if there may be one of that name.
    pub(super) fn property(self, name: &str) -> Option<Self> {
        let this = self.alternatives().find(|schema| schema.has_type("object"))?;
        let named = this.node.pointer("/properties").and_then(|all| all.get(name));
        let any = this.node.get("additionalProperties").filter(|any| **any != Value::Bool(false));
        Some(this.at(named.or(any)?))
    }

    /// Whether a string may stand here.
    pub(super) fn takes_string(self) -> bool {
        self.alternatives().any(|schema| schema.has_type("string"))
    }

    /// Whether a table may stand here.
    pub(super) fn is_table(self) -> bool {
        self.alternatives().any(|schema| schema.has_type("object"))
    }

    /// Whether what stands here is a secret, or refers to one.
    pub(super) fn is_secret(self) -> bool {
        self.node.get("writeOnly").is_some()
            || self.alternatives().any(|schema| schema.node.get("writeOnly").is_some())
    }

    /// The schema of the elements, where this may be an array.
    pub(super) fn items(self) -> Option<Self> {
        let this = self.alternatives().find(|schema| schema.has_type("array"))?;
        Some(this.at(this.node.get("items")?))
    }

    /// The tables' keys that this may hold.
    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        let properties = self.deref().node.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    fn required(self) -> impl Iterator<Item = &'a str> {
        self.node.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// The kinds of value that may stand here: one, or those of a possibly nested `anyOf`.
    fn alternatives(self) -> impl Iterator<Item = Self> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found.into_iter()
    }

    fn collect(self, found: &mut Vec<Self>) {
        let this = self.deref();
        match this.node.get("anyOf").and_then(Value::as_array) {
            Some(any) => any.iter().for_each(|node| this.at(node).collect(found)),
            None => found.push(this),
        }
    }

    fn has_type(self, name: &str) -> bool {
        match self.node.get("type") {
            Some(Value::String(one)) => one == name,
            Some(Value::Array(several)) => several.iter().any(|one| one == name),
            // An enumeration of documented words has no `type` of its own; anything goes has none at all.
            _ if self.words().next().is_some() => name == "string",
            _ => true,
        }
    }

    fn words(self) -> impl Iterator<Item = &'a str> {
        let list = |name: &str| self.node.get(name).and_then(Value::as_array).into_iter().flatten();
        let documented = list("oneOf").filter_map(|word| word.get("const"));
        list("enum").chain(documented).filter_map(Value::as_str)
    }

    fn deref(self) -> Self {
        let target =
            self.node.get("$ref").and_then(Value::as_str).and_then(|path| self.root.pointer(&path[1..]));
        target.map_or(self, |node| self.at(node))
    }

    fn at(self, node: &'a Value) -> Self {
        Self { root: self.root, node }
    }
}

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
            let bound = |name: &str| schema.node.get(name).and_then(Value::as_f64);
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
        match (schema.property(&name), table.get_mut(&name)) {
            (Some(schema), Some(value)) => check_layer(value, schema, &below, report),
            _ => {
                table.shift_remove(&name);
                report.error_help(&below, "unknown key", suggest(&name, schema.names()));
            }
        }
    }
}

fn check_length(length: usize, schema: Schema<'_>, key: &Key, report: &mut Report) {
    let bound =
        |name: &str| schema.node.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
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

impl Schema<'_> {
    fn description(self) -> Option<String> {
        let text = self.node.get("description").or_else(|| self.deref().node.get("description"))?;
        Some(text.as_str()?.replace('\n', " "))
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
    let example = schema.deref().node.get("examples").and_then(|all| all.get(0)).and_then(Value::as_str);
    if let Some(example) = example {
        text.push_str(&format!(" such as {example:?}"));
    }
    text
}

fn kind(schema: Schema<'_>) -> Option<String> {
    let bound = |name: &str| schema.node.get(name).map(ToString::to_string);
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
