//! `[event]`, `[batch]`

use super::Compiler;
use super::check::{self, Place};
use crate::provider::json::Picker;
use crate::provider::plan::{Batch, Format, Items, Recipe, Variant};
use crate::provider::raw;
use crate::provider::template::{Source, Template, path};
use crate::provider::text::{Text, Texts};

impl Compiler<'_> {
    pub(super) fn recipe(
        &mut self,
        raw: &raw::Event,
        batch: Option<&raw::Batch>,
        variants: &[Variant],
    ) -> Recipe {
        let format = self.word(&raw.format, "event.format", &Format::NAMES.join(", "), Format::from_name);
        let format = format.unwrap_or(Format::Opaque);
        let faults = self.errors.len();
        let id = self.templates(&raw.id, "event.id", Place::Event);
        if id.is_empty() && self.errors.len() == faults {
            self.error(
                None,
                "event.id",
                "an event needs an id; `{body|sha256|hex}` where there is none".into(),
            );
        }
        self.identity(&raw.id, &id, batch.is_some());
        let document = self.templates(&raw.document, "event.document", Place::Event);
        let event_type = self.templates(&raw.kind, "event.type", Place::Event);
        let occurred_at = raw.occurred_at.as_ref().and_then(|moment| {
            let value = self.templates(&moment.value, "event.occurred_at.value", Place::Event);
            let units = self.units(&moment.unit, "event.occurred_at.unit")?;
            (!value.is_empty()).then_some((value, units))
        });
        let account = self.templates(&raw.account, "event.account", Place::Event);
        let ordering_key = self.templates(&raw.ordering_key, "event.ordering_key", Place::Event);
        let version = self.templates(&raw.version, "version", Place::Event);
        for text in raw.volatile.iter().filter(|text| !text.as_str().starts_with('/')) {
            self.error(Some(text), "event.volatile", "a JSON pointer starts with `/`".into());
        }
        let all = [&id, &event_type, &account, &ordering_key, &version].into_iter().flatten();
        let picker = picker(all.chain(occurred_at.iter().flat_map(|(value, _)| value)));
        Recipe {
            format,
            batch: self.batch(batch, format),
            id_signed: check::is_signed(variants, &id, &document),
            type_signed: check::is_signed(variants, &event_type, &document),
            document,
            id,
            event_type,
            occurred_at,
            account,
            ordering_key,
            ordered: raw.ordered,
            version,
            picker,
        }
    }

    /// Every event has an id of its own.
    fn identity(&mut self, raw: &Texts, ids: &[Template], batch: bool) {
        let fixed = |id: &Template| id.values().iter().all(|value| value.source == Source::Index);
        if ids.iter().any(fixed) {
            let message = "every request would have the same id here: read something of the event";
            self.error(raw.iter().next(), "event.id", message.into());
        }
        let of_item = |id: &Template| id.values().iter().any(|value| is_of_item(&value.source));
        if batch && !ids.is_empty() && !ids.iter().any(of_item) {
            let message = "all items of the batch would have the same id: read the item, or add {index}";
            self.error(raw.iter().next(), "event.id", message.into());
        }
    }

    fn batch(&mut self, raw: Option<&raw::Batch>, format: Format) -> Option<Batch> {
        if format == Format::JsonLines {
            if raw.is_some() {
                self.error(None, "batch", "every line is an event already: leave [batch] out".into());
            }
            return Some(Batch { when: Vec::new(), items: Items::Lines });
        }
        let raw = raw?;
        let when = self.conditions(&raw.when, "batch.when", Place::Request);
        let items = match format {
            Format::Xml => Items::Elements(self.items(raw, is_path, ELEMENTS)),
            _ => Items::Arrays(self.items(raw, |path| path.starts_with('/') && path.ends_with("/*"), ARRAYS)),
        };
        Some(Batch { when, items })
    }

    fn items(&mut self, batch: &raw::Batch, fits: fn(&str) -> bool, expected: &str) -> Vec<String> {
        let paths: Vec<&Text> = batch.items.iter().collect();
        for (at, text) in paths.iter().enumerate() {
            let path = text.as_str();
            let whole = path.is_empty() && at > 0 && at + 1 == paths.len();
            if !whole && !fits(path) {
                let message = format!(
                    "{expected}; the last of several may be \"\": the whole is the event where none is there"
                );
                self.error(Some(text), "batch.items", message);
            }
        }
        paths.iter().map(|text| text.as_str().to_owned()).collect()
    }
}

const ARRAYS: &str = "a path to items starts with `/` and ends with `/*`, for example `/events/*`";
const ELEMENTS: &str = "a path to items in XML names elements, for example `/Envelope/Body/Notification`";

fn is_of_item(source: &Source) -> bool {
    matches!(source, Source::Json(_) | Source::Raw(_) | Source::Xml(_) | Source::Index)
}

fn is_path(text: &str) -> bool {
    path(text).is_ok() && !text.contains('@')
}

fn picker<'a>(templates: impl Iterator<Item = &'a Template>) -> Picker {
    let mut pointers: Vec<String> = Vec::new();
    for value in templates.flat_map(Template::values) {
        if let Source::Json(pointer) | Source::Raw(pointer) = &value.source
            && !pointers.contains(pointer)
        {
            pointers.push(pointer.clone());
        }
    }
    Picker::new(pointers)
}
