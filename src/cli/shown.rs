//! How rows are shown: tables for people, JSON for programs, no secret to either, and nothing that a stranger wrote
//! reaches the terminal as more than text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::SecondsFormat;
use comfy_table::Table;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use serde::Serialize;
use serde_json::{Value, json};

use super::out;
use crate::clock::Timestamp;
use crate::config::Config;
use crate::store::{ContentRecord, Cursor, Listed};

/// What stands in the place of a secret, here and in the store.
const REMOVED: &str = "[removed]";

/// Parts of the names of headers whose values are never shown.
const SECRET_NAMES: [&str; 8] =
    ["authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "credential"];

/// A shorter text is too likely to stand somewhere by chance.
const SHORTEST: usize = 6;

/// The configuration's secrets.
pub(in crate::cli) struct Mask(Vec<Vec<u8>>);

impl Mask {
    pub(in crate::cli) fn new(config: &Config) -> Self {
        let endpoints = config.endpoints.values().flat_map(|endpoint| &endpoint.secrets);
        let destinations = config.destinations.values().flat_map(|destination| &destination.sign);
        let secrets = endpoints.map(|signing| &signing.secret).chain(destinations);
        let secrets = secrets.chain(&config.admin.metrics_token).map(|secret| secret.expose().to_vec());
        Self(secrets.filter(|secret| secret.len() >= SHORTEST).collect())
    }

    fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.0.iter().fold(bytes.to_vec(), |bytes, secret| replaced(&bytes, secret))
    }

    fn header(&self, name: &str, value: &[u8]) -> String {
        if SECRET_NAMES.iter().any(|part| name.contains(part)) {
            return REMOVED.into();
        }
        String::from_utf8_lossy(&self.bytes(value)).into_owned()
    }
}

fn replaced(bytes: &[u8], secret: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(secret.len()).position(|part| part == secret) {
        shown.extend_from_slice(&rest[..at]);
        shown.extend_from_slice(REMOVED.as_bytes());
        rest = &rest[at + secret.len()..];
    }
    shown.extend_from_slice(rest);
    shown
}

/// Headers and, if they are asked for, the bytes, as members of a JSON object.
pub(in crate::cli) fn content_json(object: &mut Value, content: &ContentRecord, mask: &Mask, body: bool) {
    object["content_type"] = json!(content.content_type);
    object["headers"] = content.headers.iter().map(|(n, v)| json!([n, mask.header(n, v)])).collect();
    object["body_bytes"] = json!(content.body.len());
    if let Some(digest) = &content.body_sha256 {
        object["body_sha256"] = json!(digest);
    }
    if body {
        match String::from_utf8(mask.bytes(&content.body)) {
            Ok(text) => object["body"] = json!(text),
            Err(other) => object["body_base64"] = json!(STANDARD.encode(other.as_bytes())),
        }
    }
}

/// The same for people.
pub(in crate::cli) fn print_content(content: &ContentRecord, mask: &Mask, body: bool) -> anyhow::Result<()> {
    let mut headers = table(["header", "value"]);
    for (name, value) in content.headers.iter() {
        headers.add_row([clean(name), clean(&mask.header(name, value))]);
    }
    if content.headers.iter().next().is_some() {
        out(format_args!("{headers}"))?;
    }
    if body {
        match String::from_utf8(mask.bytes(&content.body)) {
            Ok(text) => out(format_args!("{}", clean_lines(&text)))?,
            Err(other) => out(format_args!("(base64) {}", STANDARD.encode(other.as_bytes())))?,
        }
    }
    Ok(())
}

/// A list as one JSON object.
pub(in crate::cli) fn print_list_json<T: Serialize>(name: &str, listed: &Listed<T>) -> anyhow::Result<()> {
    let next = listed.next.map(|next| next.to_string());
    out(format_args!("{}", json!({ name: listed.rows, "next": next })))?;
    Ok(())
}

/// After a table: how the list goes on.
pub(in crate::cli) fn print_next(next: Option<Cursor>) -> anyhow::Result<()> {
    if let Some(next) = next {
        out(format_args!("more: --after {next}"))?;
    }
    Ok(())
}

/// Names and values of one row; those without a value are left out.
pub(in crate::cli) fn print_fields<T: Serialize>(record: &T) -> anyhow::Result<()> {
    let Value::Object(fields) = serde_json::to_value(record)? else { return Ok(()) };
    let mut shown = table(["field", "value"]);
    for (name, value) in fields {
        match value {
            Value::Null => {}
            Value::String(text) => {
                shown.add_row([name, clean(&text)]);
            }
            other => {
                shown.add_row([name, other.to_string()]);
            }
        }
    }
    out(format_args!("{shown}"))?;
    Ok(())
}

pub(in crate::cli) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_header(header);
    table
}

/// To the second, in UTC.
pub(in crate::cli) fn time(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

pub(in crate::cli) fn or_dash(text: Option<&str>) -> String {
    text.map_or_else(|| "–".into(), clean)
}

/// Marks that change the order in which the letters around them are shown (Unicode TR 9).
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line of plain text: what would move the cursor, change its colours or turn letters round is written out.
pub(in crate::cli) fn clean(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if c.is_control() || turns(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
        shown
    })
}

fn clean_lines(text: &str) -> String {
    text.split('\n')
        .map(|line| line.split('\t').map(clean).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}
