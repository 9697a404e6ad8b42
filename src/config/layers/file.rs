//! A TOML file as a layer.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, TableLike, Value as Toml};

use super::Layer;
use crate::config::key::{Key, Place, Places};
use crate::config::problem::Report;

/// Reads a file; what is wrong with it is reported.
pub(super) fn read(path: &Path, report: &mut Report) -> Option<Layer> {
    let start = |line, column| Place::File { path: path.into(), line, column };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            report.error_at(start(1, 1), Key::default(), format!("cannot read the file: {error}"), None);
            return None;
        }
    };
    match Document::parse(text.as_str()) {
        Ok(document) => {
            let mut reader = Reader { path: path.into(), text: &text, places: Places::default() };
            let values = Value::Object(reader.table(document.as_table(), &Key::default()));
            Some(Layer { name: path.display().to_string(), values, places: reader.places })
        }
        Err(error) => {
            let (line, column) = position(&text, error.span().map_or(0, |span| span.start));
            report.error_at(
                start(line, column),
                Key::default(),
                format!("not TOML: {}", error.message()),
                None,
            );
            None
        }
    }
}

struct Reader<'a> {
    path: Arc<Path>,
    text: &'a str,
    places: Places,
}

impl Reader<'_> {
    fn table(&mut self, table: &dyn TableLike, key: &Key) -> Map<String, Value> {
        let mut values = Map::new();
        for (name, item) in table.iter() {
            let below = key.child(name);
            let at = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
            self.note(&below, at);
            values.insert(name.to_owned(), self.item(item, &below));
        }
        values
    }

    fn item(&mut self, item: &Item, key: &Key) -> Value {
        match item {
            Item::None => Value::Null,
            Item::Value(value) => self.value(value, key),
            Item::Table(table) => Value::Object(self.table(table, key)),
            Item::ArrayOfTables(tables) => {
                let mut elements = Vec::new();
                for (at, table) in tables.iter().enumerate() {
                    let below = key.index(at);
                    self.note(&below, table.span());
                    elements.push(Value::Object(self.table(table, &below)));
                }
                Value::Array(elements)
            }
        }
    }

    fn value(&mut self, value: &Toml, key: &Key) -> Value {
        match value {
            Toml::String(text) => Value::String(text.value().clone()),
            Toml::Integer(number) => (*number.value()).into(),
            Toml::Float(number) => (*number.value()).into(),
            Toml::Boolean(flag) => Value::Bool(*flag.value()),
            // An unquoted date stands for its text: `until = 2027-01-31`.
            Toml::Datetime(time) => Value::String(time.value().to_string()),
            Toml::InlineTable(table) => Value::Object(self.table(table, key)),
            Toml::Array(array) => {
                let mut elements = Vec::new();
                for (at, element) in array.iter().enumerate() {
                    let below = key.index(at);
                    self.note(&below, element.span());
                    elements.push(self.value(element, &below));
                }
                Value::Array(elements)
            }
        }
    }

    fn note(&mut self, key: &Key, span: Option<std::ops::Range<usize>>) {
        let Some(span) = span else { return };
        let (line, column) = position(self.text, span.start);
        self.places.note(key.clone(), Place::File { path: self.path.clone(), line, column });
    }
}

/// Line and column (in characters) of a byte, both from 1.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
