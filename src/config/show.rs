//! `config show`: the merged configuration, each value with the layer that it came from, secrets masked.
//!
//! Masked are: what the schema says is a secret; the settings of an endpoint that its provider's definition says are
//! (all of them if there is no such definition); user, password, query and fragment of every URL.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::Merged;
use super::key::{Key, Place};
use super::schema::{Schema, json_schema};
use super::secret::SecretRef;
use crate::provider::Catalogue;

/// Where the comments begin, unless a line is longer.
const COMMENT_COLUMN: usize = 44;

impl Merged {
    /// A listing in the form of TOML.
    #[must_use]
    pub fn show(&self) -> String {
        let root = json_schema();
        let mut lister = Lister { merged: self, open: self.open_settings(), text: String::new() };
        lister.table(&self.values, Schema::new(&root), &Key::default());
        lister.text
    }

    /// The settings that may be shown, by the key of the table they stand in.
    fn open_settings(&self) -> BTreeMap<Key, Vec<String>> {
        let folder = self.places.nearest(&Key::of(&["providers_dirs"])).folder();
        let dirs = self.values.get("providers_dirs").and_then(Value::as_array).into_iter().flatten();
        let dirs: Vec<_> = dirs.filter_map(Value::as_str).map(|dir| folder.join(dir)).collect();
        let Ok(catalogue) = Catalogue::load(&dirs) else { return BTreeMap::new() };
        let endpoints = self.values.get("endpoints").and_then(Value::as_object).into_iter().flatten();
        endpoints
            .filter_map(|(name, endpoint)| {
                let provider = catalogue.get(endpoint.get("provider")?.as_str()?)?;
                let open = provider.settings().iter().filter(|setting| !setting.secret);
                let names = open.map(|setting| setting.name.clone()).collect();
                Some((Key::of(&["endpoints", name, "settings"]), names))
            })
            .collect()
    }
}

struct Lister<'a> {
    merged: &'a Merged,
    /// See [`Merged::open_settings`].
    open: BTreeMap<Key, Vec<String>>,
    text: String,
}

impl Lister<'_> {
    /// Plain values first, then tables: otherwise they would stand in the last table.
    fn table(&mut self, value: &Value, schema: Schema<'_>, key: &Key) {
        let Value::Object(table) = value else { return };
        let schema_of = |name: &str| schema.property(name).unwrap_or(schema);
        for (name, value) in table.iter().filter(|(name, value)| !is_section(key, name, value)) {
            let below = key.child(name);
            let text = self.written(value, schema_of(name), &below);
            self.line(name, &text, &below);
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

    /// A value as TOML on one line.
    fn written(&self, value: &Value, schema: Schema<'_>, key: &Key) -> String {
        match value {
            Value::String(text) if key.name().is_some_and(|name| name.ends_with("url")) => {
                Value::String(masked(text, url)).to_string()
            }
            // Beside a secret, which may stand here by mistake.
            Value::String(text) if key.name() == Some("until") && !text.chars().all(in_a_moment) => {
                "\"…\"".to_owned()
            }
            Value::String(text) if schema.is_secret() || self.is_secret_setting(key) => {
                Value::String(masked(text, |_| "…".to_owned())).to_string()
            }
            Value::Array(elements) => {
                let schema = schema.items().unwrap_or(schema);
                let written = |(at, element)| self.written(element, schema, &key.index(at));
                let inner: Vec<_> = elements.iter().enumerate().map(written).collect();
                format!("[{}]", inner.join(", "))
            }
            Value::Object(table) => {
                let entry = |(name, value): (&String, &Value)| {
                    let schema = schema.property(name).unwrap_or(schema);
                    let written = self.written(value, schema, &key.child(name));
                    // With name and value swapped the name is the secret.
                    let swapped = key.name() == Some("headers") && name.parse::<http::HeaderName>().is_err();
                    format!("{} = {written}", Key::of(&[if swapped { "…" } else { name }]))
                };
                let inner: Vec<_> = table.iter().map(entry).collect();
                if inner.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", inner.join(", ")) }
            }
            other => other.to_string(),
        }
    }

    fn is_secret_setting(&self, key: &Key) -> bool {
        let (Some(table), Some(name)) = (key.parent(), key.name()) else { return false };
        let open = self.open.get(&table).is_some_and(|open| open.iter().any(|other| other == name));
        table.name() == Some("settings") && !open
    }
}

/// Tables of the first two levels, and lists of tables, have a heading; smaller ones stand on one line.
fn is_section(parent: &Key, name: &str, value: &Value) -> bool {
    let named = ["endpoints", "handlers", "destinations"].map(|name| Key::of(&[name]));
    match value {
        Value::Object(_) => *parent == Key::default() || named.contains(parent),
        Value::Array(_) => *parent == Key::default() && name == "routes",
        _ => false,
    }
}

/// References stay as they are; what may be a secret's own value is replaced.
fn masked(text: &str, replace: impl Fn(&str) -> String) -> String {
    match SecretRef::parse(text) {
        Ok(reference) => reference.describe(),
        Err(_) => replace(text),
    }
}

/// A URL without user, password, query and fragment. Where it is not plain which is which, only the scheme is left.
fn url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return "…".to_owned() };
    let (location, tail) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    // A path of SQLite's is no URL: `@` and `#` are part of its name.
    match (scheme, tail.contains('@'), location.rsplit_once('@')) {
        ("sqlite", ..) => text.to_owned(),
        (_, true, _) => format!("{scheme}://…"),
        (_, _, Some((_, location))) => format!("{scheme}://…@{location}{}", hidden(tail)),
        (_, _, None) => format!("{scheme}://{location}{}", hidden(tail)),
    }
}

/// Whether a day or an RFC 3339 time may have this character.
fn in_a_moment(char: char) -> bool {
    char.is_ascii_digit() || "-:+. TtZz".contains(char)
}

fn hidden(tail: &str) -> &'static str {
    if tail.is_empty() { "" } else { "?…" }
}
