//! From hyper's request to the one that the verifier sees.

use bytes::Bytes;
use http::header::HOST;
use http::request::Parts;
use http::{HeaderMap, Version};

use super::peer::{Peer, client};
use super::refusal::Refusal;
use crate::model::{Headers, Networks, Request};

/// Refuses a request whose target could be read in two ways: RFC 9112 3.2 wants exactly one `Host` in HTTP/1.1.
/// (Conflicting lengths are hyper's business: it answers 400, or lets `chunked` win and closes the connection.)
/// <https://www.rfc-editor.org/rfc/rfc9112#section-3.2>
pub(super) fn check_host(head: &Parts) -> Result<(), Refusal> {
    let hosts = head.headers.get_all(HOST).iter().count();
    match (head.version, hosts) {
        (_, 1) => Ok(()),
        (version, 0) if version != Version::HTTP_11 => Ok(()),
        _ => Err(Refusal::Host),
    }
}

/// About how many bytes of memory these headers take; the 32 are HPACK's estimate of what one costs beside its text.
/// <https://www.rfc-editor.org/rfc/rfc7541#section-4.1>
pub(super) fn size(head: &Parts) -> usize {
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32);
    target + headers.sum::<usize>()
}

/// The same request without a connection. Scheme and host are `origin`, which the operator configured: neither an
/// absolute target nor `Host` nor a forwarded header has a say, for a signature may cover the URL.
pub(super) fn request(head: &Parts, body: Bytes, origin: Option<&str>, proxies: &Networks) -> Request {
    let peer = head.extensions.get().map(|Peer(peer)| client(*peer, &head.headers, proxies));
    let (peer, by_proxy) = peer.unwrap_or_default();
    Request {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        origin: origin.map(str::to_owned),
        headers: headers(&head.headers),
        body,
        peer,
        by_proxy,
    }
}

fn headers(map: &HeaderMap) -> Headers {
    let mut headers = Headers::new();
    for (name, value) in map {
        headers.push(name.as_str(), value.as_bytes());
    }
    headers
}
