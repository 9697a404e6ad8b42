//! `[event]`, `[batch]`

use super::Compiler;
use super::check::{self, Place};
use crate::provider::json::Picker;
use crate::provider::plan::{Format, Recipe, Variant};
use crate::provider::raw;
use crate::provider::template::{Source, Template};

impl Compiler<'_> {
    pub(super) fn recipe(
        &mut self,
        raw: &raw::Event,
        batch: Option<&raw::Batch>,
        variants: &[Variant],
    ) -> Recipe {
        let format = self.word(&raw.format, "event.format", &Format::NAMES.join(", "), Format::from_name);
        let faults = self.errors.len();
        let id = self.templates(&raw.id, "event.id", Place::Event);
        if id.is_empty() && self.errors.len() == faults {
            self.error(
                None,
                "event.id",
                "an event needs an id; `{body|sha256|hex}` where there is none".into(),
            );
        }
        let event_type = self.templates(&raw.kind, "event.type", Place::Event);
        let occurred_at = raw.occurred_at.as_ref().and_then(|moment| {
            let value = self.template(&moment.value, "event.occurred_at.value", Place::Event)?;
            let unit = self.unit(&moment.unit, "event.occurred_at.unit")?;
            (!value.is_empty()).then_some((value, unit))
        });
        let account = self.templates(&raw.account, "event.account", Place::Event);
        let ordering_key = self.templates(&raw.ordering_key, "event.ordering_key", Place::Event);
        for text in raw.volatile.iter().filter(|text| !text.as_str().starts_with('/')) {
            self.error(Some(text), "event.volatile", "a JSON pointer starts with `/`".into());
        }
        let all = [&id, &event_type, &account, &ordering_key].into_iter().flatten();
        let picker = picker(all.chain(occurred_at.iter().map(|(value, _)| value)));
        Recipe {
            format: format.unwrap_or(Format::Opaque),
            document: self.templates(&raw.document, "event.document", Place::Event),
            items: batch.map(|batch| self.items(batch)),
            id_signed: check::is_signed(variants, &id),
            type_signed: check::is_signed(variants, &event_type),
            id,
            event_type,
            occurred_at,
            account,
            ordering_key,
            picker,
        }
    }

    fn items(&mut self, batch: &raw::Batch) -> String {
        let path = batch.items.as_str();
        if !path.starts_with('/') || !path.ends_with("/*") {
            let message = "a path to items starts with `/` and ends with `/*`, for example `/events/*`";
            self.error(Some(&batch.items), "batch.items", message.into());
        }
        path.to_owned()
    }
}

fn picker<'a>(templates: impl Iterator<Item = &'a Template>) -> Picker {
    let mut pointers: Vec<String> = Vec::new();
    for value in templates.flat_map(Template::values) {
        if let Source::Json(pointer) = &value.source
            && !pointers.contains(pointer)
        {
            pointers.push(pointer.clone());
        }
    }
    Picker::new(pointers)
}
