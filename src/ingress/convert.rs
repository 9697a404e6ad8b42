//! From hyper's request to the one that the verifier sees.

use bytes::Bytes;
use http::header::HOST;
use http::request::Parts;
use http::{HeaderMap, Version};

use super::refusal::Refusal;
use crate::model::{Headers, Request};

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

/// The same request without a connection. Scheme and host are `origin`, which the operator configured: neither an
/// absolute target nor `Host` nor a forwarded header has a say, for a signature may cover the URL.
pub(super) fn request(head: &Parts, body: Bytes, origin: Option<&str>) -> Request {
    Request {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        origin: origin.map(str::to_owned),
        headers: headers(&head.headers),
        body,
    }
}

fn headers(map: &HeaderMap) -> Headers {
    let mut headers = Headers::new();
    for (name, value) in map {
        headers.push(name.as_str(), value.as_bytes());
    }
    headers
}
