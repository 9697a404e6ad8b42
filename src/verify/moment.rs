//! Moments as providers write them, and whether a signed one is fresh.

use chrono::{DateTime, NaiveDateTime};

use crate::clock::Timestamp;
use crate::model::{Reason, Rejection};
use crate::provider::{Freshness, Unit};

/// The longest number read as a Unix time; more digits are no time, and no arithmetic is done on them.
const MAX_DIGITS: usize = 15;
/// A time of day as databases write it.
const DATE_TIME: &str = "%Y-%m-%d %H:%M:%S";
const DATE_TIME_BYTES: usize = "2026-01-31 10:00:00".len();

/// Reads a moment; the first unit that fits counts.
///
/// # Errors
/// What it should be, without the value.
pub(crate) fn read(text: &str, units: &[Unit]) -> Result<Timestamp, String> {
    if let Some(moment) = units.iter().find_map(|unit| read_as(text, *unit)) {
        return Ok(moment);
    }
    let expected: Vec<&str> = units.iter().map(|unit| expected(*unit)).collect();
    Err(format!("is not {}", expected.join(", nor ")))
}

fn read_as(text: &str, unit: Unit) -> Option<Timestamp> {
    match unit {
        Unit::Seconds => digits(text).and_then(|seconds| DateTime::from_timestamp(seconds, 0)),
        Unit::Milliseconds => digits(text).and_then(DateTime::from_timestamp_millis),
        Unit::Rfc3339 => DateTime::parse_from_rfc3339(text).ok().map(|time| time.to_utc()),
        Unit::HttpDate => httpdate::parse_http_date(text).ok().map(Timestamp::from),
        Unit::DateTime => {
            let shape = text.len() == DATE_TIME_BYTES;
            let read = NaiveDateTime::parse_from_str(text, DATE_TIME).ok().filter(|_| shape);
            read.map(|time| time.and_utc())
        }
    }
}

fn expected(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "a Unix time in seconds, digits only",
        Unit::Milliseconds => "a Unix time in milliseconds, digits only",
        Unit::Rfc3339 => "an RFC 3339 time such as 2026-01-31T10:00:00Z",
        Unit::HttpDate => "an HTTP date such as Sat, 31 Jan 2026 10:00:00 GMT",
        Unit::DateTime => "a time such as 2026-01-31 10:00:00",
    }
}

/// Reads a moment that is only shown: of a Unix time a fraction of a second is dropped.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_any(text: &str, units: &[Unit]) -> Result<Timestamp, String> {
    // `9.5e-9` is no fraction of a second: the number is another one than its first digits.
    let whole = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte.is_ascii_digit()) => whole,
        _ => text,
    };
    let read = |unit: &Unit| match unit {
        Unit::Rfc3339 | Unit::HttpDate => read_as(text, *unit),
        Unit::Seconds | Unit::Milliseconds | Unit::DateTime => read_as(whole, *unit),
    };
    units.iter().find_map(read).map_or_else(|| self::read(text, units), Ok)
}

/// Writes a moment, in the first of the units.
pub(super) fn write(moment: Timestamp, units: &[Unit]) -> String {
    match units.first() {
        None | Some(Unit::Seconds) => moment.timestamp().to_string(),
        Some(Unit::Milliseconds) => moment.timestamp_millis().to_string(),
        Some(Unit::Rfc3339) => moment.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        Some(Unit::HttpDate) => moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string(),
        Some(Unit::DateTime) => moment.format(DATE_TIME).to_string(),
    }
}

fn digits(text: &str) -> Option<i64> {
    let fits = (1..=MAX_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// Whether a signed moment is near enough to `now`, whole seconds counting, both ends included.
pub(super) fn judge(signed: Timestamp, freshness: &Freshness, now: Timestamp) -> Result<(), Rejection> {
    let age = now.timestamp() - signed.timestamp();
    let limit = |duration: std::time::Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    let (past, future) = (limit(freshness.past), limit(freshness.future));
    if age > past {
        let unit = if freshness.units == [Unit::Milliseconds] {
            "; it looks like seconds, not milliseconds"
        } else {
            ""
        };
        let unit = if age > 1_000_000_000 { unit } else { "" };
        let detail = format!("genuine, but signed {age} s ago; at most {past} s are allowed{unit}");
        return Err(Rejection::new(Reason::StaleTimestamp, detail));
    }
    if -age > future {
        let unit = if -age > 1_000_000_000_000 { "; it looks like milliseconds, not seconds" } else { "" };
        let detail =
            format!("genuine, but signed {} s in the future; at most {future} s are allowed{unit}", -age);
        return Err(Rejection::new(Reason::FutureTimestamp, detail));
    }
    Ok(())
}
