//! Cuts SQL text into pieces, just finely enough to see statements and named parameters.
//!
//! It knows what may hide a `;` or a `:` (strings, quoted names, comments, dollar quotes, casts) in each dialect, and
//! nothing else of SQL. The pieces joined again are the text, byte for byte.

use super::Dialect;

/// A stretch of SQL text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: &'a str,
    /// The line on which it begins; the first is 1.
    pub line: usize,
}

/// The kinds of [`Piece`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// White space and comments.
    Blank,
    /// A keyword, a name or a number.
    Word,
    /// A string or a quoted name.
    Quoted,
    /// `:name`.
    Parameter,
    /// A parameter in a form that a handler module cannot have: `$1`, `?`, `@name`.
    Unnamed,
    /// `;`
    End,
    /// Any other character, and `::` and `:=`.
    Symbol,
}

/// Something was opened and not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unclosed {
    /// The line on which it was opened.
    pub line: usize,
    /// What it is.
    pub what: &'static str,
}

/// Cuts `sql` into its pieces.
///
/// # Errors
/// [`Unclosed`]
pub fn scan(sql: &str, dialect: Dialect) -> Result<Vec<Piece<'_>>, Unclosed> {
    let mut pieces = Vec::new();
    let mut rest = sql;
    let mut line = 1;
    while !rest.is_empty() {
        let (kind, length) = next(rest, dialect).map_err(|what| Unclosed { line, what })?;
        let (text, after) = rest.split_at(length);
        pieces.push(Piece { kind, text, line });
        line += text.matches('\n').count();
        rest = after;
    }
    Ok(pieces)
}

/// The first piece of a text that is not empty: its kind and its length.
fn next(rest: &str, dialect: Dialect) -> Result<(Kind, usize), &'static str> {
    let bytes = rest.as_bytes();
    let second = bytes.get(1).copied().unwrap_or_default();
    let sqlite = dialect == Dialect::Sqlite;
    Ok(match bytes[0] {
        space if space.is_ascii_whitespace() => (Kind::Blank, run(rest, |byte| byte.is_ascii_whitespace())),
        b'-' if second == b'-' => (Kind::Blank, run(rest, |byte| byte != b'\n')),
        b'/' if second == b'*' => (Kind::Blank, comment(bytes, !sqlite).ok_or("a comment")?),
        b'E' | b'e' if second == b'\'' && !sqlite => {
            (Kind::Quoted, 1 + quoted(&bytes[1..], b'\'', true).ok_or("a string")?)
        }
        b'\'' => (Kind::Quoted, quoted(bytes, b'\'', false).ok_or("a string")?),
        b'"' => (Kind::Quoted, quoted(bytes, b'"', false).ok_or("a quoted name")?),
        b'`' if sqlite => (Kind::Quoted, quoted(bytes, b'`', false).ok_or("a quoted name")?),
        b'[' if sqlite => (Kind::Quoted, rest.find(']').ok_or("a quoted name")? + 1),
        b'$' if !sqlite => dollar(rest)?,
        b'?' | b'$' | b'@' if sqlite => (Kind::Unnamed, 1 + run(&rest[1..], is_word)),
        b':' if second == b':' || second == b'=' => (Kind::Symbol, 2),
        b':' if is_word(second) && !second.is_ascii_digit() => {
            (Kind::Parameter, 1 + run(&rest[1..], is_word))
        }
        b':' if sqlite && second.is_ascii_digit() => (Kind::Unnamed, 1 + run(&rest[1..], is_word)),
        b';' => (Kind::End, 1),
        letter if is_word(letter) => (Kind::Word, run(rest, |byte| is_word(byte) || byte == b'$')),
        _ => (Kind::Symbol, 1),
    })
}

/// How many bytes from the start are such.
fn run(text: &str, is: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !is(byte)).unwrap_or(text.len())
}

/// Letters, digits, `_` and everything beyond ASCII.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The length of something between two `quote`s, in which a doubled one stands for itself.
fn quoted(bytes: &[u8], quote: u8, backslash_escapes: bool) -> Option<usize> {
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'\\' if backslash_escapes => at += 2,
            byte if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The length of a `/* … */`.
fn comment(bytes: &[u8], nests: bool) -> Option<usize> {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        match (*bytes.get(at)?, bytes.get(at + 1)) {
            (b'*', Some(b'/')) => (at, depth) = (at + 2, depth - 1),
            (b'/', Some(b'*')) if nests => (at, depth) = (at + 2, depth + 1),
            _ => at += 1,
        }
    }
    Some(at)
}

/// What begins with `$` in PostgreSQL: `$tag$ … $tag$`, `$1`, or a lone sign.
fn dollar(rest: &str) -> Result<(Kind, usize), &'static str> {
    let tag = 1 + run(&rest[1..], is_word);
    if rest.as_bytes()[1..].first().is_some_and(u8::is_ascii_digit) {
        return Ok((Kind::Unnamed, tag));
    }
    if rest.as_bytes().get(tag) != Some(&b'$') {
        return Ok((Kind::Symbol, 1));
    }
    let (opening, inside) = rest.split_at(tag + 1);
    let end = inside.find(opening).ok_or("a dollar-quoted string")?;
    Ok((Kind::Quoted, opening.len() + end + opening.len()))
}
