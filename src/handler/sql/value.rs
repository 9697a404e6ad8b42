//! From JSON values to values of the database's types.

use chrono::Datelike as _;
use serde_json::value::RawValue;

use crate::clock::Timestamp;
use crate::config::SqlType;
use crate::store::Param;

/// NULL of a type.
pub(super) fn null(kind: SqlType) -> Param {
    match kind {
        SqlType::Text => Param::Text(None),
        SqlType::Bigint => Param::Bigint(None),
        SqlType::Double => Param::Double(None),
        SqlType::Boolean => Param::Boolean(None),
        SqlType::Json => Param::Json(None),
        SqlType::Timestamptz => Param::Timestamptz(None),
    }
}

/// A JSON value as a value of a type; `None` if it does not fit.
///
/// A string that holds the JSON form of a number or boolean counts as that (`"12"` is a bigint), because providers
/// differ in what they quote. Nothing is rounded: `1.5` is no bigint, and a text keeps all digits of a number.
pub(super) fn convert(value: &RawValue, kind: SqlType) -> Option<Param> {
    let json = value.get();
    let string: Option<String> =
        if json.starts_with('"') { Some(serde_json::from_str(json).ok()?) } else { None };
    let plain = string.as_deref().unwrap_or(json);
    Some(match kind {
        SqlType::Text if plain.contains('\0') || json.starts_with(['{', '[']) => return None,
        SqlType::Text => Param::Text(Some(plain.into())),
        SqlType::Bigint => Param::Bigint(Some(plain.parse().ok()?)),
        SqlType::Double => Param::Double(Some(number(plain)?)),
        SqlType::Boolean => Param::Boolean(Some(plain.parse().ok()?)),
        SqlType::Json if !jsonb_takes(json) => return None,
        SqlType::Json => Param::Json(Some(json.into())),
        SqlType::Timestamptz => Param::Timestamptz(Some(time(plain)?)),
    })
}

/// Rust reads `inf` and `nan` too; JSON has neither.
fn number(text: &str) -> Option<f64> {
    serde_json::from_str(text).ok()
}

/// RFC 3339, or Unix seconds with or without a fraction; in the years that both engines write alike (which refuses
/// milliseconds, instead of taking them for a time in a far future).
fn time(text: &str) -> Option<Timestamp> {
    let time = match text.parse::<i64>() {
        Ok(seconds) => Timestamp::from_timestamp(seconds, 0)?,
        Err(_) => match chrono::DateTime::parse_from_rfc3339(text) {
            Ok(time) => time.to_utc(),
            Err(_) => fractional_seconds(text)?,
        },
    };
    (1..=9999).contains(&time.year()).then_some(time)
}

/// `1700000000.25`, to the microsecond.
fn fractional_seconds(text: &str) -> Option<Timestamp> {
    let (seconds, fraction) = text.split_once('.')?;
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) || seconds.starts_with('-')
    {
        return None;
    }
    let micros: u32 = format!("{fraction:0<6}")[..6].parse().ok()?;
    Timestamp::from_timestamp(seconds.parse().ok()?, micros * 1000)
}

/// Whether `jsonb` takes a valid JSON text: it has no room for the character NUL and none for half a surrogate pair.
fn jsonb_takes(json: &str) -> bool {
    let mut rest = json;
    // Outside strings JSON has no backslash.
    while let Some((_, escape)) = rest.split_once('\\') {
        let Some(unit) = code_unit(escape) else {
            rest = escape.get(1..).unwrap_or_default();
            continue;
        };
        rest = &escape[5..];
        match unit {
            0 | 0xdc00..=0xdfff => return false,
            0xd800..=0xdbff => match rest.strip_prefix('\\').and_then(code_unit) {
                Some(0xdc00..=0xdfff) => rest = &rest[6..],
                _ => return false,
            },
            _ => {}
        }
    }
    true
}

/// The UTF-16 unit of `u` and four hexadecimal digits.
fn code_unit(escape: &str) -> Option<u16> {
    u16::from_str_radix(escape.strip_prefix('u')?.get(..4)?, 16).ok()
}
