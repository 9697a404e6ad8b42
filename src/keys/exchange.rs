//! One request to a provider, within bounds.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{self, HeaderMap, HeaderValue};
use http::{HeaderName, Method, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};

use super::LIMIT;
use crate::egress::{Client, Fault, Guarded, Network, Reach, Rule, fault, reach, rule, within};
use crate::egress::{tls_of_this_machine, tls_over};
use crate::model::Secret;
use crate::verify::{KeyRequest, MAX_FETCHED};

/// Connections that may wait for the next request to a host.
const IDLE: usize = 2;

/// What came back, or why nothing did.
pub(crate) type Got = Result<Reply, Fault>;

/// The provider's reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
    /// What `cache-control` says about its age: at most so long.
    pub(crate) max_age: Option<Duration>,
}

/// The clients, one for each rule about addresses, made when they are used.
pub(crate) struct Exchange {
    network: Network,
    public: OnceLock<Result<Client, String>>,
    private: OnceLock<Result<Client, String>>,
    loopback: OnceLock<Result<Client, String>>,
}

impl Exchange {
    pub(crate) fn new(network: &Network) -> Self {
        Self {
            network: network.clone(),
            public: OnceLock::new(),
            private: OnceLock::new(),
            loopback: OnceLock::new(),
        }
    }

    /// Sends it and reads the reply, all within [`LIMIT`].
    pub(crate) async fn send(&self, request: &KeyRequest, bearer: Option<&Secret>) -> Got {
        let (url, rule) = judge(&request.url, request.allow_private)?;
        let client = self.client(rule)?;
        let message = message(request, url, bearer)?;
        let work = async {
            let reply = client.send(message).await.map_err(|error| fault(&error))?;
            let (head, body) = reply.into_parts();
            Ok(Reply {
                status: head.status.as_u16(),
                max_age: max_age(&head.headers),
                body: read(body).await?,
            })
        };
        let slow = || Err(Fault { code: "timeout", detail: format!("no whole answer within {LIMIT:?}") });
        within(LIMIT, work).await.unwrap_or_else(slow)
    }

    fn client(&self, rule: Rule) -> Result<&Client, Fault> {
        let slot = match rule {
            Rule::Public => &self.public,
            Rule::AlsoPrivate => &self.private,
            Rule::Loopback => &self.loopback,
        };
        let make = || {
            let tls = match &self.network.roots {
                Some(roots) => tls_over(roots.clone()),
                None => tls_of_this_machine(),
            }?;
            let guarded = Guarded { resolver: Arc::clone(&self.network.resolver), rule };
            Ok(Client::new(guarded, tls, self.network.connect_timeout.min(LIMIT), IDLE))
        };
        slot.get_or_init(make).as_ref().map_err(|why: &String| Fault { code: "tls", detail: why.clone() })
    }
}

/// Whether a request may go there, and what its host may resolve to.
fn judge(url: &str, allow_private: bool) -> Result<(Uri, Rule), Fault> {
    let blocked = |detail: String| Fault { code: "blocked_address", detail };
    let url: Uri = url.parse().map_err(|_| blocked("it is no URL that can be fetched".into()))?;
    let rule = rule(&url, allow_private).map_err(blocked)?;
    if allow_private {
        return Ok((url, rule));
    }
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    let literal = host.parse::<IpAddr>().ok();
    if url.scheme_str() != Some("https") {
        let detail = "only https is fetched; `allow_private` beside `hosts` in the definition opens the rest";
        return Err(blocked(detail.into()));
    }
    if rule == Rule::Loopback || literal.is_some_and(|address| reach(address) != Reach::Public) {
        let detail =
            "private addresses are not called; `allow_private` beside `hosts` in the definition opens them";
        return Err(blocked(detail.into()));
    }
    Ok((url, rule))
}

fn message(request: &KeyRequest, url: Uri, bearer: Option<&Secret>) -> Result<Request<Full<Bytes>>, Fault> {
    let wrong = |detail: String| Fault { code: "header", detail };
    let mut message = Request::new(Full::new(request.body.clone()));
    *message.method_mut() = request.method.parse().unwrap_or(Method::GET);
    *message.uri_mut() = url;
    let headers = message.headers_mut();
    headers.insert(
        header::USER_AGENT,
        HeaderValue::from_static(concat!("hookgate/", env!("CARGO_PKG_VERSION"))),
    );
    headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
    for (name, value) in &request.headers {
        let name: HeaderName = name.parse().map_err(|_| wrong(format!("{name:?} is no header name")))?;
        let mut value: HeaderValue =
            value.parse().map_err(|_| wrong(format!("the value for {name} cannot stand in a header")))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if let Some(bearer) = bearer {
        let text = [b"Bearer ", bearer.expose()].concat();
        let mut value =
            HeaderValue::from_bytes(&text).map_err(|_| wrong("the token cannot stand there".into()))?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    Ok(message)
}

async fn read(mut body: Incoming) -> Result<Bytes, Fault> {
    let too_large =
        || Fault { code: "too_large", detail: format!("the answer is larger than {MAX_FETCHED} bytes") };
    if body.size_hint().lower() > MAX_FETCHED as u64 {
        return Err(too_large());
    }
    let mut out = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Fault { code: "closed", detail: "the answer broke off".into() })?;
        if let Some(data) = frame.data_ref() {
            if out.len() + data.len() > MAX_FETCHED {
                return Err(too_large());
            }
            out.extend_from_slice(data);
        }
    }
    Ok(out.freeze())
}

/// The shortest age that `cache-control` speaks of; `no-store` and `no-cache` are none at all.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let directives = values.flat_map(|value| value.split(',')).map(|it| it.trim().to_ascii_lowercase());
    directives
        .filter_map(|directive| match directive.split_once('=') {
            Some(("max-age", seconds)) => seconds.trim_matches('"').parse().ok().map(Duration::from_secs),
            None if directive == "no-store" || directive == "no-cache" => Some(Duration::ZERO),
            _ => None,
        })
        .min()
}
