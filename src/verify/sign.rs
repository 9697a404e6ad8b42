//! The mirror of verification: what makes a request genuine.

use bytes::Bytes;

use super::{keyring, moment};
use crate::clock::Timestamp;
use crate::model::{Headers, Request, Secret};
use crate::provider::{
    Algorithm, Grammar, Provider, SampleIds, Scope, Source, Template, Variant, fill, json_raw,
};

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

/// Signs `request` as the provider would at `now`: the mirror of [`super::verify()`], for symmetric schemes.
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
    let symmetric = || provider.candidates().filter(|variant| variant.algorithm.is_symmetric());
    // Conditions may be about the signature itself, which is not there yet: so the others come after.
    let variants = symmetric().filter(fits).chain(symmetric().filter(|variant| !fits(variant)));
    let mut problem = None;
    for variant in variants {
        match sign_as(variant, provider, secret, request, now) {
            Ok(signed) => return Ok(signed),
            Err(why) => problem = problem.or(Some(why)),
        }
    }
    Err(problem.unwrap_or_else(|| {
        format!("`{}` signs with a private key that only the provider has", provider.id())
    }))
}

fn sign_as(
    variant: &Variant,
    provider: &Provider,
    secret: &Secret,
    request: &Request,
    now: Timestamp,
) -> Result<Signed, String> {
    let mut signer =
        Signer { variant, request: request.clone(), signed: Signed::default(), parts: Vec::new() };
    signer.parts.extend(provider.sign_parts().iter().filter(|(name, _)| variant.needs_part(name)).cloned());
    signer.defaults(provider, now);
    signer.timestamp(now)?;
    let key = keyring::decode(variant, secret)?.swap_remove(0);
    let signature = signer.signature(&key)?;
    signer.place(&signature)?;
    Ok(signer.signed)
}

struct Signer<'a> {
    variant: &'a Variant,
    request: Request,
    signed: Signed,
    parts: Vec<(String, String)>,
}

impl Signer<'_> {
    /// Headers that the scheme signs and that the request does not have.
    fn defaults(&mut self, provider: &Provider, now: Timestamp) {
        let digest = name(&self.request.body, now);
        let ids = SampleIds { event: digest.clone(), object: digest };
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
            Some(Source::Part(name)) => self.parts.push((name.clone(), text)),
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

    fn signature(&self, key: &Secret) -> Result<String, String> {
        let mut scope = Scope::new(&self.request);
        scope.parts = &self.parts;
        scope.secret = Some(key.expose());
        let text = match self.variant.texts.first() {
            Some(text) => {
                text.pieces(&scope).map_err(|trouble| format!("{trouble}: give it to be signed"))?
            }
            None => Vec::new(),
        };
        let bytes = match self.variant.algorithm {
            Algorithm::Hmac(hash) => hash.hmac(key.expose(), &text),
            Algorithm::Digest(hash) => hash.digest(&text.concat()),
            Algorithm::Token => key.expose().to_vec(),
            Algorithm::Public(_) => return Err("signing needs the provider's private key".into()),
        };
        let encoded = self.variant.signature.encodings.first().and_then(|encoding| encoding.encode(&bytes));
        encoded.ok_or_else(|| "the secret is not text, so it cannot be sent as a token".into())
    }

    fn place(&mut self, signature: &str) -> Result<(), String> {
        let part =
            |name: &str| self.parts.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let value = match &self.variant.signature.grammar {
            Grammar::Pattern(pattern) => pattern.write(|name| {
                if name == "signature" { signature.to_owned() } else { part(name).unwrap_or_default() }
            }),
            Grammar::Pairs { separator, take } => {
                let pairs = self.parts.iter().map(|(name, value)| format!("{name}={value}"));
                pairs.chain([format!("{take}={signature}")]).collect::<Vec<_>>().join(separator)
            }
        };
        match self.variant.signature.from.first().and_then(Template::sole).map(|value| &value.source) {
            Some(Source::Header(name)) => {
                let name = name.clone();
                self.set_header(&name, value);
            }
            Some(Source::Query(Some(name))) => self.set_query(&name.clone(), &value),
            Some(Source::Json(pointer)) => self.set_json(&pointer.clone(), &value)?,
            Some(Source::Form(name)) => self.set_form(&name.clone(), value),
            _ => return Err("the scheme's signature stands where it cannot be written to".into()),
        }
        Ok(())
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
    }

    /// The signature in place of what the body has there already.
    fn set_json(&mut self, pointer: &str, value: &str) -> Result<(), String> {
        let body = &self.request.body;
        let there = json_raw(body, pointer).map_err(|why| format!("the body {why}"))?;
        let there =
            there.ok_or_else(|| format!("the body needs something at `{pointer}`, for the signature"))?;
        let start = there.as_ptr() as usize - body.as_ptr() as usize;
        let text = serde_json::Value::from(value).to_string();
        let signed = [&body[..start], text.as_bytes(), &body[start + there.len()..]].concat();
        self.signed.body = Some(signed.into());
        Ok(())
    }

    fn set_form(&mut self, name: &str, value: String) {
        let mut pairs: Vec<(String, String)> =
            serde_urlencoded::from_bytes(&self.request.body).unwrap_or_default();
        pairs.retain(|(known, _)| known != name);
        pairs.push((name.to_owned(), value));
        self.signed.body = Some(serde_urlencoded::to_string(pairs).unwrap_or_default().into());
    }
}

/// A name for what is signed, the same for the same body at the same moment.
fn name(body: &[u8], now: Timestamp) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::new().chain_update(body).chain_update(now.timestamp_micros().to_be_bytes());
    hex::encode(&digest.finalize()[..12])
}
