//! Ways in which a provider writes a text before it signs it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

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

/// A URL with `:443` or `:80` where it names no port.
pub(super) fn default_port(url: &[u8]) -> Option<String> {
    let (scheme, rest) = std::str::from_utf8(url).ok()?.split_once("://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let port = match scheme {
        _ if authority.contains(':') => "",
        "https" => ":443",
        _ => ":80",
    };
    Some(format!("{scheme}://{authority}{port}{path}"))
}

/// Unicode normalisation form KD, which some libraries put a secret into.
pub(super) fn nfkd(value: &[u8]) -> Option<String> {
    Some(std::str::from_utf8(value).ok()?.nfkd().collect())
}
