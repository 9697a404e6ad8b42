//! What to do with a signing secret, judged by when it and its neighbours last matched.

use std::time::Duration;

use chrono::TimeDelta;

use crate::clock::Timestamp;

/// A secret that has matched nothing for so long is no longer in use, if others are.
const QUIET: Duration = Duration::from_hours(7 * 24);
/// An end that is nearer is told.
const SOON: Duration = Duration::from_hours(7 * 24);

/// One secret of an endpoint, as far as gateways have watched it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watched {
    /// It counts no more from then on.
    pub(super) until: Option<Timestamp>,
    /// Since when it has been watched; `None`: no gateway has had it yet.
    pub(super) since: Option<Timestamp>,
    /// When it last matched.
    pub(super) matched_at: Option<Timestamp>,
}

impl Watched {
    fn counts(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    fn in_use(&self, now: Timestamp) -> bool {
        self.matched_at.is_some_and(|at| now - at < span(QUIET))
    }

    fn quiet_since(&self) -> Option<Timestamp> {
        self.matched_at.or(self.since)
    }
}

/// A word for programs and a sentence for people, about the secret at `index`.
pub(super) fn advice(secrets: &[Watched], index: usize, now: Timestamp) -> (&'static str, String) {
    let Some(one) = secrets.get(index) else { return ("unknown", String::new()) };
    let others = || secrets.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, other)| other);
    let another = others().any(|other| other.counts(now) && other.in_use(now));
    if !one.counts(now) {
        return ("ended", "has ended: remove it".into());
    }
    if one.in_use(now) {
        return match one.until.filter(|until| *until - now < span(SOON)) {
            Some(until) if another => ("ending", format!("still matches, and ends {}", when(until, now))),
            Some(until) => {
                let ends = when(until, now);
                (
                    "ending",
                    format!("only this one matches, and it ends {ends}: enter the new one at the provider"),
                )
            }
            None => ("in_use", "in use".into()),
        };
    }
    let quiet = one.quiet_since().map(|at| now - at).filter(|quiet| *quiet >= span(QUIET));
    let days = quiet.map_or(0, |quiet| quiet.num_days());
    match (one.matched_at, quiet) {
        (None, None) if one.since.is_none() => ("unknown", "no gateway has had it yet".into()),
        // One without an end may be the next one.
        (None, None) => ("never", "never matched".into()),
        (None, Some(_)) if one.until.is_none() => ("never", format!("never matched in {days} days")),
        _ if another => ("idle", format!("has matched nothing for {days} days: safe to remove")),
        _ => {
            ("quiet", format!("has matched nothing for {days} days, nor has another: it may still be needed"))
        }
    }
}

fn when(until: Timestamp, now: Timestamp) -> String {
    match (until.date_naive() - now.date_naive()).num_days() {
        0 => "today".into(),
        1 => "tomorrow".into(),
        days => format!("in {days} days"),
    }
}

fn span(duration: Duration) -> TimeDelta {
    TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn said(secrets: &[Watched], index: usize) -> String {
        advice(secrets, index, time("2026-12-01T12:00:00Z")).1
    }

    const DAY: fn(u32) -> Option<Timestamp> = |day| format!("2026-11-{day:02}T12:00:00Z").parse().ok();

    #[test]
    fn an_old_secret_that_matches_nothing_while_another_does_can_go() {
        let new = Watched { since: DAY(1), matched_at: DAY(30), until: None };
        let old = Watched { since: DAY(1), matched_at: DAY(24), until: None };
        assert_eq!(said(&[new, old], 0), "in use");
        assert_eq!(said(&[new, old], 1), "has matched nothing for 7 days: safe to remove");
        let younger = Watched { matched_at: DAY(25), ..old };
        assert_eq!(said(&[new, younger], 1), "in use");
        let silent = Watched { matched_at: DAY(10), ..new };
        assert_eq!(
            said(&[silent, old], 1),
            "has matched nothing for 7 days, nor has another: it may still be needed"
        );
        let never = Watched { matched_at: None, until: Some(time("2027-01-31T00:00:00Z")), since: DAY(20) };
        assert_eq!(said(&[new, never], 1), "has matched nothing for 11 days: safe to remove");
    }

    #[test]
    fn an_end_is_told_before_it_comes_and_after() {
        let new = Watched { since: DAY(29), matched_at: None, until: None };
        let ends = |text: &str| Watched { since: DAY(1), matched_at: DAY(30), until: Some(time(text)) };
        let tomorrow = ends("2026-12-02T00:00:00Z");
        assert_eq!(
            said(&[tomorrow, new], 0),
            "only this one matches, and it ends tomorrow: enter the new one at the provider"
        );
        assert_eq!(said(&[tomorrow, new], 1), "never matched");
        let used = Watched { matched_at: DAY(30), ..new };
        assert_eq!(said(&[ends("2026-12-04T12:00:00Z"), used], 0), "still matches, and ends in 3 days");
        assert_eq!(said(&[ends("2026-12-01T18:00:00Z"), used], 0), "still matches, and ends today");
        assert_eq!(said(&[ends("2026-12-30T00:00:00Z"), used], 0), "in use");
        assert_eq!(said(&[ends("2026-12-01T12:00:00Z"), used], 0), "has ended: remove it");
    }

    #[test]
    fn what_was_never_watched_says_so() {
        assert_eq!(said(&[Watched::default()], 0), "no gateway has had it yet");
        let watched = Watched { since: DAY(20), ..Watched::default() };
        assert_eq!(said(&[watched], 0), "never matched in 11 days");
    }
}
