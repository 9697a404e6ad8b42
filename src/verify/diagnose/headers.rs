//! Headers that a proxy renamed, doubled, joined or put in quotes.

use super::Hint;
use super::search::{Search, headers_of};
use crate::model::{Headers, Request};
use crate::provider::Variant;

/// What proxies, gateways and servers put before a name.
const PREFIXES: [&str; 6] =
    ["x-original-", "x-forwarded-", "x-amzn-remapped-", "original-", "forwarded-", "http-"];
/// Values of one header, and pieces of one value, that are tried.
const MAX_PIECES: usize = 4;

/// A header is missing, and one with nearly its name fits in its place.
pub(super) fn renamed(search: &mut Search<'_>) -> Option<Hint> {
    for variant in variants(search) {
        let renamed = missing(variant, search.request);
        if renamed.is_empty() {
            continue;
        }
        let mut headers = search.request.headers.clone();
        for (needed, found) in &renamed {
            if let Some(value) = search.request.headers.first(found) {
                headers.push(needed, value);
            }
        }
        if search.fits(variant, &with(search.request, headers)) {
            let names = renamed.iter().map(|(needed, found)| format!("`{needed}` came as `{found}`"));
            let names = names.collect::<Vec<_>>().join(" and ");
            return Some(Hint::proven(format!(
                "header {names}: something in front of the gateway renames it"
            )));
        }
    }
    None
}

/// Headers that a variant needs and the request has under another name only: the needed name, and the one found.
pub(super) fn missing<'a>(variant: &'a Variant, request: &'a Request) -> Vec<(&'a str, &'a str)> {
    let needed = headers_of(variant).into_iter().filter(|name| request.headers.first(name).is_none());
    let pairs = needed.filter_map(|name| {
        let mut alike =
            request.headers.iter().map(|(found, _)| found).filter(|found| core(found) == core(name));
        Some((name, alike.next()?))
    });
    pairs.collect()
}

/// A name without what is put before it on the way.
fn core(name: &str) -> String {
    let name = name.replace('_', "-");
    let mut rest = name.as_str();
    while let Some(shorter) = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)) {
        rest = shorter;
    }
    rest.strip_prefix("x-").unwrap_or(rest).to_owned()
}

/// A header that the scheme reads is there, but not as it was sent.
pub(super) fn repaired(search: &mut Search<'_>) -> Option<Hint> {
    let variant = search.variant?;
    for name in headers_of(variant) {
        for (value, what) in repairs(search.request, name) {
            let mut headers = Headers::new();
            for (other, value) in search.request.headers.iter().filter(|(other, _)| *other != name) {
                headers.push(other, value);
            }
            headers.push(name, value);
            if search.fits(variant, &with(search.request, headers)) {
                return Some(Hint::proven(format!("header `{name}` {what}")));
            }
        }
    }
    None
}

fn repairs(request: &Request, name: &str) -> Vec<(Vec<u8>, &'static str)> {
    let values: Vec<&[u8]> = request.headers.all(name).take(MAX_PIECES).collect();
    if values.len() > 1 {
        let doubled = "came more than once, and one of its values fits: something in front adds it again";
        return values.into_iter().map(|value| (value.to_vec(), doubled)).collect();
    }
    let Some(value) = values.first().and_then(|value| std::str::from_utf8(value).ok()) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let joined =
        "holds several values in one, and one of them fits: something in front joins doubled headers";
    let half = value.len() / 2;
    if value.as_bytes().get(half) == Some(&b',') && value.get(..half) == value.get(half + 1..) {
        out.push((value[..half].to_owned(), joined));
    }
    if value.contains(", ") {
        out.extend(value.split(", ").take(MAX_PIECES).map(|piece| (piece.to_owned(), joined)));
    }
    let bare = value.trim_matches(['"', '\'', ' ', '\t']);
    out.push((bare.to_owned(), "stands in quotes or white space, and fits without them"));
    if value.contains('%')
        && let Ok(decoded) = percent_encoding::percent_decode_str(value).decode_utf8()
    {
        out.push((decoded.into_owned(), "is percent-encoded, and fits once it is decoded"));
    }
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        let whole = value.split('.').next().unwrap_or_default();
        out.push((whole.to_owned(), "is a time with a fraction, and fits without it"));
        out.push((format!("{whole}000"), "is a time in seconds, and was signed in milliseconds"));
        if whole.len() > 12 {
            let seconds = whole[..whole.len() - 3].to_owned();
            out.push((seconds, "is a time in milliseconds, and was signed in seconds"));
        }
    }
    out.retain(|(repaired, _)| repaired != value);
    out.into_iter().map(|(value, what)| (value.into_bytes(), what)).collect()
}

/// The variant that the request claims to be, or where there is no signature all that are in use.
fn variants<'a>(search: &Search<'a>) -> Vec<&'a Variant> {
    let provider = search.provider;
    let mut variants: Vec<&Variant> = search.variant.into_iter().collect();
    if search.claimed {
        return variants;
    }
    variants
        .extend(provider.candidates().filter(|other| search.variant.is_none_or(|it| it.name != other.name)));
    variants
}

fn with(request: &Request, headers: Headers) -> Request {
    Request { headers, ..request.clone() }
}
