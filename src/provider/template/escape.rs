//! Ways in which a provider writes a text before it signs it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use unicode_normalization::UnicodeNormalization as _;

/// Box signs the body with backslashes doubled (but not before a slash) and everything outside printable ASCII as
/// UTF-16 escapes. <https://github.com/box/box-python-sdk/blob/main/boxsdk/object/webhook.py>
pub(super) fn for_box(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    let mut out = String::with_capacity(text.len() * 2);
    let mut units = [0; 2];
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if chars.peek() == Some(&'/') => out.push('\\'),
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(char),
            _ => {
                for unit in char.encode_utf16(&mut units) {
                    // Writing to a string does not fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    Some(out)
}

/// The fields of a form but `except`, in order of their names, as PHP's `serialize` writes an array of texts. Lengths
/// are in bytes. <https://www.php.net/manual/en/function.serialize.php>
pub(super) fn for_php(form: &[u8], except: &str) -> Result<String, String> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(form).map_err(|_| "is not a form")?;
    let count = pairs.len();
    let mut fields: BTreeMap<String, String> = pairs.into_iter().collect();
    if fields.len() < count {
        return Err("has a field more than once".into());
    }
    fields.remove(except);
    let mut out = format!("a:{}:{{", fields.len());
    for text in fields.iter().flat_map(|(name, value)| [name, value]) {
        // Writing to a string does not fail.
        let _ = write!(out, "s:{}:\"{text}\";", text.len());
    }
    out.push('}');
    Ok(out)
}

/// Names and values of a form in order of the names, without anything between them; the values of a repeated name are
/// sorted, each once. <https://github.com/twilio/twilio-python/blob/main/twilio/request_validator.py>
pub(super) fn form_concat(form: &[u8]) -> Result<String, String> {
    let pairs: BTreeSet<(String, String)> =
        serde_urlencoded::from_bytes(form).map_err(|_| "is not a form")?;
    Ok(pairs.into_iter().flat_map(|(name, value)| [name, value]).collect())
}

/// Unicode normalisation form KD, which some libraries put a secret into.
pub(super) fn nfkd(value: &[u8]) -> Option<String> {
    Some(std::str::from_utf8(value).ok()?.nfkd().collect())
}

/// What RFC 3986 calls unreserved stays.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// All but letters, digits and `-._~` as `%XX`.
pub(super) fn url_encode(value: &[u8]) -> String {
    percent_encode(value, RESERVED).to_string()
}

/// What would be markup in XML or HTML as entities (XML 1.0, 4.6), in elements and in attributes.
pub(super) fn for_xml(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for byte in value {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            other => out.push(*other),
        }
    }
    out
}

/// Every `from` as `to`, from the left. What is longer afterwards is at most `to` for every byte.
pub(super) fn replace(value: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(from.as_bytes()) {
            out.extend_from_slice(to.as_bytes());
            rest = after;
        } else {
            out.push(rest[0]);
            rest = &rest[1..];
        }
    }
    out
}
