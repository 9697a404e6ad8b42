//! What catches the eye where no trial fits. Nothing here is proved.

use super::Hint;
use super::headers;
use super::search::{Search, signs_body};
use crate::clock::Timestamp;
use crate::model::{Reason, Rejection, Request};
use crate::provider::{Provider, Source, Unit};
use crate::verify::{Keyring, claimed_time, place};

/// A signed time that is further off is another unit, not another clock.
const WRONG_UNIT: i64 = 1_000_000_000;
/// Up to here a difference may be a clock's; beyond, somebody sends an old request.
const CLOCK: i64 = 26 * 3600;
const HOUR: i64 = 3600;

/// Why a genuine request is too old or too new. `None` for all other reasons.
pub(super) fn time(
    request: &Request,
    provider: &Provider,
    keyring: &Keyring,
    rejection: &Rejection,
    now: Timestamp,
) -> Option<Hint> {
    if !matches!(rejection.reason, Reason::StaleTimestamp | Reason::FutureTimestamp) {
        return None;
    }
    let age = now.timestamp() - claimed_time(request, provider, keyring)?.timestamp();
    let (off, way) = (age.abs(), if age > 0 { "ahead" } else { "behind" });
    Some(Hint::proven(if off > WRONG_UNIT {
        let (is, read) = if age > 0 { ("seconds", "milliseconds") } else { ("milliseconds", "seconds") };
        format!(
            "the signature fits, but the signed time is written in {is}, and read in {read}: the sender uses the wrong unit"
        )
    } else if off > CLOCK && age > 0 {
        format!(
            "the signature fits, but was made {off} s ago: an old request is sent again, or was kept back on the way"
        )
    } else if off > HOUR / 2 && (off % HOUR < 60 || off % HOUR > HOUR - 60) {
        let hours = (off + HOUR / 2) / HOUR;
        format!(
            "the signature fits, and the signed time is off by {hours} h to the minute: one side writes local time, or its clock is in another time zone"
        )
    } else {
        format!(
            "the signature fits; either this machine's clock is {off} s {way}, or the request was {}",
            if age > 0 { "kept back on the way" } else { "signed by a clock that is ahead" }
        )
    }))
}

/// What else is odd about the request.
pub(super) fn all(search: &Search<'_>) -> Vec<Hint> {
    let mut hints = match search.reason {
        Reason::MissingSignature => missing(search),
        _ => Vec::new(),
    };
    hints.extend(unit(search));
    if search.variant.is_some_and(signs_body) && search.reason != Reason::MissingSignature {
        hints.extend(body(search.request).map(Hint::likely));
    }
    hints
}

fn missing(search: &Search<'_>) -> Vec<Hint> {
    let Some(variant) = search.variant else { return Vec::new() };
    let renamed = headers::missing(variant, search.request);
    if !renamed.is_empty() {
        let names = renamed.iter().map(|(needed, found)| format!("`{found}` in place of `{needed}`"));
        let names = names.collect::<Vec<_>>().join(" and ");
        return vec![Hint::likely(format!(
            "the request has {names}: does something in front rename headers?"
        ))];
    }
    let needs_url =
        variant.texts.iter().flat_map(|text| text.values()).any(|value| value.source == Source::Url);
    if needs_url && search.request.origin.is_none() {
        return Vec::new();
    }
    let place = place::place(&variant.signature);
    vec![Hint::likely(format!(
        "nothing stands in {place}: is a secret set at the provider, and does every proxy in front hand the header on?"
    ))]
}

/// A time that cannot be read in its unit, but in another.
fn unit(search: &Search<'_>) -> Option<Hint> {
    let freshness = search.variant?.timestamp.as_ref()?;
    let value = match freshness.value.sole().map(|value| &value.source)? {
        Source::Header(name) => search.request.headers.text(name)?,
        _ => return None,
    };
    let number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let only = |unit: Unit| freshness.units.iter().all(|known| *known == unit);
    let date = !number && (value.contains('T') || value.contains('-'));
    let says = if only(Unit::Seconds) && number && value.contains('.') {
        "a fraction, and seconds without one are expected"
    } else if only(Unit::Seconds) && number && value.len() > 12 {
        "milliseconds, and seconds are expected"
    } else if date && (only(Unit::Seconds) || only(Unit::Milliseconds)) {
        "a date, and a Unix time is expected"
    } else {
        return None;
    };
    Some(Hint::likely(format!("the signed time is written as {says}")))
}

/// Signs that the body is not the one that was sent.
fn body(request: &Request) -> Option<&'static str> {
    let header = |name| request.headers.text(name).map(str::trim);
    let is_gzip = request.body.starts_with(&[0x1f, 0x8b]);
    let encoded =
        header("content-encoding").is_some_and(|it| !it.is_empty() && !it.eq_ignore_ascii_case("identity"));
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
    if request.body.is_empty() {
        return Some(
            "the body is empty, and it is what is signed: something in front has read it and not handed it on",
        );
    }
    if length.is_some_and(|length| length != request.body.len()) {
        return Some(
            "the body is not as long as `content-length` says: it was cut or rewritten after it was sent",
        );
    }
    if encoded && !is_gzip && is_text(&request.body) {
        return Some(
            "`content-encoding` says that the body is compressed, and it is not: something in front has unpacked it, and the compressed bytes are what is signed",
        );
    }
    if is_gzip {
        return Some(
            "the body is compressed with gzip: this provider may sign the text before it was compressed",
        );
    }
    if request.body.windows(3).any(|bytes| bytes == "\u{fffd}".as_bytes()) {
        return Some(
            "the body holds replacement characters: something in front has read it as text that it was not, and the bytes are lost",
        );
    }
    None
}

fn is_text(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok_and(|text| !text.contains('\0'))
}
