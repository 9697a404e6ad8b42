//! The mirror of verification: what makes a request genuine.

use std::ops::Range;

use bytes::Bytes;
use smallvec::SmallVec;

use super::pen::Pen;
use super::{moment, token};
use crate::clock::Timestamp;
use crate::model::{Headers, Request, Secret};
use crate::provider::{
    Each, Grammar, Item, Provider, SampleIds, Scope, Source, Template, Variant, fill, json_items, json_raw,
};

const UNPLACED: &str = "the scheme's signature stands where it cannot be written to";

/// What makes a request genuine: set these headers (replacing those of the same name), and the URL and body where
/// they are given.
#[derive(Clone, Debug, Default)]
pub struct Signed {
    /// Headers to set, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The path and query to send to, where the signature goes into the query.
    pub path_and_query: Option<String>,
    /// The body to send, where the signature goes into the body.
    pub body: Option<Bytes>,
}

/// Signs `request` as the provider would at `now`: the mirror of [`super::verify()`]. Where the scheme has a public key,
/// `secret` is the private one.
/// Headers that the request has already (an id, a timestamp) are kept and signed.
///
/// # Errors
/// A sentence for the user: what is missing or why this provider cannot be signed for.
pub fn sign(
    provider: &Provider,
    secret: &Secret,
    request: &Request,
    now: Timestamp,
) -> Result<Signed, String> {
    provider.usable().map_err(|error| error.to_string())?;
    let scope = Scope::new(request);
    let fits = |variant: &&Variant| variant.when.iter().all(|condition| condition.holds(&scope));
    // Conditions may be about the signature itself, which is not there yet: so the others come after.
    let variants = provider.candidates().filter(fits).chain(provider.candidates().filter(|it| !fits(it)));
    let mut problem = None;
    for variant in variants {
        match sign_all(variant, provider, secret, request, now) {
            Ok(signed) => return Ok(signed),
            Err(why) => problem = problem.or(Some(why)),
        }
    }
    Err(problem.unwrap_or_else(|| "this provider has no way of signing".into()))
}

/// By the variant, and by the one that has to hold besides.
fn sign_all(
    variant: &Variant,
    provider: &Provider,
    secret: &Secret,
    request: &Request,
    now: Timestamp,
) -> Result<Signed, String> {
    let mut signer =
        Signer { variant, request: request.clone(), signed: Signed::default(), parts: Vec::new() };
    signer.sign(provider, secret, now)?;
    if let Some(other) = provider.keyed().find(|other| variant.with.as_ref() == Some(&other.name)) {
        signer.variant = other;
        signer.parts.clear();
        signer.sign(provider, secret, now)?;
    }
    Ok(signer.signed)
}

struct Signer<'a> {
    variant: &'a Variant,
    request: Request,
    signed: Signed,
    parts: Vec<(String, String)>,
}

impl Signer<'_> {
    fn sign(&mut self, provider: &Provider, secret: &Secret, now: Timestamp) -> Result<(), String> {
        let variant = self.variant;
        let parts = provider.sign_parts().iter().filter(|(name, _)| variant.needs_part(name));
        let ids = ids(&self.request.body, now);
        self.parts.extend(parts.map(|(name, text)| (name.clone(), fill(text, &ids, now))));
        self.defaults(provider, now);
        self.timestamp(now)?;
        if !variant.algorithm.signs() {
            return Ok(());
        }
        let pen = Pen::new(variant, secret)?;
        let Some(each) = &variant.each else {
            let signature = self.signature(&pen, provider, Scope::new(&self.request), now)?;
            return self.place(&signature);
        };
        let count = self.items(each)?.len();
        for index in 0..count {
            // Read anew each time: the one before has been signed, so the body is another.
            let (at, signature) = {
                let items = self.items(each)?;
                let item = items.get(index).ok_or("the body's items cannot be told apart")?;
                let scope = Scope::of_item(&self.request, item, index);
                let at = item.text.as_ptr() as usize - self.request.body.as_ptr() as usize;
                (at..at + item.text.len(), self.signature(&pen, provider, scope, now)?)
            };
            self.place_in(at, &signature)?;
        }
        Ok(())
    }

    fn items(&self, each: &Each) -> Result<Vec<Item<'_>>, String> {
        json_items(&self.request.body, &each.items).map_err(|why| format!("the body {why}"))
    }

    /// Headers that the scheme signs and that the request does not have.
    fn defaults(&mut self, provider: &Provider, now: Timestamp) {
        let ids = ids(&self.request.body, now);
        for (name, value) in provider.sign_headers() {
            if self.request.headers.first(name).is_none() {
                self.set_header(name, fill(value, &ids, now));
            }
        }
    }

    fn timestamp(&mut self, now: Timestamp) -> Result<(), String> {
        let Some(freshness) = &self.variant.timestamp else { return Ok(()) };
        let text = moment::write(now, &freshness.units);
        match freshness.value.sole().map(|value| &value.source) {
            Some(Source::Part(name)) => {
                // The scheme's own unit, whatever the definition has there.
                self.parts.retain(|(known, _)| known != name);
                self.parts.push((name.clone(), text));
            }
            Some(Source::Header(name)) if self.request.headers.first(name).is_none() => {
                let name = name.clone();
                self.set_header(&name, text);
            }
            Some(_) => {}
            None => {
                return Err(
                    "the scheme's timestamp is made of several values; this cannot be signed yet".into()
                );
            }
        }
        Ok(())
    }

    fn signature(
        &self,
        pen: &Pen,
        provider: &Provider,
        scope: Scope<'_>,
        now: Timestamp,
    ) -> Result<String, String> {
        if let Some(rules) = &self.variant.token {
            return token::make(rules, pen, provider, &scope, &ids(&self.request.body, now), now);
        }
        let mut scope = scope;
        scope.parts = &self.parts;
        scope.secret = pen.shared();
        let text = match self.variant.texts.first() {
            Some(text) => {
                text.pieces(&scope).map_err(|trouble| format!("{trouble}: give it to be signed"))?
            }
            None => SmallVec::new(),
        };
        let bytes = pen.sign(self.variant.algorithm, &text)?;
        let encoded = self.variant.signature.encodings.first().and_then(|encoding| encoding.encode(&bytes));
        encoded.ok_or_else(|| "the secret is not text, so it cannot be sent as a token".into())
    }

    fn written(&self, signature: &str) -> String {
        let part =
            |name: &str| self.parts.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        match &self.variant.signature.grammar {
            Grammar::Pattern(pattern) => pattern.write(|name| {
                if name == "signature" { signature.to_owned() } else { part(name).unwrap_or_default() }
            }),
            Grammar::Pairs { separator, take } => {
                let pairs = self.parts.iter().map(|(name, value)| format!("{name}={value}"));
                pairs.chain([format!("{take}={signature}")]).collect::<Vec<_>>().join(separator)
            }
        }
    }

    fn place(&mut self, signature: &str) -> Result<(), String> {
        if self
            .variant
            .signature
            .from
            .first()
            .and_then(Template::sole)
            .is_some_and(crate::provider::Value::reads_inside)
        {
            return Err(UNPLACED.into());
        }
        let value = self.written(signature);
        match self.variant.signature.from.first().and_then(Template::sole).map(|value| &value.source) {
            Some(Source::Header(name) | Source::Proxy(name)) => {
                let name = name.clone();
                self.set_header(&name, value);
            }
            Some(Source::Query(Some(name))) => self.set_query(&name.clone(), &value),
            Some(Source::Json(pointer)) => {
                let whole = 0..self.request.body.len();
                self.set_json(whole, &pointer.clone(), &value)?;
            }
            Some(Source::Form(name)) => self.set_form(&name.clone(), value),
            _ => return Err(UNPLACED.into()),
        }
        Ok(())
    }

    /// Into one item of the body.
    fn place_in(&mut self, item: Range<usize>, signature: &str) -> Result<(), String> {
        let value = self.written(signature);
        match self.variant.signature.from.first().and_then(Template::sole).map(|value| &value.source) {
            Some(Source::Json(pointer)) => self.set_json(item, &pointer.clone(), &value),
            _ => Err(UNPLACED.into()),
        }
    }

    fn set_header(&mut self, name: &str, value: String) {
        let mut headers = Headers::new();
        for (known, value) in self.request.headers.iter().filter(|(known, _)| *known != name) {
            headers.push(known, value);
        }
        headers.push(name, value.as_bytes());
        self.request.headers = headers;
        self.signed.headers.push((name.to_owned(), value));
    }

    fn set_query(&mut self, name: &str, value: &str) {
        let pair = serde_urlencoded::to_string([(name, value)]).unwrap_or_default();
        let query = match &self.request.query {
            Some(query) if !query.is_empty() => format!("{query}&{pair}"),
            _ => pair,
        };
        self.signed.path_and_query = Some(format!("{}?{query}", self.request.path));
        self.request.query = Some(query);
    }

    /// The signature in place of what the body has there already, `within` being the document.
    fn set_json(&mut self, within: Range<usize>, pointer: &str, value: &str) -> Result<(), String> {
        let body = self.request.body.clone();
        let document = body.get(within).unwrap_or_default();
        let there = json_raw(document, pointer).map_err(|why| format!("the body {why}"))?;
        let there =
            there.ok_or_else(|| format!("the body needs something at `{pointer}`, for the signature"))?;
        let start = there.as_ptr() as usize - body.as_ptr() as usize;
        let text = serde_json::Value::from(value).to_string();
        let signed = [&body[..start], text.as_bytes(), &body[start + there.len()..]].concat();
        self.request.body = signed.into();
        self.signed.body = Some(self.request.body.clone());
        Ok(())
    }

    fn set_form(&mut self, name: &str, value: String) {
        let mut pairs: Vec<(String, String)> =
            serde_urlencoded::from_bytes(&self.request.body).unwrap_or_default();
        pairs.retain(|(known, _)| known != name);
        pairs.push((name.to_owned(), value));
        self.request.body = serde_urlencoded::to_string(pairs).unwrap_or_default().into();
        self.signed.body = Some(self.request.body.clone());
    }
}

/// Names for what is signed, the same for the same body at the same moment.
fn ids(body: &[u8], now: Timestamp) -> SampleIds {
    use sha2::Digest as _;
    let digest = sha2::Sha256::new().chain_update(body).chain_update(now.timestamp_micros().to_be_bytes());
    let name = hex::encode(&digest.finalize()[..12]);
    SampleIds { event: name.clone(), object: name }
}
