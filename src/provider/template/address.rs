//! URLs taken apart as texts: what is signed is the text that the provider wrote, not a normalised one.

/// Scheme, authority, and the rest from the path or the query on.
fn parts(url: &[u8]) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = std::str::from_utf8(url).ok()?.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (!scheme.is_empty() && !authority.is_empty()).then_some((scheme, authority, path))
}

/// The authority without its port.
fn portless(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        // The colons of an IPv6 address stand in brackets.
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    }
}

/// A URL with `:443` or `:80` where it names no port.
pub(super) fn default_port(url: &[u8]) -> Option<String> {
    let (scheme, authority, path) = parts(url)?;
    let port = match scheme {
        _ if portless(authority).len() < authority.len() => "",
        "https" => ":443",
        _ => ":80",
    };
    Some(format!("{scheme}://{authority}{port}{path}"))
}

/// A URL without a port.
pub(super) fn without_port(url: &[u8]) -> Option<String> {
    let (scheme, authority, path) = parts(url)?;
    Some(format!("{scheme}://{}{path}", portless(authority)))
}

/// Scheme, host and port.
pub(super) fn origin(url: &[u8]) -> Option<&str> {
    let (scheme, authority, _) = parts(url)?;
    std::str::from_utf8(url).ok()?.get(..scheme.len() + "://".len() + authority.len())
}

/// The host alone.
pub(super) fn host(url: &[u8]) -> Option<&str> {
    parts(url).map(|(_, authority, _)| portless(authority))
}
