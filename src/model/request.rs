//! One inbound HTTP exchange as the verifier sees it: bytes, not yet believed.

use std::net::IpAddr;

use bytes::Bytes;

use super::Headers;

/// An inbound request, read to its end and not yet verified.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The path as it stands in the request line, undecoded.
    pub path: String,
    /// The query as it stands in the request line, undecoded, without `?`.
    pub query: Option<String>,
    /// Scheme, host and port that the provider sees, without a slash at the end: `server.public_url`, or what
    /// `verify --url` names. `None` where nobody said it; never taken from the request's own headers.
    pub origin: Option<String>,
    /// The headers in order.
    pub headers: Headers,
    /// The body as it came over the wire.
    pub body: Bytes,
    /// The client's address: the connection's, or what listed proxies say of it. `None` where nobody knows.
    pub peer: Option<IpAddr>,
    /// Whether a listed proxy sent it, so that headers of its own may be believed.
    pub by_proxy: bool,
}

impl Request {
    /// Headers and a body alone, of which nobody knows how they came.
    #[must_use]
    pub fn bare(headers: Headers, body: Bytes) -> Self {
        Self {
            method: String::new(),
            path: String::new(),
            query: None,
            origin: None,
            headers,
            body,
            peer: None,
            by_proxy: false,
        }
    }

    /// The whole public URL, as far as it is known.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        let origin = self.origin.as_deref()?;
        Some(match &self.query {
            Some(query) => format!("{origin}{}?{query}", self.path),
            None => format!("{origin}{}", self.path),
        })
    }
}
