//! A look at JSON before it is parsed by recursion: how deep it is nested and how long its numbers are.

/// Deeper nested documents are not read.
pub const NESTING: usize = 128;
/// A number with more digits is not read: turning it into binary takes quadratic time.
const DIGITS: usize = 1000;

/// One pass over the bytes, without a stack. What is no JSON at all is found by the parser.
pub(super) fn fits(json: &[u8]) -> bool {
    let (mut depth, mut digits, mut in_text, mut escaped) = (0_usize, 0_usize, false, false);
    for byte in json {
        if in_text {
            in_text = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        digits = if byte.is_ascii_digit() || *byte == b'.' { digits + 1 } else { 0 };
        match byte {
            b'"' => in_text = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING || digits > DIGITS {
            return false;
        }
    }
    true
}
