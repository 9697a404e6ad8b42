//! The other side: posts signed requests to a gateway, as a provider would. For `send`, `demo` and trials.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::clock::Timestamp;
use crate::model::{Headers, Request, Secret};
use crate::provider::Provider;
use crate::verify;

/// Answers are read up to this many bytes, unless said otherwise.
const MAX_ANSWER: usize = 64 * 1024;
/// An answer that takes longer is given up.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Posts requests to one gateway.
#[derive(Clone)]
pub struct Sender {
    base: String,
    max_answer: usize,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// The gateway's answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// `x-hookgate-outcome`; empty if the answer did not come from a gateway.
    pub outcome: String,
    /// The body.
    pub body: Bytes,
    /// From the first byte sent to the last one read.
    pub latency: Duration,
}

impl Sender {
    /// `base` is scheme, host and port, without a slash at the end.
    #[must_use]
    pub fn new(base: &str) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { base: base.trim_end_matches('/').to_owned(), max_answer: MAX_ANSWER, client }
    }

    /// Reads answers up to this many bytes.
    #[must_use]
    pub fn reading(self, max_answer: usize) -> Self {
        Self { max_answer, ..self }
    }

    /// Sends one request and reads the answer.
    ///
    /// # Errors
    /// A sentence: what could not be sent, or what kept the answer.
    pub async fn send(&self, request: &Request) -> Result<Answer, String> {
        let url = match &request.query {
            Some(query) => format!("{}{}?{query}", self.base, request.path),
            None => format!("{}{}", self.base, request.path),
        };
        let outgoing = outgoing(request, &url)?;
        let started = Instant::now();
        let exchange = async {
            let answer = self.client.request(outgoing).await.map_err(|error| {
                if error.is_connect() {
                    format!("nothing answers at {}; is the gateway running?", self.base)
                } else {
                    format!("{}: {error}", self.base)
                }
            })?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, self.max_answer).collect().await;
            let body = body.map_err(|error| error.to_string())?.to_bytes();
            let outcome =
                head.headers.get("x-hookgate-outcome").and_then(|v| v.to_str().ok()).unwrap_or_default();
            Ok(Answer {
                status: head.status.as_u16(),
                outcome: outcome.to_owned(),
                body,
                latency: started.elapsed(),
            })
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "an exchange that is cut here changes nothing on our side"
        )]
        let answer = tokio::time::timeout(TIMEOUT, exchange).await;
        answer.unwrap_or_else(|_| Err(format!("no answer within {} s", TIMEOUT.as_secs())))
    }
}

/// An unsigned POST of a provider.
#[must_use]
pub fn post(origin: &str, path: &str, headers: Headers, body: Bytes) -> Request {
    Request {
        method: "POST".into(),
        path: path.into(),
        query: None,
        origin: Some(origin.into()),
        ..Request::bare(headers, body)
    }
}

/// The same request, signed at `now`.
///
/// # Errors
/// A sentence: why it cannot be signed.
pub fn signed(
    mut request: Request,
    provider: &Provider,
    secret: &Secret,
    now: Timestamp,
) -> Result<Request, String> {
    let signature = verify::sign(provider, secret, &request, now)?;
    for (name, value) in &signature.headers {
        if request.headers.first(name).is_some() {
            request.headers.replace(name, value.as_bytes());
        } else {
            request.headers.push(name, value.as_bytes());
        }
    }
    if let Some(body) = signature.body {
        request.body = body;
    }
    if let Some(target) = signature.path_and_query {
        let (path, query) =
            target.split_once('?').map_or((&*target, None), |(path, query)| (path, Some(query)));
        (request.path, request.query) = (path.to_owned(), query.map(str::to_owned));
    }
    Ok(request)
}

/// The same body with one byte changed: its last digit, so that it stays JSON, or else its last byte.
#[must_use]
pub fn tampered(body: &Bytes) -> Bytes {
    let mut bytes = body.to_vec();
    let digit = bytes.iter().rposition(u8::is_ascii_digit);
    match digit.or_else(|| bytes.len().checked_sub(1)) {
        Some(at) => bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' },
        None => bytes.push(b'1'),
    }
    bytes.into()
}

fn outgoing(request: &Request, url: &str) -> Result<http::Request<Full<Bytes>>, String> {
    let mut outgoing = http::Request::new(Full::new(request.body.clone()));
    *outgoing.method_mut() = Method::from_bytes(request.method.as_bytes())
        .map_err(|_| format!("`{}` is no method", request.method))?;
    *outgoing.uri_mut() = url.parse::<Uri>().map_err(|error| format!("`{url}` is no URL: {error}"))?;
    for (name, value) in request.headers.iter() {
        let bad = |_| format!("header `{name}` cannot be sent");
        let name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header name"))?;
        outgoing.headers_mut().append(name, HeaderValue::from_bytes(value).map_err(bad)?);
    }
    Ok(outgoing)
}
