//! What a template says about one request.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use smallvec::SmallVec;
use uuid::Uuid;

use super::around::Around;
use super::{Filter, Piece, Source, Template, Value, is_challenge};
use crate::clock::Timestamp;
use crate::model::Request;
use crate::provider::algorithm::Hash;
use crate::provider::batch::Item;
use crate::provider::form::Form;
use crate::provider::json::{self, Picked};
use crate::provider::jws::Token;
use crate::provider::key::{self, PublicKey};
use crate::provider::xml;

/// What the values of a template are taken from.
pub(crate) struct Scope<'a> {
    request: &'a Request,
    /// Named parts of the place where the signature stands.
    pub(crate) parts: &'a [(String, String)],
    /// The token that carries the proof, where the scheme has one.
    pub(crate) token: Option<Arc<Token>>,
    /// The signing secret, where a template may use it.
    pub(crate) secret: Option<&'a [u8]>,
    /// The event's document.
    pub(crate) document: &'a [u8],
    /// The document that holds the batch.
    pub(crate) root: &'a [u8],
    /// What has been read from `root` already.
    pub(crate) root_picked: Option<&'a Picked<'a>>,
    /// What has been read from `document` already.
    pub(crate) picked: Option<&'a Picked<'a>>,
    /// The element that holds the innermost array of the batch.
    pub(crate) parent: &'a [u8],
    /// The position in the batch.
    pub(crate) index: usize,
    /// The request's id and its time of arrival.
    pub(crate) arrival: Option<(Uuid, Timestamp)>,
    /// What the answer to a handshake is made from.
    pub(crate) challenge: Option<&'a [u8]>,
    /// What was fetched for the request.
    pub(crate) fetched: Option<&'a [u8]>,
    /// Whether the documents are XML, and not JSON.
    pub(crate) is_xml: bool,
    /// What was read around the items of a batch before.
    pub(crate) around: Option<&'a Around>,
    form: OnceCell<Form>,
}

/// A rendered template in pieces: few enough, mostly, to stand on the stack.
pub(crate) type Pieces<'a> = SmallVec<[Cow<'a, [u8]>; 6]>;

/// Why a template says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A value is not there. Holds its description.
    Absent(String),
    /// A value is there twice, so nobody knows which one is meant.
    Repeated(String),
    /// A value cannot be read. Holds its description and why.
    Unreadable(String, String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent(what) => write!(f, "{what} is missing"),
            Self::Repeated(what) => write!(f, "{what} stands in the request more than once"),
            Self::Unreadable(what, why) => write!(f, "{what} {why}"),
        }
    }
}

impl<'a> Scope<'a> {
    /// The request alone; its body is the document.
    pub(crate) fn new(request: &'a Request) -> Self {
        Self {
            request,
            parts: &[],
            token: None,
            secret: None,
            document: &request.body,
            root: &request.body,
            root_picked: None,
            picked: None,
            parent: &request.body,
            index: 0,
            arrival: None,
            challenge: None,
            fetched: None,
            is_xml: false,
            around: None,
            form: OnceCell::new(),
        }
    }

    /// The same for templates that live shorter than this one's.
    pub(crate) fn beside(&self) -> Self {
        Self {
            parts: self.parts,
            token: self.token.clone(),
            document: self.document,
            root: self.root,
            parent: self.parent,
            index: self.index,
            ..Self::new(self.request)
        }
    }

    /// One item of the body, which is the document.
    pub(crate) fn of_item(request: &'a Request, item: &Item<'a>, index: usize) -> Self {
        let mut scope = Self::new(request);
        scope.document = item.text.as_bytes();
        scope.parent = item.parent.as_bytes();
        scope.index = index;
        scope
    }

    /// The values of a header that may come several times.
    pub(crate) fn every(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.request.headers.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value)
    }

    fn source(&self, source: &Source) -> Result<Option<Cow<'a, [u8]>>, Trouble> {
        let unreadable = |why| Trouble::Unreadable(source.to_string(), why);
        Ok(match source {
            Source::Method => Some(Cow::Borrowed(self.request.method.as_bytes())),
            Source::Url => self.request.url().map(|url| Cow::Owned(url.into_bytes())),
            Source::Path => Some(Cow::Borrowed(self.request.path.as_bytes())),
            Source::Query(None) => self.request.query.as_ref().map(|query| Cow::Borrowed(query.as_bytes())),
            Source::Query(Some(name)) => {
                let pairs = pairs(self.request.query.as_deref().unwrap_or_default().as_bytes());
                single(source, pairs.into_iter().filter(|(key, _)| key == name))?
                    .map(|(_, value)| Cow::Owned(value.into_bytes()))
            }
            Source::Header(name) => {
                single(source, self.request.headers.iter().filter(|(key, _)| key == name))?
                    .map(|(_, value)| Cow::Borrowed(value))
            }
            Source::Peer => self.request.peer.map(|peer| owned(peer.to_string())),
            Source::Proxy(_) if !self.request.by_proxy => None,
            Source::Proxy(name) => {
                single(source, self.request.headers.iter().filter(|(key, _)| key == name))?
                    .map(|(_, value)| Cow::Borrowed(value))
            }
            Source::Form(name) => single(source, self.form().fields.iter().filter(|(key, _)| key == name))?
                .map(|(_, value)| Cow::Owned(value.clone())),
            Source::File(name) => single(source, self.form().files.iter().filter(|(key, _)| key == name))?
                .map(|(_, content)| Cow::Owned(content.to_vec())),
            Source::Xml(at) => xml::text(self.document, at).map_err(unreadable)?.map(owned),
            Source::Json(at) => self
                .raw(at)
                .and_then(|raw| raw.map_or(Ok(None), json::scalar))
                .map_err(unreadable)?
                .map(bytes),
            Source::Raw(at) => self
                .raw(at)
                .map_err(unreadable)?
                .filter(|raw| *raw != "null")
                .map(|raw| Cow::Borrowed(raw.as_bytes())),
            Source::Parent(at) => self.around(self.parent, None, at).map_err(unreadable)?,
            Source::Root(at) => self.around(self.root, self.root_picked, at).map_err(unreadable)?,
            Source::Claim(at) => self.of_token(Token::payload, at, at.is_empty()).map_err(unreadable)?,
            Source::ClaimRaw(at) => self.of_token(Token::payload, at, true).map_err(unreadable)?,
            Source::Jose(at) => self.of_token(Token::header, at, false).map_err(unreadable)?,
            Source::Part(name) => single(source, self.parts.iter().filter(|(key, _)| key == name))?
                .map(|(_, value)| Cow::Borrowed(value.as_bytes())),
            Source::Secret => self.secret.map(Cow::Borrowed),
            Source::Body => Some(Cow::Borrowed(&*self.request.body)),
            Source::Index => Some(Cow::Owned(self.index.to_string().into_bytes())),
            Source::Unique => self.arrival.map(|(id, _)| Cow::Owned(id.to_string().into_bytes())),
            Source::Received(span) => self.arrival.map(|(_, now)| {
                let seconds = now.timestamp();
                Cow::Owned((seconds - seconds.rem_euclid(*span)).to_string().into_bytes())
            }),
            Source::Challenge => self.challenge.map(Cow::Borrowed),
            Source::Fetched => self.fetched.map(Cow::Borrowed),
        })
    }

    /// A value beside the item of a batch.
    fn around(
        &self,
        document: &'a [u8],
        read: Option<&'a Picked<'a>>,
        at: &str,
    ) -> Result<Option<Cow<'a, [u8]>>, String> {
        if let Some(around) = self.around {
            return around.value(document, at, || self.read_around(document, read, at));
        }
        self.read_around(document, read, at)
    }

    fn read_around(
        &self,
        document: &'a [u8],
        read: Option<&'a Picked<'a>>,
        at: &str,
    ) -> Result<Option<Cow<'a, [u8]>>, String> {
        if self.is_xml {
            return Ok(xml::text(document, at)?.map(owned));
        }
        let raw = picked(read, document, at)?;
        Ok(raw.map_or(Ok(None), json::scalar)?.map(bytes))
    }

    /// The JSON text at a pointer of the document.
    fn raw(&self, at: &str) -> Result<Option<&'a str>, String> {
        picked(self.picked, self.document, at)
    }

    /// What stands in the token: a scalar, or the JSON text of anything but null.
    fn of_token(
        &self,
        part: fn(&Token) -> &[u8],
        at: &str,
        raw: bool,
    ) -> Result<Option<Cow<'a, [u8]>>, String> {
        let Some(token) = &self.token else { return Ok(None) };
        let Some(found) = json::raw(part(token), at)? else { return Ok(None) };
        let found =
            if raw { Some(Cow::Borrowed(found)).filter(|raw| raw != "null") } else { json::scalar(found)? };
        Ok(found.map(|text| Cow::Owned(text.into_owned().into_bytes())))
    }

    /// The values of the headers that `names` lists, joined; `None` where one is missing.
    pub(super) fn headers(&self, names: &[u8], joiner: &str) -> Result<Option<Vec<u8>>, String> {
        let names = std::str::from_utf8(names).map_err(|_| "is not UTF-8")?.to_ascii_lowercase();
        let mut values = Vec::new();
        for name in names.split(' ') {
            let mut found = self.request.headers.iter().filter(|(known, _)| *known == name);
            let Some((_, value)) = found.next() else { return Ok(None) };
            if found.next().is_some() {
                return Err("names a header that stands in the request more than once".into());
            }
            values.push(value);
        }
        Ok(Some(values.join(joiner.as_bytes())))
    }

    /// The answer to a challenge, made with the endpoint's secret.
    pub(super) fn answer(&self, hash: Hash, challenge: &[u8]) -> Result<Vec<u8>, String> {
        if !is_challenge(challenge) {
            return Err("is no challenge that may be signed".into());
        }
        let secret = self.secret.ok_or("cannot be answered: no secret is live")?;
        Ok(hash.hmac(secret, &[challenge]).into_vec())
    }

    pub(super) fn value(&self, value: &Value) -> Result<Cow<'a, [u8]>, Trouble> {
        self.filtered(value, &value.filters)
    }

    fn filtered(&self, value: &Value, filters: &[Filter]) -> Result<Cow<'a, [u8]>, Trouble> {
        let mut current = self.source(&value.source)?;
        for filter in filters {
            let Some(bytes) = current else { break };
            current = filter
                .apply(bytes, self)
                .map_err(|why| Trouble::Unreadable(value.source.to_string(), why))?;
        }
        match current {
            Some(bytes) => Ok(bytes),
            None if value.optional => Ok(Cow::Borrowed(&[])),
            None => Err(Trouble::Absent(value.source.to_string())),
        }
    }

    fn form(&self) -> &Form {
        self.form.get_or_init(|| Form::of(self.request))
    }
}

impl Template {
    /// The pieces of the rendered template, in order, without joining them.
    pub(crate) fn pieces<'a>(&'a self, scope: &Scope<'a>) -> Result<Pieces<'a>, Trouble> {
        let mut out = Pieces::new();
        render(&self.pieces, scope, &mut out)?;
        Ok(out)
    }

    /// The rendered template.
    pub(crate) fn render<'a>(&'a self, scope: &Scope<'a>) -> Result<Cow<'a, [u8]>, Trouble> {
        if let Some(value) = self.sole() {
            return scope.value(value);
        }
        let mut pieces = self.pieces(scope)?;
        Ok(match pieces.len() {
            1 => pieces.remove(0),
            _ => Cow::Owned(pieces.concat()),
        })
    }

    /// The public keys that a template ends in, each of its own kind; `None` where it ends in something else.
    pub(crate) fn public_keys(&self, scope: &Scope<'_>) -> Option<Result<Vec<PublicKey>, Trouble>> {
        let value = self.sole()?;
        let (Filter::PublicKey, before) = value.filters.split_last()? else { return None };
        let read = |text: Cow<'_, [u8]>| {
            let unreadable = || Trouble::Unreadable(value.source.to_string(), key::EXPECTED.into());
            key::read(&text).ok_or_else(unreadable)
        };
        Some(scope.filtered(value, before).and_then(read))
    }

    /// The rendered template as text.
    pub(crate) fn text(&self, scope: &Scope<'_>) -> Result<String, Trouble> {
        Ok(self.lent_text(scope)?.into_owned())
    }

    /// The same, without a copy where it stands in the request as it is.
    pub(crate) fn lent_text<'a>(&'a self, scope: &Scope<'a>) -> Result<Cow<'a, str>, Trouble> {
        let text = match self.render(scope)? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        };
        text.ok_or_else(|| {
            let what =
                self.values().first().map_or_else(|| "a value".into(), |value| value.source.to_string());
            Trouble::Unreadable(what, "is not UTF-8".into())
        })
    }
}

fn render<'a>(pieces: &'a [Piece], scope: &Scope<'a>, out: &mut Pieces<'a>) -> Result<(), Trouble> {
    for piece in pieces {
        match piece {
            Piece::Literal(bytes) => out.push(Cow::Borrowed(bytes)),
            Piece::Value(value) => out.push(scope.value(value)?),
            Piece::Group(inner) => {
                let before = out.len();
                match render(inner, scope, out) {
                    Err(Trouble::Absent(_)) => out.truncate(before),
                    other => other?,
                }
            }
        }
    }
    Ok(())
}

/// The JSON text at a pointer, from what was read already or from the text itself.
fn picked<'a>(picked: Option<&'a Picked<'a>>, text: &'a [u8], at: &str) -> Result<Option<&'a str>, String> {
    match picked.and_then(|picked| Some((picked, picked.position(at)?))) {
        Some((picked, position)) => Ok(picked.raw(position)),
        None => json::raw(text, at),
    }
}

/// The only item; two of them are refused, since a verifier and a reader could take different ones.
fn single<T>(source: &Source, mut items: impl Iterator<Item = T>) -> Result<Option<T>, Trouble> {
    let first = items.next();
    if items.next().is_some() {
        return Err(Trouble::Repeated(source.to_string()));
    }
    Ok(first)
}

/// The fields of a form or query, decoded once.
fn pairs(text: &[u8]) -> Vec<(String, String)> {
    serde_urlencoded::from_bytes(text).unwrap_or_default()
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn owned<'a>(text: String) -> Cow<'a, [u8]> {
    Cow::Owned(text.into_bytes())
}
