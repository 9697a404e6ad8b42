//! The one expression language of definitions: text with `{values}` in it.
//!
//! `{source}` or `{source:argument}`, then any number of `|filter`; a `?` at the end makes an absent value empty.
//! `[…]` vanishes where a value in it is absent. `{{`, `}}`, `[[` and `]]` are the characters themselves.
//! What is signed, where the signature is, keys, ids, handshake replies and conditions are all written in it.

mod address;
mod around;
mod condition;
mod encoded;
mod escape;
mod eval;
mod filter;
mod fixed_url;
mod oracle;
mod params;
mod parse;
mod pattern;
mod rewrite;

pub(crate) use around::Around;
pub(crate) use condition::Condition;
pub(crate) use eval::{Scope, Trouble};
pub(crate) use filter::Filter;
pub(crate) use oracle::is_challenge;
pub(crate) use parse::path;
pub(crate) use pattern::Pattern;

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(Box<[u8]>),
    Value(Value),
    Group(Vec<Piece>),
}

/// `{source|filter|…}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) source: Source,
    pub(crate) filters: Vec<Filter>,
    optional: bool,
}

impl Value {
    /// Whether it stands inside of what its source holds, as a field of JSON does.
    pub(crate) fn reads_inside(&self) -> bool {
        self.filters.iter().any(|filter| matches!(filter, Filter::Json(_) | Filter::Unbase64))
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The method, in capitals.
    Method,
    /// The whole public URL.
    Url,
    /// The path as it came.
    Path,
    /// The query as it came, or one of its parameters, decoded.
    Query(Option<String>),
    /// A header (lower case).
    Header(String),
    /// The client's address.
    Peer,
    /// A header (lower case) that counts only where a listed proxy sent the request.
    Proxy(String),
    /// A field of a form body, decoded.
    Form(String),
    /// The content of a file in a multipart form.
    File(String),
    /// A path into the event's document, which is XML.
    Xml(String),
    /// A JSON pointer into the event's document (the item of a batch).
    Json(String),
    /// A JSON pointer into the event's document: the JSON text that stands there, whatever it is.
    Raw(String),
    /// A pointer or path into the document that holds the batch.
    Root(String),
    /// A pointer or path into the element that holds the innermost array of a batch.
    Parent(String),
    /// A JSON pointer into the token's claims: a scalar, or the whole.
    Claim(String),
    /// A JSON pointer into the token's claims: the JSON text that stands there.
    ClaimRaw(String),
    /// A JSON pointer into the token's header.
    Jose(String),
    /// A named part of the place where the signature stands.
    Part(String),
    /// The signing secret as the operator gave it.
    Secret,
    /// The body as it came.
    Body,
    /// The position in a batch, from 0.
    Index,
    /// An id of the request, new for each.
    Unique,
    /// When the request arrived, cut to a span of so many seconds.
    Received(i64),
    /// What the answer to a handshake is made from.
    Challenge,
    /// What was fetched for the request.
    Fetched,
}

impl Template {
    /// Whether it is nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// All values in it, in order.
    pub(crate) fn values(&self) -> Vec<&Value> {
        fn walk<'a>(pieces: &'a [Piece], out: &mut Vec<&'a Value>) {
            for piece in pieces {
                match piece {
                    Piece::Literal(_) => {}
                    Piece::Value(value) => out.push(value),
                    Piece::Group(inner) => walk(inner, out),
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.pieces, &mut out);
        out
    }

    /// The only value, where the template is nothing else.
    pub(crate) fn sole(&self) -> Option<&Value> {
        match self.pieces.as_slice() {
            [Piece::Value(value)] => Some(value),
            _ => None,
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Method => f.write_str("the method"),
            Self::Url => f.write_str("the public URL"),
            Self::Path => f.write_str("the path"),
            Self::Query(None) => f.write_str("the query"),
            Self::Query(Some(name)) => write!(f, "query parameter `{name}`"),
            Self::Header(name) => write!(f, "header `{name}`"),
            Self::Peer => f.write_str("the client's address"),
            Self::Proxy(name) => write!(f, "header `{name}` of a trusted proxy"),
            Self::Form(name) => write!(f, "form field `{name}`"),
            Self::File(name) => write!(f, "file `{name}`"),
            Self::Xml(path) => write!(f, "XML value `{path}`"),
            Self::Json(pointer) => write!(f, "JSON value `{pointer}`"),
            Self::Raw(pointer) => write!(f, "JSON text `{pointer}`"),
            Self::Parent(pointer) => write!(f, "value `{pointer}` of what holds the item"),
            Self::Root(pointer) => write!(f, "value `{pointer}` of the whole body"),
            Self::Claim(pointer) | Self::ClaimRaw(pointer) if pointer.is_empty() => {
                f.write_str("the token's claims")
            }
            Self::Claim(pointer) | Self::ClaimRaw(pointer) => write!(f, "claim `{pointer}`"),
            Self::Jose(pointer) => write!(f, "`{pointer}` of the token's header"),
            Self::Part(name) => write!(f, "signature part `{name}`"),
            Self::Secret => f.write_str("the secret"),
            Self::Body => f.write_str("the body"),
            Self::Index => f.write_str("the position in the batch"),
            Self::Unique => f.write_str("the request's own id"),
            Self::Received(_) => f.write_str("the time of arrival"),
            Self::Challenge => f.write_str("the challenge"),
            Self::Fetched => f.write_str("what was fetched"),
        }
    }
}
