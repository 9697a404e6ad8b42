//! The body in other forms: what a framework, a proxy, an editor or a copy makes of it on its way.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::Hint;
use super::json::{self, Layout, Style};
use super::search::{Search, signs_body};
use crate::model::Request;

type Rewrite = fn(&[u8]) -> Option<Vec<u8>>;

/// Bytes and text.
const FORMS: [(&str, Rewrite); 14] = [
    ("without its last line break", |body| Some(cut_line_break(body)?.to_vec())),
    ("with a line break at its end", |body| Some([body, b"\n"].concat())),
    ("with CR LF at its end", |body| Some([body, b"\r\n"].concat())),
    ("without the white space around it", |body| Some(body.trim_ascii().to_vec())),
    ("with CR LF for its line breaks", |body| {
        Some(replaced(&replaced(body, b"\r\n", b"\n"), b"\n", b"\r\n"))
    }),
    ("with LF for its line breaks", |body| Some(replaced(body, b"\r\n", b"\n"))),
    ("without its byte order mark", |body| Some(body.strip_prefix(BOM)?.to_vec())),
    ("with a byte order mark", |body| Some([BOM, body].concat())),
    ("in UTF-8 (it came in Latin-1, or twice encoded)", from_latin1),
    ("in Latin-1 (it came in UTF-8)", to_latin1),
    ("once it is decoded from base64", |body| STANDARD.decode(body.trim_ascii()).ok()),
    ("once it is encoded as base64", |body| Some(STANDARD.encode(body).into_bytes())),
    ("left empty", |_| Some(Vec::new())),
    ("that stands in it as a JSON text, or in a field `body` or `payload`", inner),
];

/// JSON that was read and written again.
const STYLES: [(&str, Style); 11] = [
    ("compact JSON", PLAIN),
    ("JSON as Python writes it", Style { layout: Layout::Spaced, ascii: true, ..PLAIN }),
    ("JSON indented by two blanks", Style { layout: Layout::Indented("  "), ..PLAIN }),
    ("compact JSON with `\\uXXXX` for all but ASCII", Style { ascii: true, ..PLAIN }),
    ("JSON as PHP writes it", Style { ascii: true, slashes: true, ..PLAIN }),
    (
        "JSON as Go or Rails writes it, with `<`, `>` and `&` as `\\u003c` and the like",
        Style { html: true, ..PLAIN },
    ),
    ("JSON with blanks after `,` and `:`", Style { layout: Layout::Spaced, ..PLAIN }),
    ("JSON indented by four blanks", Style { layout: Layout::Indented("    "), ..PLAIN }),
    ("JSON indented by tabs", Style { layout: Layout::Indented("\t"), ..PLAIN }),
    (
        "JSON indented by two blanks with `\\uXXXX`",
        Style { layout: Layout::Indented("  "), ascii: true, ..PLAIN },
    ),
    ("compact JSON with `/` as `\\/`", Style { slashes: true, ..PLAIN }),
];

const PLAIN: Style = Style { layout: Layout::Compact, ascii: false, slashes: false, html: false };

/// Forms that were read and written again: by the blank, and by what stays as it is besides letters and digits.
const FORM_STYLES: [(&str, &str, &AsciiSet); 4] = [
    (
        "as a form written by browsers",
        "+",
        &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_'),
    ),
    (
        "as a form with `%20` for blanks",
        "%20",
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~'),
    ),
    ("as a form written by Python or PHP", "+", &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_')),
    ("as a form written by JavaScript's encodeURIComponent", "%20", &SCRIPT),
];

const SCRIPT: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');
const BOM: &[u8] = "\u{feff}".as_bytes();

/// A form of the body that the signature fits.
pub(super) fn another(search: &mut Search<'_>) -> Option<Hint> {
    let variant = search.variant.filter(|variant| signs_body(variant))?;
    let came = search.request;
    let mut tried = HashSet::from([digest(&came.body)]);
    let mut fits = |what: &str, body: Option<Vec<u8>>| {
        let body = body.filter(|body| tried.insert(digest(body)))?;
        let request = Request { body: body.into(), ..came.clone() };
        search.fits(variant, &request).then(|| sentence(what))
    };
    let plain = FORMS.iter().find_map(|(what, rewrite)| fits(what, rewrite(&came.body)));
    plain.or_else(|| as_json(&came.body, &mut fits)).or_else(|| as_form(&came.body, &mut fits))
}

fn sentence(what: &str) -> Hint {
    Hint::proven(format!(
        "the signature fits the body {what}: something on the way has rewritten it; hand on its bytes as they came"
    ))
}

/// Tries one form of the body, by its name.
type Fits<'a> = &'a mut dyn FnMut(&str, Option<Vec<u8>>) -> Option<Hint>;

fn as_json(body: &[u8], fits: Fits<'_>) -> Option<Hint> {
    let mut value: Value =
        serde_json::from_slice(body.strip_prefix(BOM).unwrap_or(body)).ok().filter(is_nested)?;
    for (what, style) in STYLES {
        let hint = fits(&format!("written as {what}"), json::write(&value, style));
        if hint.is_some() {
            return hint;
        }
    }
    let broken = |style| json::write(&value, style).map(|body| [&*body, b"\n"].concat());
    for (what, style) in [STYLES[0], STYLES[2]] {
        let hint = fits(&format!("written as {what}, with a line break at its end"), broken(style));
        if hint.is_some() {
            return hint;
        }
    }
    value.sort_all_objects();
    STYLES[..4].iter().find_map(|(what, style)| {
        fits(&format!("written as {what}, its keys sorted"), json::write(&value, *style))
    })
}

fn as_form(body: &[u8], fits: Fits<'_>) -> Option<Hint> {
    if !body.contains(&b'=') || matches!(body.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return None;
    }
    let hint = fits("with its `%xx` in the other case", Some(other_case(body)));
    if hint.is_some() {
        return hint;
    }
    let mut pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(body).ok()?;
    let styled = |pairs: &[(String, String)], blank: &str, kept: &'static AsciiSet| {
        let encode = |text: &str| utf8_percent_encode(text, kept).to_string().replace("%20", blank);
        let pairs = pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        Some(pairs.collect::<Vec<_>>().join("&").into_bytes())
    };
    let written = FORM_STYLES.iter().find_map(|(what, blank, kept)| fits(what, styled(&pairs, blank, kept)));
    written.or_else(|| {
        pairs.sort();
        let sorted = |(what, blank, kept): &(&str, &str, &'static AsciiSet)| {
            fits(&format!("{what}, its fields sorted"), styled(&pairs, blank, kept))
        };
        FORM_STYLES.iter().find_map(sorted)
    })
}

/// A scalar has one form only.
fn is_nested(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}

fn cut_line_break(body: &[u8]) -> Option<&[u8]> {
    body.strip_suffix(b"\r\n").or_else(|| body.strip_suffix(b"\n"))
}

fn replaced(body: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    while at < body.len() {
        let found = body[at..].starts_with(what);
        out.extend_from_slice(if found { by } else { &body[at..=at] });
        at += if found { what.len() } else { 1 };
    }
    out
}

/// Each byte was taken for a character.
fn from_latin1(body: &[u8]) -> Option<Vec<u8>> {
    if body.is_ascii() {
        return None;
    }
    match std::str::from_utf8(body) {
        // Twice encoded: what the characters stand for are the bytes.
        Ok(text) => text
            .chars()
            .map(|char| u8::try_from(u32::from(char)).ok())
            .collect::<Option<Vec<u8>>>()
            .filter(|bytes| std::str::from_utf8(bytes).is_ok()),
        Err(_) => Some(body.iter().copied().map(char::from).collect::<String>().into_bytes()),
    }
}

fn to_latin1(body: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok().filter(|text| !text.is_ascii())?;
    text.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect()
}

/// What an API gateway or a form has wrapped up.
fn inner(body: &[u8]) -> Option<Vec<u8>> {
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        let text =
            value.as_str().or_else(|| ["body", "payload"].iter().find_map(|name| value.get(name)?.as_str()));
        return text.map(|text| STANDARD.decode(text).unwrap_or_else(|_| text.as_bytes().to_vec()));
    }
    let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(body).ok()?;
    pairs.into_iter().find(|(name, _)| name == "payload").map(|(_, value)| value.into_bytes())
}

/// `%2f` as `%2F` and the other way.
fn other_case(body: &[u8]) -> Vec<u8> {
    let mut out = body.to_vec();
    for at in 0..out.len() {
        if out[at] == b'%' {
            let end = out.len().min(at + 3);
            for byte in &mut out[at + 1..end] {
                *byte = if byte.is_ascii_uppercase() {
                    byte.to_ascii_lowercase()
                } else {
                    byte.to_ascii_uppercase()
                };
            }
        }
    }
    out
}
