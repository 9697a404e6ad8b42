//! What is wrong with a configuration, collected until everything has been looked at.

use std::collections::BTreeSet;
use std::fmt;

use super::key::{Key, Place, Places};

/// One thing that is wrong or doubtful: where, what, and what to do.
#[derive(Clone, Debug)]
pub struct Problem {
    /// File, line and column, or the variable or flag.
    pub place: Place,
    /// The setting.
    pub key: Key,
    /// What was found and what was expected. Never a secret's value.
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place != Place::Default {
            write!(f, "{}: ", self.place)?;
        }
        if self.key != Key::default() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.what)?;
        self.help.iter().try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}

/// Everything that is wrong with a configuration; at least one thing.
#[derive(Clone, Debug)]
pub struct ConfigError(pub Vec<Problem>);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|problem| writeln!(f, "error: {problem}"))?;
        let count = self.0.len();
        write!(f, "{count} error{} in the configuration", if count == 1 { "" } else { "s" })
    }
}

impl std::error::Error for ConfigError {}

/// Collects problems while the configuration is read.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Where each key was written.
    pub(super) places: Places,
    /// What makes the configuration unusable.
    pub(super) errors: Vec<Problem>,
    /// What an operator should know.
    pub(super) warnings: Vec<Problem>,
    /// Tables that had to be left out, so that nobody complains that they are not there.
    pub(super) dropped: BTreeSet<Key>,
}

impl Report {
    /// An error at the place of `key`.
    pub(super) fn error(&mut self, key: &Key, what: impl Into<String>) {
        let problem = self.problem(key, what.into(), None);
        self.push(problem);
    }

    /// An error with advice.
    pub(super) fn error_help(&mut self, key: &Key, what: impl Into<String>, help: impl Into<String>) {
        let problem = self.problem(key, what.into(), Some(help.into()));
        self.push(problem);
    }

    /// Whether something is wrong with `key` or below it.
    pub(super) fn has_error_within(&self, key: &Key) -> bool {
        self.errors.iter().any(|error| error.key.is_within(key))
    }

    /// Whether a table below `section` had to be left out.
    pub(super) fn has_dropped(&self, section: &str, name: &str) -> bool {
        self.dropped.contains(&Key::of(&[section, name]))
    }

    /// A warning with advice.
    pub(super) fn warn(&mut self, key: &Key, what: impl Into<String>, help: impl Into<String>) {
        let problem = self.problem(key, what.into(), Some(help.into()));
        self.warnings.push(problem);
    }

    /// An error at a place that is not (or not only) a key's.
    pub(super) fn error_at(&mut self, place: Place, key: Key, what: impl Into<String>, help: Option<String>) {
        self.errors.push(Problem { place, key, what: what.into(), help });
    }

    /// What is wrong with a table as a whole follows from what is wrong in it: the latter is enough.
    fn push(&mut self, problem: Problem) {
        let follows = |error: &Problem| error.key != problem.key && error.key.is_within(&problem.key);
        if !self.errors.iter().any(follows) {
            self.errors.push(problem);
        }
    }

    fn problem(&self, key: &Key, what: String, help: Option<String>) -> Problem {
        Problem { place: self.places.nearest(key), key: key.clone(), what, help }
    }
}

/// `did you mean …?` if one of `known` is near, else the list of them.
pub(crate) fn suggest<'a>(found: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let near = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), *name))
        .filter(|(distance, name)| *distance <= 2.max(name.len() / 3))
        .min();
    match near {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "there are none".to_owned(),
        None if known.len() > 24 => {
            format!("`hookgate providers` or `config schema` list all {}", known.len())
        }
        None => format!("known: {}", known.join(", ")),
    }
}
