//! Single values: durations, sizes, secrets, names, pointers.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::Context;
use crate::config::key::Key;
use crate::config::raw::{DurationText, SecretText, SizeText};
use crate::config::secret::{SecretRef, weakness};
use crate::config::units;
use crate::model::Secret;

pub(super) const TENTH: Duration = Duration::from_millis(100);
pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const MINUTE: Duration = Duration::from_mins(1);
pub(super) const HOUR: Duration = Duration::from_hours(1);
pub(super) const DAY: Duration = Duration::from_hours(24);
/// The end of bounds that have none.
pub(super) const FOR_EVER: Duration = Duration::from_hours(24 * 366 * 100);

impl Context<'_> {
    /// A duration within bounds.
    pub(super) fn duration(
        &mut self,
        key: &Key,
        text: &DurationText,
        bounds: RangeInclusive<Duration>,
    ) -> Option<Duration> {
        let found = &text.0;
        let Some(duration) = units::duration(found) else {
            let what = format!(
                "found {found:?}, expected a duration with a unit, such as \"30s\", \"2m\" or \"30d\""
            );
            self.report.error(key, what);
            return None;
        };
        if bounds.contains(&duration) {
            return Some(duration);
        }
        let (low, high) = (units::show(*bounds.start()), units::show(*bounds.end()));
        let allowed =
            if *bounds.end() == FOR_EVER { format!("at least {low}") } else { format!("{low} to {high}") };
        self.report.error(key, format!("found {found:?}, expected {allowed}"));
        None
    }

    /// A size within bounds, in bytes.
    pub(super) fn size(&mut self, key: &Key, text: &SizeText, bounds: RangeInclusive<u64>) -> Option<usize> {
        let found = &text.0;
        let size = units::size(found);
        match size {
            None => {
                self.report
                    .error(key, format!("found {found:?}, expected a size with a unit, such as \"1MiB\""));
                None
            }
            Some(size) if bounds.contains(&size) => usize::try_from(size).ok(),
            Some(_) => {
                let what =
                    format!("found {found:?}, expected {}B to {}MiB", bounds.start(), bounds.end() >> 20);
                self.report.error(key, what);
                None
            }
        }
    }

    /// A secret strong enough for the gateway, and the reference it came from.
    pub(super) fn secret(&mut self, key: &Key, text: &SecretText) -> Option<(Secret, String)> {
        let (secret, reference) = self.resolve(key, &text.0)?;
        if let Some(why) = weakness(&secret) {
            let help = "copy the whole secret from where it was issued, or make one: `openssl rand -hex 32`";
            self.report.error_help(key, format!("{} is too weak: {why}", reference.describe()), help);
            return None;
        }
        Some((secret, reference.describe()))
    }

    /// What a reference leads to, weak or not.
    pub(super) fn resolve(&mut self, key: &Key, text: &str) -> Option<(Secret, SecretRef)> {
        let folder = self.report.places.nearest(key).folder();
        let resolved = SecretRef::parse(text).and_then(|reference| {
            let secret = reference.resolve(&self.sources.environment, &folder)?;
            Ok((secret, reference))
        });
        match resolved {
            Ok((secret, reference)) => {
                if matches!(reference, SecretRef::Literal(_)) {
                    let what = "the secret itself is written here";
                    self.report.warn(key, what, "use env:NAME or file:PATH, and take a new secret");
                }
                Some((secret, reference))
            }
            Err(error) => {
                self.report.error(key, error.to_string());
                None
            }
        }
    }

    /// The name of an endpoint or destination: it goes into rows, metrics and headers.
    pub(super) fn name(&mut self, key: &Key, name: &str) -> bool {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        let good = name.len() <= 64
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(allowed);
        if !good {
            let what = format!(
                "the name {name:?} is not possible; expected lower-case letters, digits, `-` and `_`"
            );
            self.report.error(key, what);
        }
        good
    }

    /// A JSON pointer (RFC 6901) to something inside a body.
    pub(super) fn pointer(&mut self, key: &Key, pointer: &str) -> bool {
        let escapes_fit = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        let good = pointer.starts_with('/') && escapes_fit;
        if !good {
            let what = format!("found {pointer:?}, expected a JSON pointer such as \"/data/object/id\"");
            self.report.error_help(
                key,
                what,
                "`/` before each step; `~1` for a slash in a name, `~0` for a tilde",
            );
        }
        good
    }
}
