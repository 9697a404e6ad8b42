//! Moments as providers write them, and whether a signed one is fresh.

use chrono::DateTime;

use crate::clock::Timestamp;
use crate::model::{Reason, Rejection};
use crate::provider::{Freshness, Unit};

/// The longest number read as a Unix time; more digits are no time, and no arithmetic is done on them.
const MAX_DIGITS: usize = 15;

/// Reads a moment.
///
/// # Errors
/// What it should be, without the value.
pub(crate) fn read(text: &str, unit: Unit) -> Result<Timestamp, &'static str> {
    match unit {
        Unit::Seconds => digits(text)
            .and_then(|seconds| DateTime::from_timestamp(seconds, 0))
            .ok_or("is not a Unix time in seconds, digits only"),
        Unit::Milliseconds => digits(text)
            .and_then(DateTime::from_timestamp_millis)
            .ok_or("is not a Unix time in milliseconds, digits only"),
        Unit::Rfc3339 => DateTime::parse_from_rfc3339(text)
            .map(|time| time.to_utc())
            .map_err(|_| "is not an RFC 3339 time such as 2026-01-31T10:00:00Z"),
    }
}

/// Reads a moment that is only shown: a fraction of a second is dropped.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_any(text: &str, unit: Unit) -> Result<Timestamp, &'static str> {
    match unit {
        Unit::Rfc3339 => read(text, unit),
        Unit::Seconds | Unit::Milliseconds => {
            read(text.split_once('.').map_or(text, |(whole, _)| whole), unit)
        }
    }
}

/// Writes a moment.
pub(super) fn write(moment: Timestamp, unit: Unit) -> String {
    match unit {
        Unit::Seconds => moment.timestamp().to_string(),
        Unit::Milliseconds => moment.timestamp_millis().to_string(),
        Unit::Rfc3339 => moment.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
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
        let unit = if freshness.unit == Unit::Milliseconds {
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
