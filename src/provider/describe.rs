//! A definition as facts for people and scripts: `hookgate providers`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Provider;
use super::raw::{Answer, Handshake, Verify};
use super::text::{Text, Texts};

impl Provider {
    /// What the list shows of it: how the preferred variant proves a request, where the event's id comes from, what
    /// is sent back.
    pub fn summary(&self) -> Value {
        let raw = self.raw();
        let mut object = self.facts();
        let preferred = raw.verify.iter().find(|variant| !variant.opt_in).or(raw.verify.first());
        let more = json!({
            "signed": preferred.map(|variant| list(&variant.text)),
            "signature": preferred.map(|variant| list(&variant.signature.from)),
            "event_id": list(&raw.event.id),
            "handshakes": raw.handshake.iter().map(|handshake| &*handshake.name).collect::<Vec<_>>(),
            "reply": raw.reply.success.as_ref().map_or_else(|| json!(200), |answer| json!(answer.status)),
            "deadline_seconds": self.deadline().map(|deadline| deadline.as_secs()),
        });
        extend(&mut object, more);
        self.with_defaults(object)
    }

    fn facts(&self) -> Value {
        let raw = self.raw();
        json!({
            "id": &**self.id(),
            "name": self.name(),
            "aliases": self.aliases(),
            "category": raw.category,
            "confidence": self.confidence().as_str(),
            "algorithms": algorithms(&raw.verify),
            "docs": list(&raw.docs),
        })
    }

    /// Everything: what it signs, what to enter in its dashboard, what it expects back.
    pub fn description(&self) -> Value {
        let raw = self.raw();
        let mut object = self.facts();
        let more = json!({
            "notes": list(&raw.notes),
            "dashboard": { "place": raw.dashboard.place, "secret": raw.dashboard.secret, "steps": raw.dashboard.steps },
            "settings": self.settings().iter().map(|setting| json!({
                "name": setting.name,
                "description": setting.description,
                "required": setting.default.is_none(),
                "default": setting.default,
                "example": setting.example,
            })).collect::<Vec<_>>(),
            "methods": self.methods(),
            "max_body": self.max_body(),
            "variants": raw.verify.iter().map(variant).collect::<Vec<_>>(),
            "event": self.event(),
            "handshakes": raw.handshake.iter().map(handshake).collect::<Vec<_>>(),
            "reply": {
                "success": raw.reply.success.as_ref().map_or_else(|| json!({ "status": 200 }), answer),
                "rejected": self.rejection_status(crate::model::Reason::SignatureMismatch),
                "refused": self.rejection_status(crate::model::Reason::HandshakeMismatch),
                "rejected_headers": raw.reply.rejected_headers,
                "rejected_empty": raw.reply.rejected_empty,
                "unusable": self.rejection_status(crate::model::Reason::NoEventId),
                "deadline_seconds": self.deadline().map(|deadline| deadline.as_secs()),
            },
            "retry": {
                "window_seconds": self.retry_window().map(|window| window.as_secs()),
                "schedule": raw.retry.schedule,
                "reconcile": raw.retry.reconcile,
            },
            "credentials": { "headers": self.credential_headers(), "queries": self.credential_queries() },
            "samples": self.samples().iter().map(|sample| &*sample.event_type).collect::<Vec<_>>(),
            "file": self.file(),
        });
        extend(&mut object, more);
        self.with_defaults(object)
    }

    /// With the default in place of each `${setting}` that has one, as an endpoint without settings uses it.
    fn with_defaults(&self, mut facts: Value) -> Value {
        match &mut facts {
            Value::String(text) => {
                for setting in self.settings() {
                    if let Some(default) = &setting.default {
                        *text = text.replace(&format!("${{{}}}", setting.name), default);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| *item = self.with_defaults(item.take())),
            Value::Object(fields) => {
                fields.values_mut().for_each(|field| *field = self.with_defaults(field.take()));
            }
            _ => {}
        }
        facts
    }

    fn event(&self) -> Value {
        let raw = &self.raw().event;
        let recipe = self.recipe();
        json!({
            "format": raw.format.as_str(),
            "id": list(&raw.id),
            "type": list(&raw.kind),
            "id_signed": recipe.id_signed,
            "type_signed": recipe.type_signed,
            "occurred_at": raw.occurred_at.as_ref().map(|moment| list(&moment.value)),
            "account": list(&raw.account),
            "ordering_key": list(&raw.ordering_key),
            "volatile": list(&raw.volatile),
            "business_keys": raw.business_keys,
            "batch": self.raw().batch.as_ref().map(|batch| list(&batch.items)),
        })
    }
}

fn extend(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}

/// Each once, the preferred one first.
fn algorithms(variants: &[Verify]) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    variants.iter().map(|variant| variant.algorithm.as_str()).filter(|name| seen.insert(*name)).collect()
}

fn variant(raw: &Verify) -> Value {
    json!({
        "name": raw.name.as_str(),
        "when": list(&raw.when),
        "opt_in": raw.opt_in,
        "algorithm": raw.algorithm.as_str(),
        "signed": list(&raw.text),
        "key": list(&raw.key),
        "signature": list(&raw.signature.from),
        "encoding": list(&raw.signature.encoding),
        "allow": list(&raw.allow),
        "each": raw.each.as_ref().map(Text::as_str),
        "with": raw.with.as_ref().map(Text::as_str),
        "timestamp": raw.timestamp.as_ref().map(|timestamp| json!({
            "value": timestamp.value.as_str(),
            "unit": list(&timestamp.unit),
            "past": timestamp.past.as_str(),
            "future": timestamp.future.as_str(),
        })),
    })
}

fn handshake(raw: &Handshake) -> Value {
    json!({
        "name": raw.name,
        "signed": raw.signed,
        "when": list(&raw.when),
        "require": list(&raw.require),
        "challenge": raw.challenge.as_ref().map(Text::as_str),
        "reply": answer(&raw.reply),
    })
}

fn answer(raw: &Answer) -> Value {
    let fields = |fields: &std::collections::BTreeMap<String, Text>| -> Map<String, Value> {
        fields.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect()
    };
    json!({
        "status": raw.status,
        "headers": fields(&raw.headers),
        "text": raw.text.as_ref().map(Text::as_str),
        "json": raw.json.as_ref().map(fields),
    })
}

fn list(texts: &Texts) -> Vec<&str> {
    texts.iter().map(Text::as_str).collect()
}
