//! Durations (`"2m"`, `"30d"`) and sizes (`"1MiB"`).

use std::time::Duration;

const SIZES: [(&str, u64); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

/// Parses one or more numbers with units: ms, s, m, h, d, w, months, y.
pub(super) fn duration(text: &str) -> Option<Duration> {
    humantime::parse_duration(text).ok()
}

/// The shortest way to write a duration, for messages.
pub(super) fn show(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// Parses a whole number of bytes with a unit, in bytes.
pub(super) fn size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*bytes)
}
