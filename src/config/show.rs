//! `config show`: the merged configuration, each value with the layer that it came from, secrets masked.

use std::fmt::Write as _;

use serde_json::Value;

use super::Merged;
use super::key::{Key, Place};
use super::schema::{Schema, json_schema};
use super::secret::SecretRef;

/// Where the comments begin, unless a line is longer.
const COMMENT_COLUMN: usize = 44;

impl Merged {
    /// A listing in the form of TOML.
    #[must_use]
    pub fn show(&self) -> String {
        let root = json_schema();
        let mut lister = Lister { merged: self, text: String::new() };
        lister.table(&self.values, Schema::new(&root), &Key::default());
        lister.text
    }
}

struct Lister<'a> {
    merged: &'a Merged,
    text: String,
}

impl Lister<'_> {
    /// Plain values first, then tables: otherwise they would stand in the last table.
    fn table(&mut self, value: &Value, schema: Schema<'_>, key: &Key) {
        let Value::Object(table) = value else { return };
        let schema_of = |name: &str| schema.property(name).unwrap_or(schema);
        for (name, value) in table.iter().filter(|(name, value)| !is_section(key, name, value)) {
            self.line(name, &written(value, schema_of(name)), &key.child(name));
        }
        for (name, value) in table.iter().filter(|(name, value)| is_section(key, name, value)) {
            let (schema, below) = (schema_of(name), key.child(name));
            match value {
                Value::Array(elements) => {
                    let Some(items) = schema.items() else { continue };
                    for (at, element) in elements.iter().enumerate() {
                        let _ = writeln!(self.text, "\n[[{below}]]");
                        self.table(element, items, &below.index(at));
                    }
                }
                Value::Object(inner) => {
                    let all_tables = inner.iter().all(|(name, value)| is_section(&below, name, value));
                    if !all_tables {
                        let _ = writeln!(self.text, "\n[{below}]");
                    }
                    self.table(value, schema, &below);
                }
                _ => {}
            }
        }
    }

    fn line(&mut self, name: &str, value: &str, key: &Key) {
        let place = self.merged.places.get(key).unwrap_or(&Place::Default).line();
        let setting = format!("{} = {value}", Key::of(&[name]));
        let _ = writeln!(self.text, "{setting:COMMENT_COLUMN$} # {place}");
    }
}

/// Tables of the first two levels, and lists of tables, have a heading; smaller ones stand on one line.
fn is_section(parent: &Key, name: &str, value: &Value) -> bool {
    let named = [Key::of(&["endpoints"]), Key::of(&["destinations"])];
    match value {
        Value::Object(_) => *parent == Key::default() || named.contains(parent),
        Value::Array(_) => *parent == Key::default() && name == "routes",
        _ => false,
    }
}

/// A value as TOML on one line.
fn written(value: &Value, schema: Schema<'_>) -> String {
    match value {
        Value::String(text) if schema.is_secret() => Value::String(masked(text)).to_string(),
        Value::Array(elements) => {
            let schema = schema.items().unwrap_or(schema);
            let inner: Vec<_> = elements.iter().map(|element| written(element, schema)).collect();
            format!("[{}]", inner.join(", "))
        }
        Value::Object(table) => {
            let entry = |(name, value): (&String, &Value)| {
                let schema = schema.property(name).unwrap_or(schema);
                format!("{} = {}", Key::of(&[name]), written(value, schema))
            };
            let inner: Vec<_> = table.iter().map(entry).collect();
            if inner.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", inner.join(", ")) }
        }
        other => other.to_string(),
    }
}

/// References stay as they are; what may be a secret's own value does not.
fn masked(text: &str) -> String {
    match SecretRef::parse(text) {
        Ok(reference) => reference.describe(),
        Err(_) => match text.split_once("://") {
            Some(("sqlite", _)) => text.to_owned(),
            Some((scheme, rest)) => {
                let location = rest.rsplit_once('@').map_or(rest, |(_, location)| location);
                format!("{scheme}://…@{}", location.split('?').next().unwrap_or_default())
            }
            None => "…".to_owned(),
        },
    }
}
