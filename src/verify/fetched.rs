//! What must be fetched before a request can be judged, and what came of it.
//!
//! Verification itself stays pure: it names what it needs, whoever called it fetches that, and it is called again.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::model::Secret;

/// The longest answer that is taken: the largest key sets and order documents stay far below.
pub const MAX_FETCHED: usize = 64 * 1024;

/// One request to the provider, for a key or for its word that an event is true. Its host has been checked against
/// the definition's; the addresses behind it have not.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRequest {
    /// The URL, whose host is one that the definition names.
    pub url: String,
    /// The method, in capitals.
    pub method: String,
    /// Headers; values may be secret.
    pub headers: Vec<(String, String)>,
    /// The body, empty for GET.
    pub body: Bytes,
    /// For how long an answer may be kept; `None`: it belongs to this one request.
    pub cache: Option<Duration>,
    /// Whether a kept answer was looked at and has not got the key: only a new one will do.
    pub renew: bool,
    /// Whether it may go to private addresses and without TLS, because the definition says so.
    pub allow_private: bool,
    /// What gets the token that it carries.
    pub oauth: Option<OAuth>,
}

/// Client credentials, exchanged for a token (RFC 6749, 4.4).
#[derive(Clone, PartialEq, Eq)]
pub struct OAuth {
    /// Where the token is had.
    pub url: String,
    /// Who asks.
    pub client_id: String,
    /// The proof of it.
    pub client_secret: Secret,
    /// What the token is for; may be empty.
    pub scope: String,
}

impl KeyRequest {
    /// A plain GET.
    #[must_use]
    pub fn get(url: String) -> Self {
        Self {
            url,
            method: "GET".into(),
            headers: Vec::new(),
            body: Bytes::new(),
            cache: None,
            renew: false,
            allow_private: false,
            oauth: None,
        }
    }

    /// What tells it from others, whatever secrets are in it.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let mut hash = Sha256::new();
        let url = one_spelling(&self.url);
        let headers = self.headers.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        let oauth = self.oauth.iter().flat_map(|oauth| {
            let OAuth { url, client_id, client_secret, scope } = oauth;
            [url.as_bytes(), client_id.as_bytes(), client_secret.expose(), scope.as_bytes()]
        });
        let parts = [self.method.as_bytes(), url.as_bytes(), &self.body];
        for part in parts.into_iter().chain(headers).chain(oauth) {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        Identity(hash.finalize().into())
    }
}

/// A URL as all of its spellings are written (RFC 3986, 6.2.2): otherwise each of them would be fetched and kept anew.
fn one_spelling(url: &str) -> String {
    let Ok(parsed) = url.parse::<http::Uri>() else { return url.to_owned() };
    let scheme = parsed.scheme_str().unwrap_or_default().to_ascii_lowercase();
    let host = parsed.authority().map_or("", http::uri::Authority::as_str).to_ascii_lowercase();
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let rest = parsed.path_and_query().map_or("", http::uri::PathAndQuery::as_str);
    format!("{scheme}://{}{}", host.strip_suffix(usual).unwrap_or(&host), decoded(rest))
}

/// Letters, digits and `-._~` need no percent sign; what does is written with capitals.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let hex = part.get(..2).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => out.push(byte.into()),
            Some(_) => out.extend(["%", &part[..2].to_ascii_uppercase()]),
            None => out.push('%'),
        }
        out.push_str(if byte.is_some() { &part[2..] } else { part });
    }
    out
}

impl fmt::Debug for KeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRequest")
            .field("method", &self.method)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// What tells one [`KeyRequest`] from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity([u8; 32]);

/// What came of a [`KeyRequest`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// The provider answered. `fresh`: just now, so that asking again would not help.
    Reply {
        /// Its status.
        status: u16,
        /// Its body, at most [`MAX_FETCHED`] bytes.
        body: Bytes,
        /// Whether it was made for this request.
        fresh: bool,
    },
    /// It could not be had; why.
    Failed(String),
}

/// Answers to key requests.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    by_identity: HashMap<Identity, Answer>,
    by_url: HashMap<String, Answer>,
}

impl Fetched {
    /// Nothing has been fetched.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Adds the answer to a request.
    pub fn insert(&mut self, request: &KeyRequest, answer: Answer) {
        self.by_identity.insert(request.identity(), answer);
    }

    /// Adds an answer for whatever asks for this URL: for `hookgate verify --fetched`.
    pub fn insert_url(&mut self, url: String, body: Bytes) {
        self.by_url.insert(url, Answer::Reply { status: 200, body, fresh: true });
    }

    /// The answer to a request, if there is one.
    #[must_use]
    pub fn get(&self, request: &KeyRequest) -> Option<&Answer> {
        self.by_identity.get(&request.identity()).or_else(|| self.by_url.get(&request.url))
    }
}
