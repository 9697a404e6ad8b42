//! `[[handshake]]`, `[reply]`, `[[samples]]`

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};

use super::Compiler;
use super::check::Place;
use crate::provider::plan::{Answer, AnswerBody, Handshake};
use crate::provider::raw;
use crate::provider::sample::{self, Sample};
use crate::provider::template::{Source, Template};
use crate::provider::text::Text;

impl Compiler<'_> {
    pub(super) fn handshakes(&mut self, raw: &[raw::Handshake]) -> Vec<Handshake> {
        raw.iter()
            .enumerate()
            .map(|(at, raw)| {
                let key = format!("handshake[{at}]");
                let when = self.conditions(&raw.when, &format!("{key}.when"), Place::Request);
                if when.is_empty() {
                    self.error(None, &format!("{key}.when"), "a handshake is recognised by something".into());
                }
                let handshake = Handshake {
                    name: raw.name.clone(),
                    signed: raw.signed,
                    require: self.conditions(&raw.require, &format!("{key}.require"), Place::Request),
                    challenge: raw
                        .challenge
                        .as_ref()
                        .and_then(|text| self.template(text, &format!("{key}.challenge"), Place::Request)),
                    reply: self.answer(&raw.reply, &format!("{key}.reply"), Place::Handshake),
                    learn: self.learn(raw, &format!("{key}.learn")),
                    confirm: self.confirm(raw, &format!("{key}.confirm")),
                    when,
                };
                self.challenge_is_used(raw, &handshake, &format!("{key}.challenge"));
                handshake
            })
            .collect()
    }

    fn learn(&mut self, raw: &raw::Handshake, key: &str) -> Option<Template> {
        let text = raw.learn.as_ref()?;
        if raw.signed {
            let message = "a secret that is learned is not known before: the handshake cannot be `signed`";
            self.error(Some(text), key, message.into());
        }
        self.template(text, key, Place::Request)
    }

    fn challenge_is_used(&mut self, raw: &raw::Handshake, handshake: &Handshake, key: &str) {
        let values = handshake.reply.templates().into_iter().flat_map(Template::values);
        let used = values.into_iter().any(|value| value.source == Source::Challenge);
        let message = match (raw.challenge.is_some(), used) {
            (true, false) => "the reply has no {challenge} in it",
            (false, true) => "the reply has {challenge} in it: say what that is made from",
            _ => return,
        };
        self.error(raw.challenge.as_ref(), key, message.into());
    }

    /// The headers of what is not genuine: fixed, since nothing of such a request is believed.
    pub(super) fn rejected_headers(
        &mut self,
        raw: &BTreeMap<String, String>,
    ) -> Vec<(HeaderName, HeaderValue)> {
        let mut out = Vec::new();
        for (name, value) in raw {
            match (name.parse(), value.parse()) {
                (Ok(name), Ok(value)) => out.push((name, value)),
                _ => self.error(
                    None,
                    &format!("reply.rejected_headers.{name}"),
                    "this cannot stand in a header: a name has letters, digits and `-`, a value no line ends"
                        .into(),
                ),
            }
        }
        out
    }

    pub(super) fn answer(&mut self, raw: &raw::Answer, key: &str, place: Place) -> Answer {
        let body = match (&raw.text, &raw.json) {
            (None, None) => AnswerBody::Empty,
            (Some(text), None) => {
                self.template(text, &format!("{key}.text"), place).map_or(AnswerBody::Empty, AnswerBody::Text)
            }
            (None, Some(json)) => AnswerBody::Json(self.named(json, &format!("{key}.json"), place)),
            (Some(text), Some(_)) => {
                self.error(Some(text), key, "use `text` or `json`, not both".into());
                AnswerBody::Empty
            }
        };
        let headers = self.named(&raw.headers, &format!("{key}.headers"), place);
        Answer {
            status: self.status(Some(raw.status), 200, &format!("{key}.status")),
            content_type: raw.content_type.clone(),
            body,
            headers: headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
        }
    }

    pub(super) fn samples(&mut self, raw: &[raw::Sample]) -> Vec<Sample> {
        raw.iter()
            .enumerate()
            .map(|(at, raw)| {
                let key = format!("samples[{at}]");
                self.placeholders(&raw.body, &format!("{key}.body"));
                Sample {
                    event_type: raw.event_type.clone(),
                    headers: self.sample_headers(&raw.headers, &format!("{key}.headers")),
                    body: raw.body.as_str().to_owned(),
                }
            })
            .collect()
    }

    pub(super) fn sample_headers(
        &mut self,
        raw: &BTreeMap<String, Text>,
        key: &str,
    ) -> Vec<(String, String)> {
        let fields = self.filled(raw, key).into_iter();
        fields.map(|(name, text)| (name.to_ascii_lowercase(), text)).collect()
    }

    /// Texts with placeholders, which are filled in when a request is made.
    pub(super) fn filled(&mut self, raw: &BTreeMap<String, Text>, key: &str) -> Vec<(String, String)> {
        raw.iter()
            .map(|(name, text)| {
                self.placeholders(text, &format!("{key}.{name}"));
                (name.clone(), text.as_str().to_owned())
            })
            .collect()
    }

    fn placeholders(&mut self, text: &Text, key: &str) {
        if let Some(unknown) = sample::unknown_placeholder(text.as_str()) {
            let known = sample::PLACEHOLDERS.join("}, ${");
            self.error(Some(text), key, format!("`${{{unknown}}}` is not known; allowed are ${{{known}}}"));
        }
    }
}
