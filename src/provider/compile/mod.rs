//! From a definition's text to a [`Provider`]: every string is parsed and checked here, once, at load.
//!
//! All that is wrong is reported, not only the first fault, each with its line, its key and what is allowed.

mod check;
mod event;
mod fetch;
mod reply;
mod token;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::definition::Provider;
use super::error::DefinitionError;
use super::parts::{Confidence, Parts, Source};
use super::plan::{Handshake, TokenRules, Variant};
use super::raw;
use super::settings::{Setting, Values};
use super::template::{Condition, Template};
use super::text::{Text, Texts};
use check::Place;

/// Reads and compiles one definition.
pub(crate) fn load(file: &str, text: &str) -> Result<Provider, Vec<DefinitionError>> {
    let raw = toml::from_str(text).map_err(|error| vec![unreadable(file, text, &error)])?;
    let source = Arc::new(Source { file: file.to_owned(), text: text.to_owned(), raw });
    compile(source, &BTreeMap::new())
}

/// Compiles a definition with an endpoint's settings in it.
pub(crate) fn compile(
    source: Arc<Source>,
    given: &BTreeMap<String, String>,
) -> Result<Provider, Vec<DefinitionError>> {
    let raw = &source.raw;
    let mut compiler = Compiler::new(&source, Values::new(&raw.settings, given));
    let parts = compiler.parts(raw);
    let errors = std::mem::take(&mut compiler.errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    let missing = missing(raw, given);
    Ok(Provider::new(source, parts, missing))
}

fn missing(raw: &raw::Definition, given: &BTreeMap<String, String>) -> Vec<String> {
    let required = raw.settings.iter().filter(|(_, setting)| setting.default.is_none());
    // An empty value would equal an empty value of a request.
    required
        .filter(|(name, _)| given.get(*name).is_none_or(String::is_empty))
        .map(|(name, _)| name.clone())
        .collect()
}

fn unreadable(file: &str, text: &str, error: &toml::de::Error) -> DefinitionError {
    DefinitionError {
        file: file.to_owned(),
        line: error.span().map(|span| line(text, span.start)),
        key: String::new(),
        message: error.message().trim().to_owned(),
    }
}

fn line(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

/// Gathers errors on the way.
struct Compiler<'a> {
    source: &'a Source,
    values: Values,
    errors: Vec<DefinitionError>,
}

impl<'a> Compiler<'a> {
    fn new(source: &'a Source, values: Values) -> Self {
        Self { source, values, errors: Vec::new() }
    }

    fn parts(&mut self, raw: &raw::Definition) -> Parts {
        let confidence =
            self.word(&raw.confidence, "confidence", "confirmed, unconfirmed", Confidence::from_name);
        if !raw.id.as_str().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
            self.error(Some(&raw.id), "id", "an id has lower-case letters, digits and `_` only".into());
        }
        let mut variants = self.variants(&raw.verify);
        let handshakes = self.handshakes(&raw.handshake);
        let signs_challenges = handshakes.iter().any(Handshake::signs);
        // A challenge could be the signed text of a token: whoever asks would have a false one signed.
        let shared = |variant: &Variant| variant.token.as_ref().is_some_and(TokenRules::takes_shared);
        if signs_challenges && variants.iter().any(shared) {
            let message = "a handshake cannot sign challenges with a secret that tokens (HS256, HS384, HS512) are signed with";
            self.error(None, "handshake", message.into());
        }
        for variant in &mut variants {
            variant.signs_challenges = signs_challenges;
        }
        let recipe = self.recipe(&raw.event, raw.batch.as_ref(), &variants);
        Parts {
            confidence: confidence.unwrap_or(Confidence::Unconfirmed),
            settings: settings(&raw.settings),
            methods: self.methods(&raw.request),
            max_body: raw.request.max_body.as_ref().and_then(|text| self.size(text, "request.max_body")),
            credentials: self.templates(&raw.request.credentials, "request.credentials", Place::Request),
            sign_headers: self.sample_headers(&raw.sign.headers, "sign.headers"),
            sign_claims: self.claims(&raw.sign.claims, "sign.claims"),
            sign_jose: self.claims(&raw.sign.jose, "sign.jose"),
            signed_beside: self.filled(&raw.sign.parts, "sign.parts"),
            handshakes,
            success: raw
                .reply
                .success
                .as_ref()
                .map(|answer| self.answer(answer, "reply.success", Place::Reply)),
            rejected: self.status(raw.reply.rejected, 401, "reply.rejected"),
            rejected_headers: self.rejected_headers(&raw.reply.rejected_headers),
            rejected_empty: raw.reply.rejected_empty,
            refused: self.status(raw.reply.refused.or(raw.reply.rejected), 401, "reply.refused"),
            unusable: self.status(raw.reply.unusable, 422, "reply.unusable"),
            deadline: raw.reply.deadline.as_ref().and_then(|text| self.duration(text, "reply.deadline")),
            retry_window: raw.retry.window.as_ref().and_then(|text| self.duration(text, "retry.window")),
            volatile: raw.event.volatile.iter().map(|text| text.as_str().to_owned()).collect(),
            samples: self.samples(&raw.samples),
            variants,
            recipe,
        }
    }

    fn methods(&mut self, raw: &raw::Request) -> Vec<String> {
        const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
        if raw.methods.is_empty() {
            return vec!["POST".into()];
        }
        for text in raw.methods.iter().filter(|text| !KNOWN.contains(&text.as_str())) {
            self.error(Some(text), "request.methods", format!("a method is one of {}", KNOWN.join(", ")));
        }
        raw.methods.iter().map(|text| text.as_str().to_owned()).collect()
    }

    fn error(&mut self, at: Option<&Text>, key: &str, message: String) {
        let line = at.map(|text| line(&self.source.text, text.offset()));
        self.errors.push(DefinitionError {
            file: self.source.file.clone(),
            line,
            key: key.to_owned(),
            message,
        });
    }

    /// Unwraps a result, or notes its error.
    fn noted<T>(&mut self, result: Result<T, String>, at: &Text, key: &str) -> Option<T> {
        result.map_err(|message| self.error(Some(at), key, message)).ok()
    }

    /// A string with its settings filled in.
    fn plain(&mut self, text: &Text, key: &str) -> String {
        let filled = self.values.plain(text.as_str());
        self.noted(filled, text, key).unwrap_or_default()
    }

    /// One word out of a list.
    fn word<T>(&mut self, text: &Text, key: &str, allowed: &str, read: fn(&str) -> Option<T>) -> Option<T> {
        let word = self.plain(text, key);
        let read = read(&word);
        if read.is_none() {
            self.error(Some(text), key, format!("`{word}` is not known; allowed are {allowed}"));
        }
        read
    }

    /// Words out of a list, at least one.
    fn words<T>(
        &mut self,
        texts: &Texts,
        key: &str,
        allowed: &str,
        read: fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        if texts.is_empty() {
            self.error(None, key, format!("one is needed at least; allowed are {allowed}"));
        }
        let words: Vec<T> = texts.iter().filter_map(|text| self.word(text, key, allowed, read)).collect();
        (!words.is_empty()).then_some(words)
    }

    fn template(&mut self, text: &Text, key: &str, place: Place) -> Option<Template> {
        let parsed = self.values.template(text.as_str()).and_then(|text| Template::parse(&text));
        let template = self.noted(parsed, text, key)?;
        self.noted(check::allowed(&template, place), text, key)?;
        Some(template)
    }

    /// Those that are not empty: a setting may leave one out.
    fn templates(&mut self, texts: &Texts, key: &str, place: Place) -> Vec<Template> {
        let parsed: Vec<Template> = texts.iter().filter_map(|text| self.template(text, key, place)).collect();
        parsed.into_iter().filter(|template| !template.is_empty()).collect()
    }

    fn conditions(&mut self, texts: &Texts, key: &str, place: Place) -> Vec<Condition> {
        let mut out = Vec::new();
        for text in texts.iter() {
            let template = |text: &str| {
                let template = Template::parse(&self.values.template(text)?)?;
                check::allowed(&template, place)?;
                Ok(template)
            };
            let parsed = Condition::parse(text.as_str(), template);
            out.extend(self.noted(parsed, text, key));
        }
        out
    }

    fn named(&mut self, raw: &BTreeMap<String, Text>, key: &str, place: Place) -> Vec<(String, Template)> {
        raw.iter()
            .filter_map(|(name, text)| {
                Some((name.clone(), self.template(text, &format!("{key}.{name}"), place)?))
            })
            .collect()
    }

    fn status(&mut self, status: Option<u16>, default: u16, key: &str) -> u16 {
        let status = status.unwrap_or(default);
        if !(200..600).contains(&status) {
            self.error(None, key, "a status is 200 to 599".into());
        }
        status
    }

    fn duration(&mut self, text: &Text, key: &str) -> Option<Duration> {
        let filled = self.plain(text, key);
        let parsed = humantime::parse_duration(&filled)
            .map_err(|_| format!("`{filled}` is not a duration, for example 300s, 5m or 3d"));
        self.noted(parsed, text, key)
    }

    fn size(&mut self, text: &Text, key: &str) -> Option<usize> {
        let number = text.as_str().strip_suffix("MiB").and_then(|number| number.parse::<usize>().ok());
        let bytes = number.and_then(|number| number.checked_mul(1 << 20));
        self.noted(bytes.ok_or_else(|| "a size is written like 25MiB".into()), text, key)
    }
}

fn settings(raw: &BTreeMap<String, raw::Setting>) -> Vec<Setting> {
    raw.iter()
        .map(|(name, setting)| Setting {
            name: name.clone(),
            description: setting.description.clone(),
            default: setting.default.clone(),
            example: setting.example.clone(),
            secret: setting.secret,
        })
        .collect()
}
