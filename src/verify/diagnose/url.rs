//! The public URL in other forms: behind proxies it is seldom the one that the provider calls.

use super::Hint;
use super::search::Search;
use crate::model::Request;
use crate::provider::{Source, Template, Variant};

/// URLs that are tried.
const MAX_URLS: usize = 32;
/// Headers in which proxies hand on the path as it came.
const PATHS: [&str; 4] = ["x-original-uri", "x-original-url", "x-forwarded-uri", "x-rewrite-url"];

/// A URL that the signature fits.
pub(super) fn another(search: &mut Search<'_>) -> Option<Hint> {
    let variant = search.variant?;
    let fixed = variant.texts.iter().find_map(Template::fixed_url);
    let signs_url = variant.texts.iter().flat_map(Template::values).any(|value| value.source == Source::Url);
    if !signs_url && fixed.is_none() {
        return None;
    }
    let known = fixed.map_or_else(|| search.request.url(), |url| Some(url.to_owned()));
    for (url, what) in urls(known.as_deref(), search.request, fixed.is_some()).into_iter().take(MAX_URLS) {
        let written = url.to_string();
        let fits = if fixed.is_some() {
            search.fits(&with_fixed_url(variant, &written), search.request)
        } else {
            search.fits(variant, &called_at(search.request, url))
        };
        if fits {
            let place =
                if fixed.is_some() { "the setting that holds it" } else { "`server.public_url` (`--url`)" };
            return Some(Hint::proven(format!(
                "the signature fits the public URL {what}: {place} must be what the provider calls, to the letter"
            )));
        }
    }
    None
}

fn with_fixed_url(variant: &Variant, url: &str) -> Variant {
    let texts = variant.texts.iter().map(|text| text.with_fixed_url(url)).collect();
    Variant { texts, ..variant.clone() }
}

fn called_at(request: &Request, url: Url) -> Request {
    let origin = Some(format!("{}://{}", url.scheme, url.host));
    Request { origin, path: url.path, query: url.query, ..request.clone() }
}

/// A URL in the parts that get changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Url {
    scheme: String,
    host: String,
    path: String,
    query: Option<String>,
}

impl Url {
    fn read(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (path, None),
        };
        Some(Self { scheme: scheme.to_owned(), host: host.to_owned(), path: path.to_owned(), query })
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.host, self.path)?;
        self.query.as_ref().map_or(Ok(()), |query| write!(f, "?{query}"))
    }
}

/// URLs to try, each with what is different: one thing at first, then host and scheme together with the rest.
fn urls(known: Option<&str>, request: &Request, is_fixed: bool) -> Vec<(Url, String)> {
    let said = request.headers.text("x-forwarded-host").or_else(|| request.headers.text("host"));
    let said = said.and_then(|hosts| hosts.split(',').next()).map(str::trim).filter(|host| !host.is_empty());
    let from_request = |host: &str| Url {
        scheme: "https".into(),
        host: host.to_owned(),
        path: request.path.clone(),
        query: request.query.clone(),
    };
    let base = known.and_then(Url::read).or_else(|| said.map(from_request));
    let Some(base) = base else { return Vec::new() };
    let origins = origins(&base, said);
    let paths = paths(&base, request, is_fixed);
    let mut out: Vec<(Url, String)> = Vec::new();
    let mut add = |url: Url, what: String| {
        let is_known = known.is_some_and(|known| known == url.to_string());
        if !is_known && !out.iter().any(|(other, _)| *other == url) {
            out.push((url, what));
        }
    };
    if known.is_none() {
        add(base.clone(), format!("`https://{}` with the request's path", base.host));
    }
    let at = |origin: &Url, path: &Url| Url {
        path: path.path.clone(),
        query: path.query.clone(),
        ..origin.clone()
    };
    for (origin, what) in &origins {
        add(origin.clone(), what.clone());
    }
    for (path, what) in &paths {
        add(path.clone(), (*what).to_owned());
    }
    for (path, what) in &paths {
        for (origin, with) in &origins {
            add(at(origin, path), format!("{with} and {what}"));
        }
    }
    out
}

/// The same path elsewhere.
fn origins(base: &Url, said: Option<&str>) -> Vec<(Url, String)> {
    let other = if base.scheme == "https" { "http" } else { "https" };
    let scheme = |url: &Url| Url { scheme: other.into(), ..url.clone() };
    let mut hosts = Vec::new();
    match base.host.rsplit_once(':') {
        Some((name, _)) => hosts.push((name.to_owned(), "without its port".to_owned())),
        None => hosts.extend(
            ["443", "80"].map(|port| (format!("{}:{port}", base.host), format!("with the port {port}"))),
        ),
    }
    if let Some(said) = said.filter(|said| *said != base.host) {
        hosts.push((said.to_owned(), format!("with the host `{}`", printable(said))));
        if let Some((bare, _)) = said.rsplit_once(':') {
            hosts.push((bare.to_owned(), format!("with the host `{}`", printable(bare))));
        }
    }
    if let Some(bare) = base.host.strip_prefix("www.") {
        hosts.push((bare.to_owned(), "without `www.`".to_owned()));
    }
    let mut out = vec![(scheme(base), format!("with the scheme `{other}`"))];
    for (host, what) in hosts {
        let url = Url { host, ..base.clone() };
        out.push((scheme(&url), format!("{what} and the scheme `{other}`")));
        out.insert(1, (url, what));
    }
    out
}

/// Another path or query at the same place.
fn paths(base: &Url, request: &Request, is_fixed: bool) -> Vec<(Url, &'static str)> {
    let path = |path: String| Url { path, ..base.clone() };
    let query = |query: Option<String>| Url { query, ..base.clone() };
    let mut out = Vec::new();
    out.push(match base.path.strip_suffix('/') {
        Some(shorter) => (path(shorter.to_owned()), "without the slash at its end"),
        None => (path(format!("{}/", base.path)), "with a slash at its end"),
    });
    for value in PATHS.iter().filter_map(|name| request.headers.text(name)) {
        let absolute = Url::read(value).map(|url| (url.path, url.query));
        let (there, asked) = absolute.unwrap_or_else(|| match value.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (value.to_owned(), base.query.clone()),
        });
        out.push((
            Url { path: there, query: asked, ..base.clone() },
            "with the path that a proxy says it had",
        ));
    }
    if let Some(prefix) = request.headers.text("x-forwarded-prefix") {
        let there = format!("{}{}", prefix.trim_end_matches('/'), base.path);
        out.push((path(there), "with the path prefix that a proxy says it cut off"));
    }
    if let Some((_, rest)) = base.path.strip_prefix('/').and_then(|path| path.split_once('/')) {
        out.push((path(format!("/{rest}")), "without the first part of its path"));
    }
    if let Some(asked) = &base.query {
        out.push((query(None), "without its query"));
        let mut pairs: Vec<&str> = asked.split('&').collect();
        pairs.sort_unstable();
        out.push((query(Some(pairs.join("&"))), "with the parameters of its query sorted"));
        let decoded = percent_encoding::percent_decode_str(asked).decode_utf8_lossy().into_owned();
        out.push((query(Some(decoded)), "with its query percent-decoded"));
    }
    if is_fixed {
        let came = Url { path: request.path.clone(), query: request.query.clone(), ..base.clone() };
        out.push((Url { query: None, ..came.clone() }, "with the path of the request"));
        out.push((came, "with the path and query of the request"));
    }
    out
}

/// A host as a stranger may have sent it.
fn printable(host: &str) -> String {
    host.chars().filter(|char| char.is_ascii_alphanumeric() || ".-:[]".contains(*char)).take(100).collect()
}
