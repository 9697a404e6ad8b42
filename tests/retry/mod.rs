//! When the next attempt is: properties that hold for every input, and the cases with a name.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeZone as _;
use hookgate::clock::Timestamp;
use hookgate::model::Next;
use hookgate::retry::{self, Failed, Policy};
use proptest::prelude::*;

const CAP: Duration = Duration::from_mins(5);

fn policy() -> Policy {
    Policy { max_attempts: 10, cap: CAP, curve: Arc::default(), max_age: Some(Duration::from_hours(72)) }
}

fn failed(failures: u32) -> Failed<'static> {
    Failed { code: "status.503", retryable: true, failures, age: Duration::ZERO, asked: None }
}

fn wait(next: &Next) -> Duration {
    match next {
        Next::Retry { after } => *after,
        Next::Review { reason } => panic!("no retry: {reason}"),
    }
}

fn reason(next: &Next) -> &str {
    match next {
        Next::Review { reason } => reason,
        Next::Retry { after } => panic!("a retry after {after:?}"),
    }
}

fn now() -> Timestamp {
    chrono::Utc.with_ymd_and_hms(1994, 11, 6, 8, 49, 0).unwrap()
}

proptest! {
    #[test]
    fn a_wait_lies_between_zero_and_the_smaller_of_cap_and_power_of_two(
        attempts in any::<u32>(), cap in 0_u64..1_000_000, chance in 0.0_f64..1.0,
    ) {
        let window = if attempts < 20 { cap.min(1 << attempts) } else { cap };
        let wait = retry::backoff(attempts, Duration::from_secs(cap), chance);
        prop_assert!(wait <= Duration::from_secs(window));
        let expected = Duration::from_secs(window).as_secs_f64() * chance;
        prop_assert!((wait.as_secs_f64() - expected).abs() < 0.001);
    }

    #[test]
    fn no_retry_waits_longer_than_the_cap_or_shorter_than_our_own_backoff(
        failures in 1_u32..9, asked in any::<u64>(), chance in 0.0_f64..1.0,
    ) {
        let failed = Failed { asked: Some(Duration::from_secs(asked)), ..failed(failures) };
        let wait = wait(&retry::next(&policy(), &failed, chance));
        prop_assert!(wait <= CAP);
        prop_assert!(wait >= retry::backoff(failures, CAP, chance));
        prop_assert!(wait >= (CAP / 11 * 10).min(Duration::from_secs(asked)));
    }

    #[test]
    fn whatever_a_destination_writes_into_retry_after_is_no_panic(value in any::<Vec<u8>>()) {
        let _ = retry::retry_after(&value, now());
    }

    #[test]
    fn an_odd_chance_or_cap_is_no_panic(attempts in any::<u32>(), cap in any::<Duration>(), chance in any::<f64>()) {
        prop_assert!(retry::backoff(attempts, cap, chance) <= cap);
    }
}

#[test]
fn retries_of_rows_that_failed_together_spread_evenly_over_the_window() {
    let mut bins = [0_u32; 20];
    for row in 0..1000 {
        let wait = wait(&retry::next(&policy(), &failed(1), f64::from(row) / 1000.0));
        bins[usize::try_from(wait.as_millis() / 100).unwrap()] += 1;
    }
    assert_eq!(bins, [50; 20], "2 s of window in bins of 100 ms");
}

#[test]
fn the_last_attempt_is_followed_by_review() {
    assert!(matches!(retry::next(&policy(), &failed(9), 0.5), Next::Retry { .. }));
    let next = retry::next(&policy(), &failed(10), 0.5);
    assert_eq!(reason(&next), "10 of 10 attempts failed, last: status.503");
}

#[test]
fn a_permanent_failure_goes_to_review_at_once() {
    let failed = Failed { code: "status.410", retryable: false, ..failed(1) };
    assert_eq!(reason(&retry::next(&policy(), &failed, 0.5)), "permanent failure: status.410");
}

#[test]
fn a_message_that_would_be_too_old_at_its_next_attempt_goes_to_review() {
    let young = Failed { age: Duration::from_secs(3 * 86_400 - 2), ..failed(1) };
    assert_eq!(wait(&retry::next(&policy(), &young, 1.0)), Duration::from_secs(2));
    let old = Failed { age: Duration::from_secs(3 * 86_400 - 1), ..failed(1) };
    assert_eq!(
        reason(&retry::next(&policy(), &old, 1.0)),
        "older than 3days at the next attempt, last: status.503"
    );
}

#[test]
fn a_wait_that_was_asked_for_is_kept_and_a_little_spread() {
    let failed = Failed { asked: Some(Duration::from_secs(100)), ..failed(1) };
    assert_eq!(wait(&retry::next(&policy(), &failed, 0.0)), Duration::from_secs(100));
    assert_eq!(wait(&retry::next(&policy(), &failed, 0.5)), Duration::from_secs(105));
}

#[test]
fn retry_after_is_read_as_seconds_or_as_a_date() {
    for (value, expected) in [
        ("0", Some(0)),
        ("120", Some(120)),
        (" 120 ", Some(120)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some(37)),
        ("Sun Nov  6 08:49:37 1994", Some(37)),
        ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
        ("99999999999999999999999", Some(u64::MAX)),
        ("-1", None),
        ("+5", None),
        ("1.5", None),
        ("1e3", None),
        ("soon", None),
        ("", None),
        ("12, 13", None),
    ] {
        let read = retry::retry_after(value.as_bytes(), now()).map(|wait| wait.as_secs());
        assert_eq!(read, expected, "{value:?}");
    }
}

#[test]
fn an_explicit_curve_is_followed_and_its_last_step_repeats() {
    let curve: Arc<[Duration]> = [5, 30, 300].map(Duration::from_secs).into();
    let policy = Policy { curve, ..policy() };
    for (failures, seconds) in [(1, 5), (2, 30), (3, 300), (4, 300), (9, 300)] {
        let step = Duration::from_secs(seconds);
        for (chance, parts) in [(0.0, 8), (0.5, 10), (1.0, 12)] {
            assert_eq!(wait(&retry::next(&policy, &failed(failures), chance)), step * parts / 10);
        }
    }
    assert!(matches!(retry::next(&policy, &failed(10), 0.5), Next::Review { .. }));
}

#[test]
fn those_who_were_told_to_come_back_after_longer_than_the_cap_do_not_come_back_together() {
    let asked = Failed { asked: Some(Duration::from_hours(24)), ..failed(1) };
    let (first, last) =
        (wait(&retry::next(&policy(), &asked, 0.0)), wait(&retry::next(&policy(), &asked, 1.0)));
    assert!(last > first + CAP / 20 && last <= CAP, "{first:?} to {last:?}");
}
