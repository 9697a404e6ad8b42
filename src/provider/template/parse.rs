//! Reading a template.

use super::{Filter, Piece, Source, Template, Value};

/// All sources, for error messages and the documentation's test.
pub(crate) const SOURCES: &[&str] = &[
    "method",
    "url",
    "path",
    "query",
    "query:NAME",
    "header:NAME",
    "peer",
    "proxy:NAME",
    "form:NAME",
    "file:NAME",
    "xml:/PATH",
    "json:/POINTER",
    "raw:/POINTER",
    "root:/POINTER",
    "parent:/POINTER",
    "claim:/POINTER",
    "claim_raw:/POINTER",
    "jose:/POINTER",
    "part:NAME",
    "secret",
    "body",
    "index",
    "unique",
    "received:SPAN",
    "challenge",
    "fetched",
];

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what is allowed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let pieces = pieces(&mut rest, false)?;
        Ok(Self { pieces })
    }
}

fn pieces(rest: &mut &str, inside: bool) -> Result<Vec<Piece>, String> {
    let mut out = Vec::new();
    let mut literal = String::new();
    while let Some(char) = rest.chars().next() {
        let doubled = rest[char.len_utf8()..].starts_with(char);
        match char {
            '{' | '}' | '[' | ']' if doubled => {
                literal.push(char);
                *rest = &rest[2..];
            }
            '{' => {
                flush(&mut literal, &mut out);
                let end = rest.find('}').ok_or("a `{` is not closed (a `{` itself is written `{{`)")?;
                out.push(Piece::Value(value(&rest[1..end])?));
                *rest = &rest[end + 1..];
            }
            '[' if inside => return Err("a `[…]` cannot stand in another".into()),
            '[' => {
                flush(&mut literal, &mut out);
                *rest = &rest[1..];
                let inner = pieces(rest, true)?;
                if !inner.iter().any(|piece| matches!(piece, Piece::Value(_))) {
                    return Err(
                        "a `[…]` without a {value} in it says nothing (a `[` itself is written `[[`)".into(),
                    );
                }
                out.push(Piece::Group(inner));
            }
            ']' if inside => {
                *rest = &rest[1..];
                flush(&mut literal, &mut out);
                return Ok(out);
            }
            '}' | ']' => {
                return Err(format!(
                    "a `{char}` was never opened (a `{char}` itself is written `{char}{char}`)"
                ));
            }
            _ => {
                literal.push(char);
                *rest = &rest[char.len_utf8()..];
            }
        }
    }
    if inside {
        return Err("a `[` is not closed (a `[` itself is written `[[`)".into());
    }
    flush(&mut literal, &mut out);
    Ok(out)
}

fn flush(literal: &mut String, out: &mut Vec<Piece>) {
    if !literal.is_empty() {
        out.push(Piece::Literal(std::mem::take(literal).into_bytes().into()));
    }
}

fn value(text: &str) -> Result<Value, String> {
    // After a colon it is an argument: `{url|before:?}`.
    let optional = text.strip_suffix('?').filter(|text| !text.ends_with(':'));
    let (text, optional) = optional.map_or((text, false), |text| (text, true));
    let mut parts = text.split('|');
    let source = source(parts.next().unwrap_or_default())?;
    let filters = parts.map(Filter::parse).collect::<Result<_, _>>()?;
    Ok(Value { source, filters, optional })
}

fn source(text: &str) -> Result<Source, String> {
    let (name, argument) =
        text.split_once(':').map_or((text, None), |(name, argument)| (name, Some(argument)));
    Ok(match (name, argument) {
        ("method", None) => Source::Method,
        ("url", None) => Source::Url,
        ("path", None) => Source::Path,
        ("query", None) => Source::Query(None),
        ("query", Some(name)) => Source::Query(Some(named(text, name)?)),
        ("header", Some(name)) => Source::Header(named(text, name)?.to_ascii_lowercase()),
        ("peer", None) => Source::Peer,
        ("proxy", Some(name)) => Source::Proxy(named(text, name)?.to_ascii_lowercase()),
        ("form", Some(name)) => Source::Form(named(text, name)?),
        ("file", Some(name)) => Source::File(named(text, name)?),
        ("xml", Some(at)) => Source::Xml(path(at)?),
        ("json", Some(at)) => Source::Json(pointer(at)?),
        ("raw", Some(at)) => Source::Raw(pointer(at)?),
        ("root", Some(at)) => Source::Root(pointer(at)?),
        ("parent", Some(at)) => Source::Parent(pointer(at)?),
        ("claim", Some(at)) => Source::Claim(pointer(at)?),
        ("claim_raw", Some(at)) => Source::ClaimRaw(pointer(at)?),
        ("jose", Some(at)) => Source::Jose(pointer(at)?),
        ("part", Some(name)) => Source::Part(named(text, name)?),
        ("secret", None) => Source::Secret,
        ("body", None) => Source::Body,
        ("index", None) => Source::Index,
        ("unique", None) => Source::Unique,
        ("received", Some(span)) => Source::Received(seconds(text, span)?),
        ("challenge", None) => Source::Challenge,
        ("fetched", None) => Source::Fetched,
        _ => return Err(format!("`{{{text}}}` is not known; a value is one of {}", SOURCES.join(", "))),
    })
}

fn seconds(text: &str, span: &str) -> Result<i64, String> {
    let seconds = humantime::parse_duration(span).ok().and_then(|span| i64::try_from(span.as_secs()).ok());
    seconds.filter(|seconds| *seconds > 0).ok_or_else(|| format!("`{{{text}}}` needs a span such as 60s"))
}

fn named(text: &str, name: &str) -> Result<String, String> {
    if name.is_empty() {
        return Err(format!("`{{{text}}}` needs a name after the colon"));
    }
    Ok(name.to_owned())
}

/// Checks a JSON pointer (RFC 6901).
pub(crate) fn pointer(text: &str) -> Result<String, String> {
    if text.is_empty() || text.starts_with('/') {
        return Ok(text.to_owned());
    }
    Err(format!("`{text}` is not a JSON pointer: it starts with `/`"))
}

/// Checks a path into XML: names of elements, at the end perhaps `@` and the name of an attribute.
pub(crate) fn path(text: &str) -> Result<String, String> {
    let mut names = text.split('/').skip(1).peekable();
    let mut fits = text.starts_with('/');
    while let Some(name) = names.next() {
        let name = if names.peek().is_none() { name.strip_prefix('@').unwrap_or(name) } else { name };
        fits &= !name.is_empty() && !name.contains(['@', ':', '*']);
    }
    if fits && !text.starts_with("/@") {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` is no path into XML, for example /Envelope/Body/Id or /event/@type, without prefixes"
    ))
}
