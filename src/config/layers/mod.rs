//! The layers: embedded defaults < files in order < environment < flags. Each knows where its values were written;
//! figment merges them.

mod environment;
mod file;
mod include;

use figment::providers::Serialized;
use figment::value::{Dict, Map};
use figment::{Figment, Metadata, Profile, Provider};
use serde_json::Value;

use super::key::{Key, Place, Places};
use super::load::{Flag, Sources};
use super::problem::Report;
use super::raw::Raw;
use super::schema::Schema;
use super::shape::check_layer;

/// One layer: a table of values, and where each was written.
#[derive(Debug)]
pub(super) struct Layer {
    name: String,
    values: Value,
    places: Places,
}

impl Layer {
    fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: Value::Object(serde_json::Map::new()), places: Places::default() }
    }
}

/// How figment sees a layer.
impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Serialized::defaults(&self.values).data()
    }
}

/// All layers merged. What is wrong with the shape of any of them is in `report` afterwards, and so are the places.
pub(super) fn merge(sources: &Sources, schema: Schema<'_>, report: &mut Report) -> Figment {
    let mut figment = Figment::from(Serialized::defaults(Raw::default()));
    for layer in include::files(&sources.files, report) {
        figment = add(figment, layer, schema, report);
    }
    let layer = environment::layer(&sources.environment, schema, report);
    figment = add(figment, layer, schema, report);
    add(figment, flags(&sources.flags), schema, report)
}

fn add(figment: Figment, mut layer: Layer, schema: Schema<'_>, report: &mut Report) -> Figment {
    report.places.extend(&layer.places);
    check_layer(&mut layer.values, schema, &Key::default(), report);
    figment.merge(layer)
}

fn flags(flags: &[Flag]) -> Layer {
    let mut layer = Layer::new("flags");
    for flag in flags {
        insert(&mut layer.values, flag.setting, flag.value.clone());
        layer.places.note(Key::of(flag.setting), Place::Flag(flag.flag.into()));
    }
    layer
}

/// Puts `value` where `names` lead; tables on the way are made.
fn insert<S: AsRef<str>>(table: &mut Value, names: &[S], value: Value) {
    let Some((name, below)) = names.split_first() else {
        *table = value;
        return;
    };
    if !table.is_object() {
        *table = Value::Object(serde_json::Map::new());
    }
    if let Value::Object(map) = table {
        insert(map.entry(name.as_ref()).or_insert(Value::Null), below, value);
    }
}
