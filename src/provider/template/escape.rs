//! Ways in which a provider writes a text before it signs it.

use std::fmt::Write as _;

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
