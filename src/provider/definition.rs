//! The compiled definition.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};

use super::parts::{Confidence, Parts, Source};
use super::plan::{Answer, Confirm, Handshake, Recipe, Variant};
use super::template::{Source as From, Template};
use super::text::Texts;
use super::{Algorithm, DefinitionError, Sample, Setting, SettingsError, compile, raw};
use crate::model::{Headers, Outcome, Reason, Reply};

/// A compiled provider definition.
pub struct Provider {
    id: Arc<str>,
    source: Arc<Source>,
    parts: Parts,
    /// Required settings that are not set: it can be looked at, but not used.
    missing: Vec<String>,
    /// The variant that an operator named.
    only: Option<Arc<str>>,
    success: Option<Reply>,
    credential_headers: Vec<String>,
    credential_queries: Vec<String>,
    signature_headers: Vec<String>,
}

impl fmt::Debug for Provider {
    /// The id only: settings may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider").field(&self.id).finish()
    }
}

impl Provider {
    /// Reads and compiles one definition; `file` is for messages.
    ///
    /// # Errors
    /// All that is wrong with it, each with its line and key.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<DefinitionError>> {
        compile::load(file, text)
    }

    pub(crate) fn new(source: Arc<Source>, parts: Parts, missing: Vec<String>) -> Self {
        let credentials = || {
            let tokens = parts.variants.iter().filter(|variant| variant.algorithm.sends_secret());
            tokens.flat_map(|variant| &variant.signature.from).chain(&parts.credentials)
        };
        let signed = parts.variants.iter().flat_map(|variant| {
            let timestamp = variant.timestamp.as_ref().map(|freshness| &freshness.value);
            variant.signature.from.iter().chain(&variant.texts).chain(timestamp)
        });
        Self {
            id: Arc::from(source.raw.id.as_str()),
            success: parts.success.as_ref().and_then(Answer::fixed),
            credential_headers: header_names(credentials()),
            credential_queries: query_names(credentials()),
            signature_headers: header_names(signed),
            only: None,
            source,
            parts,
            missing,
        }
    }

    /// Its id, for example `stripe`: the first part of the inbox key.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        &self.source.raw.name
    }

    /// Other ids under which it is found.
    pub fn aliases(&self) -> &[String] {
        &self.source.raw.aliases
    }

    /// How sure we are of it.
    pub fn confidence(&self) -> Confidence {
        self.parts.confidence
    }

    /// The largest body it sends, in bytes, where it is known to exceed 1 MiB.
    pub fn max_body(&self) -> Option<usize> {
        self.parts.max_body
    }

    /// The methods it uses, handshakes included, in capitals.
    pub fn methods(&self) -> &[String] {
        &self.parts.methods
    }

    /// The settings that an endpoint may or must give.
    pub fn settings(&self) -> &[Setting] {
        &self.parts.settings
    }

    /// The same definition with an endpoint's own settings in it. Endpoints use this one, also where they have no
    /// settings: it is what refuses an unknown name and a required one that is missing.
    ///
    /// # Errors
    /// An unknown or missing setting, or a value that cannot stand in its place.
    pub fn configure(&self, settings: &BTreeMap<String, String>) -> Result<Arc<Self>, SettingsError> {
        self.configure_variant(settings, None)
    }

    /// The same definition for an endpoint whose events are ordered: by the definition's own key, or by the template
    /// `key`; with the template `version`, what is older than the last that was applied is passed over.
    ///
    /// # Errors
    /// What is wrong with the templates; empty: the definition has no key of its own.
    pub fn ordered(&self, key: Option<&str>, version: Option<&str>) -> Result<Arc<Self>, String> {
        let Source { file, text, raw } = &*self.source;
        let mut raw = raw.clone();
        if let Some(key) = key {
            raw.event.ordering_key = Texts::one(key);
        }
        if raw.event.ordering_key.is_empty() {
            return Err(String::new());
        }
        raw.event.ordered = true;
        raw.event.version = version.map(Texts::one).unwrap_or_default();
        let source = Source { file: file.clone(), text: text.clone(), raw };
        let compiled = compile::compile(Arc::new(source), &BTreeMap::new()).map_err(|errors| {
            errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("; ")
        })?;
        Ok(Arc::new(compiled))
    }

    /// Like [`Provider::configure`], restricted to one variant, also one that is off unless named.
    ///
    /// # Errors
    /// As there, or an unknown variant.
    pub fn configure_variant(
        &self,
        settings: &BTreeMap<String, String>,
        only: Option<&str>,
    ) -> Result<Arc<Self>, SettingsError> {
        if let Some(name) = settings.keys().find(|name| !self.source.raw.settings.contains_key(*name)) {
            let allowed = self.source.raw.settings.keys().cloned().collect();
            return Err(SettingsError::Unknown { name: name.clone(), allowed });
        }
        let mut configured = compile::compile(Arc::clone(&self.source), settings).map_err(|errors| {
            let problem = errors.iter().map(|error| format!("`{}`: {}", error.key, error.message));
            SettingsError::Invalid {
                name: self.culprit(settings),
                problem: problem.collect::<Vec<_>>().join("; "),
            }
        })?;
        configured.usable()?;
        if let Some(name) = only {
            let Some(variant) = configured.variants().find(|variant| &***variant == name).cloned() else {
                let allowed = configured.variants().map(ToString::to_string).collect();
                return Err(SettingsError::Variant { name: name.to_owned(), allowed });
            };
            configured.only = Some(variant);
        }
        Ok(Arc::new(configured))
    }

    /// The setting without which the others can be used.
    fn culprit(&self, settings: &BTreeMap<String, String>) -> String {
        let without = |name: &&String| {
            let others = settings.iter().filter(|(other, _)| other != name);
            let others = others.map(|(name, value)| (name.clone(), value.clone())).collect();
            compile::compile(Arc::clone(&self.source), &others).is_ok()
        };
        let mut names = settings.keys();
        names.clone().find(without).or_else(|| names.next()).cloned().unwrap_or_default()
    }

    /// Refuses a definition whose required settings are not set: an example must never count as a value.
    pub(crate) fn usable(&self) -> Result<(), SettingsError> {
        let Some(name) = self.missing.first() else { return Ok(()) };
        let description =
            self.source.raw.settings.get(name).map(|it| it.description.clone()).unwrap_or_default();
        Err(SettingsError::Missing { name: name.clone(), description })
    }

    /// The names of its variants, in order of preference.
    pub fn variants(&self) -> impl Iterator<Item = &Arc<str>> {
        self.parts.variants.iter().map(|variant| &variant.name)
    }

    /// The success reply that the provider needs, where the gateway's own JSON with 200 will not do; see
    /// [`crate::mapping::reply`] for one with values of the request in it.
    pub fn reply(&self, outcome: Outcome) -> Option<Reply> {
        match outcome {
            // An empty batch has no event either, and is answered as a success.
            Outcome::Rejected | Outcome::Error => None,
            _ => self.success.clone(),
        }
    }

    /// The same, where it has values of the request in it.
    pub(crate) fn varying_reply(&self) -> Option<&Answer> {
        self.parts.success.as_ref().filter(|_| self.success.is_none())
    }

    /// The status for a rejected request.
    pub fn rejection_status(&self, reason: Reason) -> u16 {
        match reason {
            Reason::KeyUnavailable => 503,
            Reason::TooLarge => 413,
            Reason::Method => 405,
            Reason::RateLimited => 429,
            Reason::MalformedBody | Reason::NoEventId => self.parts.unusable,
            Reason::HandshakeMismatch => self.parts.refused,
            _ => self.parts.rejected,
        }
    }

    /// Headers of the reply to a request that is not genuine.
    pub fn rejection_headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.parts.rejected_headers
    }

    /// Whether the reply to a request that is not genuine must have no body.
    pub fn rejects_without_body(&self) -> bool {
        self.parts.rejected_empty
    }

    /// Whether one request may hold several events.
    pub fn sends_batches(&self) -> bool {
        self.parts.recipe.batch.is_some()
    }

    /// How long the provider waits for the reply.
    pub fn deadline(&self) -> Option<Duration> {
        self.parts.deadline
    }

    /// For how long the provider sends an event again: the dedupe window must not be shorter.
    pub fn retry_window(&self) -> Option<Duration> {
        self.parts.retry_window
    }

    /// JSON pointers to what may differ between deliveries of one event.
    pub fn volatile(&self) -> &[String] {
        &self.parts.volatile
    }

    /// Headers that are themselves a secret (lower case): stored as `[removed]`, never forwarded.
    pub fn credential_headers(&self) -> &[String] {
        &self.credential_headers
    }

    /// Query parameters that are themselves a secret: never stored, logged or forwarded.
    pub fn credential_queries(&self) -> &[String] {
        &self.credential_queries
    }

    /// Headers that carry the signature or are read to check it (lower case).
    pub fn signature_headers(&self) -> &[String] {
        &self.signature_headers
    }

    /// Whether a request carries anything that looks like its signature, for a log line.
    pub fn has_signature(&self, headers: &Headers) -> bool {
        self.signature_headers.iter().any(|name| headers.first(name).is_some())
    }

    /// Sample events of the real shape, invented data.
    pub fn samples(&self) -> &[Sample] {
        &self.parts.samples
    }

    /// Whether whoever can verify can also sign (shared secret).
    pub fn is_symmetric(&self) -> bool {
        self.candidates().all(Variant::is_symmetric)
    }

    /// The variants that keys are made for: those that count, and those that have to hold beside one of them.
    pub(crate) fn keyed(&self) -> impl Iterator<Item = &Variant> {
        let counts = |variant: &Variant| self.candidates().any(|candidate| candidate.name == variant.name);
        let beside = |variant: &Variant| {
            self.candidates().any(|candidate| candidate.with.as_ref() == Some(&variant.name))
        };
        self.parts.variants.iter().filter(move |variant| counts(variant) || beside(variant))
    }

    /// Names of the headers that prove a request or name its event.
    pub fn telling_headers(&self) -> Vec<String> {
        let recipe = self.recipe();
        let mut names = header_names(recipe.id.iter().chain(&recipe.event_type));
        names.extend(self.signature_headers().iter().cloned());
        names.extend(self.credential_headers().iter().map(ToString::to_string));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether requests can be taken without any proof: the provider gives none, and the operator has said so.
    pub fn takes_unproved(&self) -> bool {
        self.candidates().any(|variant| variant.algorithm == Algorithm::None)
    }

    /// Whether it hands over its secret in band.
    pub fn learns(&self) -> bool {
        self.parts.handshakes.iter().any(|handshake| handshake.learn.is_some())
    }

    /// Whether an operator must give a secret: its keys are not fetched, nor handed over in band.
    pub fn needs_secret(&self) -> bool {
        !self.learns() && self.candidates().any(Variant::needs_secret)
    }

    /// Hosts that its confirmations may call, and whether they may be private.
    pub(crate) fn confirmations(&self) -> impl Iterator<Item = &Confirm> {
        self.parts.handshakes.iter().filter_map(|handshake| handshake.confirm.as_ref())
    }

    /// The variants that count, in order of preference.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &Variant> {
        self.parts.variants.iter().filter(|variant| match &self.only {
            Some(only) => variant.name == *only,
            None => !variant.opt_in,
        })
    }

    /// All variants, also those that are off: only to say what a request was signed as.
    pub(crate) fn every_variant(&self) -> &[Variant] {
        &self.parts.variants
    }

    pub(crate) fn handshakes(&self) -> &[Handshake] {
        &self.parts.handshakes
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        &self.parts.recipe
    }

    pub(crate) fn sign_headers(&self) -> &[(String, String)] {
        &self.parts.sign_headers
    }

    pub(crate) fn sign_parts(&self) -> &[(String, String)] {
        &self.parts.signed_beside
    }

    /// The claims of a token that is signed here: templates with placeholders.
    pub(crate) fn sign_claims(&self) -> &[(String, String)] {
        &self.parts.sign_claims
    }

    /// What stands in its header besides.
    pub(crate) fn sign_jose(&self) -> &[(String, String)] {
        &self.parts.sign_jose
    }

    pub(crate) fn raw(&self) -> &raw::Definition {
        &self.source.raw
    }

    /// The file that it was read from.
    pub fn file(&self) -> &str {
        &self.source.file
    }
}

fn header_names<'a>(templates: impl Iterator<Item = &'a Template>) -> Vec<String> {
    names(templates, |source| match source {
        From::Header(name) => Some(name),
        _ => None,
    })
}

fn query_names<'a>(templates: impl Iterator<Item = &'a Template>) -> Vec<String> {
    names(templates, |source| match source {
        From::Query(name) => name.as_ref(),
        _ => None,
    })
}

fn names<'a>(
    templates: impl Iterator<Item = &'a Template>,
    name: impl Fn(&'a From) -> Option<&'a String>,
) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for name in templates.flat_map(Template::values).filter_map(|value| name(&value.source)) {
        if !out.contains(name) {
            out.push(name.clone());
        }
    }
    out
}
