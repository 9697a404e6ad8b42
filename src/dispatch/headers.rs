//! The head of an outgoing request: the provider's headers that may go on, the destination's own, and ours.

use chrono::SecondsFormat;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::sign::{self, SigningKey};
use crate::clock::Timestamp;
use crate::model::{Content, Headers, Message, TRANSFORMED};

/// What a destination and the message's provider have to say about the headers.
pub(super) struct Policy<'a> {
    /// The destination's own headers; none of them is [`is_reserved`].
    pub(super) own: &'a HeaderMap,
    /// The destination's keys.
    pub(super) keys: &'a [SigningKey],
    /// Names, in lower case, of provider's headers that stay here (its signature, if the destination asks for that).
    pub(super) withheld: &'a [String],
    /// Whether names that begin with `ce-` are ours.
    pub(super) cloudevents: bool,
}

/// Writes all headers of one attempt.
pub(super) fn write(
    message: &Message,
    body: &[u8],
    attempt: i32,
    now: Timestamp,
    policy: &Policy<'_>,
) -> HeaderMap {
    let mut map = match (&message.content, &message.headers) {
        (Content::Body(_), Some(headers)) => forwarded(headers, policy),
        _ => HeaderMap::new(),
    };
    if let Some(value) = content_type(message).filter(|_| !map.contains_key(CONTENT_TYPE)) {
        map.insert(CONTENT_TYPE, value);
    }
    map.entry(USER_AGENT).or_insert(OWN_USER_AGENT);
    for (name, value) in policy.own {
        map.insert(name, value.clone());
    }
    for (name, value) in ours(message, attempt) {
        map.insert(name, text(&value));
    }
    let timestamp = now.timestamp();
    map.insert("webhook-timestamp", timestamp.into());
    if let Some(signature) = sign::signature(policy.keys, &escape(&message.message_id), timestamp, body) {
        map.insert("webhook-signature", text(&signature));
    }
    map
}

/// Whether a header is ours or the connection's to set, so that no configured header may carry its name.
pub(super) fn is_reserved(name: &str) -> bool {
    HOP_BY_HOP.contains(&name)
        || name.starts_with("webhook-")
        || name.starts_with("x-hookgate-")
        || ["idempotency-key", "traceparent", "tracestate"].contains(&name)
}

const OWN_USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("hookgate/", env!("CARGO_PKG_VERSION")));

/// Headers of one connection, not of the message (RFC 9110 7.6.1), and those that the client writes itself.
pub(super) const HOP_BY_HOP: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that prove to *us* who the provider is; a destination has no claim to them.
const CREDENTIALS: [&str; 3] = ["authorization", "cookie", "cookie2"];

/// What the store keeps in place of a header value that was itself the secret.
const REMOVED: &[u8] = b"[removed]";

fn forwarded(headers: &Headers, policy: &Policy<'_>) -> HeaderMap {
    let named: Vec<String> = headers
        .all(CONNECTION.as_str())
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase())
        .collect();
    let stays = |name: &str, value: &[u8]| {
        value == REMOVED
            || name.starts_with("x-hookgate-")
            || HOP_BY_HOP.contains(&name)
            || CREDENTIALS.contains(&name)
            || ["traceparent", "tracestate"].contains(&name)
            || named.iter().any(|hop| hop == name)
            || policy.withheld.iter().any(|header| header == name)
    };
    let mut map = HeaderMap::new();
    for (name, value) in headers.iter().filter(|(name, value)| !stays(name, value)) {
        // What came in through an HTTP parser goes out through one: anything else is not a header.
        if let (Ok(name), Ok(value)) =
            (forwarded_name(name, policy.cloudevents), HeaderValue::from_bytes(value))
        {
            map.append(name, value);
        }
    }
    map
}

/// The provider's own `webhook-id` and the like make room for ours.
fn forwarded_name(name: &str, cloudevents: bool) -> Result<HeaderName, http::header::InvalidHeaderName> {
    if name.starts_with("webhook-") || name == "idempotency-key" || cloudevents && name.starts_with("ce-") {
        format!("x-hookgate-original-{name}").parse()
    } else {
        name.parse()
    }
}

fn content_type(message: &Message) -> Option<HeaderValue> {
    match &message.content {
        Content::Payload(_) => Some(HeaderValue::from_static("application/json")),
        Content::Body(_) => {
            message.content_type.as_deref().and_then(|value| HeaderValue::from_str(value).ok())
        }
    }
}

fn ours(message: &Message, attempt: i32) -> Vec<(HeaderName, String)> {
    let named = |name: &'static str, value: &str| (HeaderName::from_static(name), escape(value));
    let mut list = vec![
        named("webhook-id", &message.message_id),
        // The message's own id names the operation: one event may send several messages to one destination, and a
        // receiver that remembers keys must see each of them once.
        named("idempotency-key", &message.key.idempotency_key(&message.message_id)),
        named("x-hookgate-provider", &message.key.provider),
        named("x-hookgate-endpoint", &message.key.endpoint),
        named("x-hookgate-event-id", &message.key.event_id),
        named("x-hookgate-event-type", &message.event_type),
        named("x-hookgate-received-at", &message.received_at.to_rfc3339_opts(SecondsFormat::Micros, true)),
        named("x-hookgate-attempt", &attempt.to_string()),
    ];
    if matches!(message.content, Content::Payload(_)) {
        list.push(named("x-hookgate-aggregate-type", &message.aggregate_type));
        list.push(named("x-hookgate-aggregate-id", &message.aggregate_id));
    }
    if message.headers.as_ref().is_some_and(|headers| headers.first(TRANSFORMED).is_some()) {
        list.push(named("x-hookgate-transformed", "true"));
    }
    if let Some(context) = &message.trace_context {
        list.push(named("traceparent", context));
    }
    list
}

/// Makes any text a header value that reads back to exactly that text by percent-decoding. Ids and types as providers
/// write them stay as they are: only control characters, characters outside ASCII, `%`, and spaces at the ends (which
/// parsers trim) are encoded.
fn escape(value: &str) -> String {
    const ENCODED: &AsciiSet = &CONTROLS.add(b'%');
    let inner = value.trim_matches(' ');
    if inner.is_empty() {
        return "%20".repeat(value.len());
    }
    let start = value.len() - value.trim_start_matches(' ').len();
    let end = value.len() - start - inner.len();
    format!("{}{}{}", "%20".repeat(start), utf8_percent_encode(inner, ENCODED), "%20".repeat(end))
}

fn text(escaped: &str) -> HeaderValue {
    HeaderValue::from_str(escaped).unwrap_or(HeaderValue::from_static(""))
}
