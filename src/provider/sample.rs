//! Sample events: the real shape, invented data.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use chrono::SecondsFormat;

use crate::clock::Timestamp;
use crate::model::Headers;

/// What `${…}` may name in a sample and in `[sign]`.
pub(crate) const PLACEHOLDERS: [&str; 11] = [
    "event",
    "object",
    "event_number",
    "object_number",
    "uuid",
    "now",
    "soon",
    "now_ms",
    "now_rfc3339",
    "form_base64",
    "/form_base64",
];

/// A sample event, for `send`, `demo` and tests.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The event type that it maps to.
    pub event_type: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// What makes one sample differ from the next: the caller's choice, so that a test can send the same event twice,
/// or two events about the same object.
#[derive(Clone, Debug)]
pub struct SampleIds {
    /// Goes into the event's id; letters and digits.
    pub event: String,
    /// Goes into the ids of what the event is about; letters and digits.
    pub object: String,
}

impl Sample {
    /// The request's headers (unsigned, `content-type` among them) and body at `now`.
    pub fn render(&self, ids: &SampleIds, now: Timestamp) -> (Headers, Bytes) {
        let mut headers = Headers::new();
        if !self.headers.iter().any(|(name, _)| name == "content-type") {
            headers.push("content-type", *b"application/json");
        }
        for (name, value) in &self.headers {
            headers.push(name, fill(value, ids, now));
        }
        (headers, Bytes::from(fill(&self.body, ids, now)))
    }
}

/// Replaces the placeholders.
pub(crate) fn fill(text: &str, ids: &SampleIds, now: Timestamp) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some((before, name, after)) = placeholder(rest) {
        out.push_str(before);
        match name {
            "event" => out.push_str(&ids.event),
            "object" => out.push_str(&ids.object),
            "event_number" => out.push_str(&number(&ids.event)),
            "object_number" => out.push_str(&number(&ids.object)),
            "uuid" => out.push_str(&uuid(&ids.event)),
            "now" => out.push_str(&now.timestamp().to_string()),
            "soon" => out.push_str(&(now.timestamp() + 300).to_string()),
            "now_ms" => out.push_str(&now.timestamp_millis().to_string()),
            "now_rfc3339" => out.push_str(&now.to_rfc3339_opts(SecondsFormat::Secs, true)),
            "form_base64" => {
                let (inner, behind) = after.split_once("${/form_base64}").unwrap_or((after, ""));
                let encoded = STANDARD.encode(fill(inner, ids, now));
                out.extend(form_urlencoded(&encoded));
                rest = behind;
                continue;
            }
            _ => {}
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Base64 as a form's value.
fn form_urlencoded(base64: &str) -> impl Iterator<Item = String> {
    base64.chars().map(|char| match char {
        '+' => "%2B".into(),
        '/' => "%2F".into(),
        '=' => "%3D".into(),
        _ => char.to_string(),
    })
}

/// The first placeholder that [`fill`] does not know.
pub(crate) fn unknown_placeholder(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some((_, name, after)) = placeholder(rest) {
        if !PLACEHOLDERS.contains(&name) {
            return Some(name);
        }
        rest = after;
    }
    None
}

fn placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// A number of nine or ten digits that belongs to an id.
fn number(id: &str) -> String {
    let digest = super::algorithm::Hash::Sha256.digest(id.as_bytes());
    let number = digest.iter().take(4).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    (100_000_000 + number % 2_000_000_000).to_string()
}

/// A UUID that belongs to an id: the same event has the same one.
fn uuid(id: &str) -> String {
    let digest = super::algorithm::Hash::Sha256.digest(id.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}
