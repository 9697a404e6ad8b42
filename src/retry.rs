//! When the next attempt is, if there is one. Pure: the moment and the chance are arguments.
//!
//! Who acts: `worker`, after a unit of work or a delivery failed. What holds: waits are spread over the whole
//! window (full jitter), so that many rows that failed together do not come back together; nothing another system
//! asks for makes a wait longer than the cap or shorter than our own. What is absent: clocks, queues, reasons.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::model::Next;

/// How long and how often a queue tries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Failures after which a row needs review.
    pub max_attempts: u32,
    /// The longest wait between two attempts.
    pub cap: Duration,
    /// The waits after the first, the second, … failure, of which the last repeats; empty: full-jitter backoff.
    pub curve: Arc<[Duration]>,
    /// A row that would be older than this at its next attempt needs review instead.
    pub max_age: Option<Duration>,
}

/// What happened so far to the row whose work has just failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed<'a> {
    /// The code of this failure, such as `status.503`: it goes into the review reason.
    pub code: &'a str,
    /// Whether another attempt can help.
    pub retryable: bool,
    /// Failures of the work itself, this one included.
    pub failures: u32,
    /// How old the row is.
    pub age: Duration,
    /// What the other side asked for (see [`retry_after`]).
    pub asked: Option<Duration>,
}

/// Decides between another attempt and review.
///
/// A wait the other side asked for is kept and lengthened by up to a tenth, so that all that were told the same do not
/// return in the same instant; both together no longer than the cap. `chance` is uniform in `0.0..1.0`.
#[must_use]
pub fn next(policy: &Policy, failed: &Failed<'_>, chance: f64) -> Next {
    let Failed { code, retryable, failures, age, asked } = *failed;
    if !retryable {
        return Next::Review { reason: format!("permanent failure: {code}") };
    }
    if failures >= policy.max_attempts {
        return Next::Review {
            reason: format!("{failures} of {} attempts failed, last: {code}", policy.max_attempts),
        };
    }
    let own = step(&policy.curve, failures, chance).unwrap_or_else(|| backoff(failures, policy.cap, chance));
    let after = asked.map_or(own, |asked| own.max(spread(asked.min(policy.cap / 11 * 10), chance)));
    match policy.max_age {
        Some(max_age) if age.saturating_add(after) > max_age => Next::Review {
            reason: format!(
                "older than {} at the next attempt, last: {code}",
                humantime::format_duration(max_age)
            ),
        },
        _ => Next::Retry { after },
    }
}

/// Full-jitter backoff: `least(cap, 2^attempts seconds) * chance`. After the first failure `attempts` is 1.
/// A `chance` outside `0.0..=1.0` counts as the nearer end.
#[must_use]
pub fn backoff(attempts: u32, cap: Duration, chance: f64) -> Duration {
    let window = 1_u64.checked_shl(attempts).map_or(cap, |seconds| cap.min(Duration::from_secs(seconds)));
    part(window, chance)
}

/// A step of an explicit curve, from a fifth shorter to a fifth longer: whoever wrote it down wants about this wait, and
/// rows that failed together must not come back together.
#[must_use]
pub fn step(curve: &[Duration], failures: u32, chance: f64) -> Option<Duration> {
    let at = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    let wait = *curve.get(at).or(curve.last())?;
    Some((wait / 5 * 4).saturating_add(part(wait / 5 * 2, chance)))
}

/// Reads a `Retry-After` value: whole seconds or an HTTP-date in any of its three forms
/// (<https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3>). A date in the past is zero; anything else is `None`.
#[must_use]
pub fn retry_after(value: &[u8], now: Timestamp) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?.trim_ascii();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let due = Timestamp::from(httpdate::parse_http_date(text).ok()?);
    Some((due - now).to_std().unwrap_or(Duration::ZERO))
}

fn spread(asked: Duration, chance: f64) -> Duration {
    asked.saturating_add(part(asked / 10, chance))
}

fn part(whole: Duration, chance: f64) -> Duration {
    let chance = if chance.is_nan() { 0.0 } else { chance.clamp(0.0, 1.0) };
    // Rounding can lift the longest of all durations over the edge: then it is the whole.
    Duration::try_from_secs_f64(whole.as_secs_f64() * chance).map_or(whole, |part| part.min(whole))
}
