//! Variables `HOOKGATE__SECTION__KEY` as a layer.
//!
//! The schema says how to read one: where a text may stand, the variable's raw text is it (`0123` keeps its zero);
//! elsewhere it is read as a TOML value. The two underscores keep `HOOKGATE_PORT` and its like apart, which an
//! orchestrator may set for a service named hookgate.

use serde_json::Value;

use super::{Layer, insert};
use crate::config::key::{Key, Place};
use crate::config::problem::Report;
use crate::config::schema::Schema;
use crate::config::secret::Environment;

const PREFIX: &str = "HOOKGATE__";

/// What the variables say. A name that leads nowhere is left for the check of the shape to refuse.
pub(super) fn layer(environment: &Environment, schema: Schema<'_>, report: &mut Report) -> Layer {
    let mut layer = Layer::new("environment");
    for (variable, text) in environment.iter() {
        let Some(path) = variable.strip_prefix(PREFIX) else { continue };
        let names: Vec<String> = path.split("__").map(str::to_lowercase).collect();
        let place = Place::Environment(variable.into());
        let key = names.iter().fold(Key::default(), |key, name| key.child(name));
        if matches!(names[0].as_str(), "include" | "routes") {
            let what = format!("`{}` can be given in files only", names[0]);
            report.error_at(place, key, what, Some(format!("unset {variable}")));
            continue;
        }
        let leaf = names.iter().try_fold(schema, |schema, name| schema.property(name));
        insert(&mut layer.values, &names, read(text, leaf));
        note(&mut layer, &names, &place, report);
    }
    layer
}

/// The variable is the place of its key, and of tables on the way that no file has made.
fn note(layer: &mut Layer, names: &[String], place: &Place, report: &Report) {
    let mut key = Key::default();
    for name in names {
        key = key.child(name);
        if report.places.get(&key).is_none() {
            layer.places.note(key.clone(), place.clone());
        }
    }
    layer.places.note(key, place.clone());
}

fn read(text: &str, schema: Option<Schema<'_>>) -> Value {
    let string = || Value::String(text.to_owned());
    let Some(schema) = schema else { return string() };
    let structured = text.starts_with(['[', '{']) && (schema.items().is_some() || schema.is_table());
    if schema.takes_string() && !structured {
        return string();
    }
    let parsed: Option<toml::Table> = toml::from_str(&format!("value = {text}")).ok();
    parsed
        .filter(|table| table.len() == 1)
        .and_then(|table| serde_json::to_value(table.get("value")?).ok())
        .unwrap_or_else(string)
}
