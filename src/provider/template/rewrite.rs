//! JSON written again as a provider's serializer would. Numbers stay as they are written.

use std::fmt::Write as _;

use serde::de::IgnoredAny;

/// A deeper text is refused: what follows goes as deep as the text does.
const MAX_DEPTH: usize = 128;

/// JSON without white space, escapes in texts as short as they can be. `sorted`: with the keys of every object in the
/// order of their bytes, of equal ones the last.
pub(super) fn compact(value: &[u8], sorted: bool) -> Result<String, String> {
    let text = utf8(value)?;
    serde_json::from_str::<IgnoredAny>(text).map_err(|_| "is not valid JSON")?;
    let mut writer = Writer { rest: text.trim_ascii(), out: String::with_capacity(text.len()), sorted };
    writer.value(0)?;
    Ok(writer.out)
}

/// Everything outside ASCII as UTF-16 escapes, in lower-case hex.
pub(super) fn ascii(value: &[u8]) -> Result<String, String> {
    let text = utf8(value)?;
    let mut out = String::with_capacity(text.len());
    let mut units = [0; 2];
    for char in text.chars() {
        if char.is_ascii() {
            out.push(char);
            continue;
        }
        for unit in char.encode_utf16(&mut units) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Ok(out)
}

/// `\/` for every `/`: in JSON one stands only in a text.
pub(super) fn slashes(value: &[u8]) -> Result<String, String> {
    let text = utf8(value)?;
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    for char in text.chars() {
        if char == '/' && !escaped {
            out.push('\\');
        }
        out.push(char);
        escaped = char == '\\' && !escaped;
    }
    Ok(out)
}

fn utf8(value: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(value).map_err(|_| "is not UTF-8".into())
}

/// Goes over a text that is known to be JSON.
struct Writer<'a> {
    rest: &'a str,
    out: String,
    sorted: bool,
}

impl Writer<'_> {
    fn value(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("is nested more than {MAX_DEPTH} deep"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.text(),
            _ => {
                let end = self.rest.find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(self.rest.len());
                self.copy(end);
                Ok(())
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), String> {
        self.copy(1);
        while self.peek().is_some_and(|byte| byte != b']') {
            self.value(depth + 1)?;
            self.separator();
        }
        self.peek();
        self.copy(1);
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), String> {
        self.copy(1);
        let start = self.out.len();
        // Where each member was written: its key, and where it begins and ends.
        let mut members: Vec<(String, usize, usize)> = Vec::new();
        while self.peek().is_some_and(|byte| byte != b'}') {
            let from = self.out.len();
            self.text()?;
            let key = if self.sorted { serde_json::from_str(&self.out[from..]).ok() } else { None };
            self.peek();
            self.copy(1);
            self.value(depth + 1)?;
            members.extend(key.map(|key| (key, from, self.out.len())));
            self.separator();
        }
        if self.sorted {
            self.sort(start, members);
        }
        self.peek();
        self.copy(1);
        Ok(())
    }

    /// Puts the members that were written from `start` on in order.
    fn sort(&mut self, start: usize, mut members: Vec<(String, usize, usize)>) {
        // Stable, and the last of equal keys stands first then.
        members.reverse();
        members.sort_by(|(left, ..), (right, ..)| left.cmp(right));
        members.dedup_by(|(later, ..), (kept, ..)| later == kept);
        let texts: Vec<&str> = members.iter().filter_map(|(_, from, to)| self.out.get(*from..*to)).collect();
        let sorted = texts.join(",");
        self.out.truncate(start);
        self.out.push_str(&sorted);
    }

    fn text(&mut self) -> Result<(), String> {
        self.peek();
        let mut escaped = false;
        let end = self.rest.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let end = end.map_or(self.rest.len(), |at| at + 2);
        let text = &self.rest[..end];
        if text.contains('\\') {
            let plain: String = serde_json::from_str(text).map_err(|_| "is not valid JSON")?;
            self.out.push_str(&serde_json::Value::from(plain).to_string());
            self.rest = &self.rest[end..];
        } else {
            self.copy(end);
        }
        Ok(())
    }

    /// The comma after a member, if one follows.
    fn separator(&mut self) {
        if self.peek() == Some(b',') {
            self.copy(1);
        }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        self.rest.bytes().next()
    }

    fn copy(&mut self, bytes: usize) {
        let (head, tail) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.out.push_str(head);
        self.rest = tail;
    }
}
