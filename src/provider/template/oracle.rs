//! Whoever may have a text of his own choice signed could have a false event signed. So handshakes sign only texts of
//! one narrow kind, and no text of that kind is ever taken as the signed text of an event.

/// The longest text that a handshake signs.
const MAX: usize = 200;

/// Whether a text is of the kind that handshakes sign: short, and of letters, digits and `-_.~+/=` only. The signed
/// text of an event is never so: JSON has braces, and times and bodies are joined by other signs.
pub(crate) fn is_challenge(text: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte);
    (1..=MAX).contains(&text.len()) && text.iter().all(fits)
}
