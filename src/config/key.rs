//! Names of settings (`endpoints.billing.secrets[1]`) and the places where they were written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One step from a table to a value in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Name(String),
    Index(usize),
}

/// The full name of a setting, from the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(Vec<Step>);

impl Key {
    /// The name of something in the root table, or deeper: `Key::of(&["server", "listen"])`.
    #[must_use]
    pub fn of(names: &[&str]) -> Self {
        names.iter().fold(Self::default(), |key, name| key.child(name))
    }

    /// The key of a value in this table.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        self.with(Step::Name(name.to_owned()))
    }

    /// The key of a value in this array.
    #[must_use]
    pub fn index(&self, at: usize) -> Self {
        self.with(Step::Index(at))
    }

    /// The table or array that this stands in; nothing above the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, above) = self.0.split_last()?;
        Some(Self(above.to_vec()))
    }

    /// Whether this is `table`, or stands in it.
    pub(super) fn is_within(&self, table: &Self) -> bool {
        self.0.starts_with(&table.0)
    }

    /// Its last name; none for an element of an array.
    pub(super) fn name(&self) -> Option<&str> {
        match self.0.last()? {
            Step::Name(name) => Some(name),
            Step::Index(_) => None,
        }
    }

    /// Whether what stands here, or in the table around it, may be a secret or hold one: no error repeats it. Told
    /// from the names, so that it is also true where a value of the wrong type stands and the schema ends.
    pub(super) fn bears_secret(&self) -> bool {
        self.0.iter().any(|step| match step {
            Step::Name(name) => {
                matches!(name.as_str(), "secrets" | "secret" | "sign" | "headers" | "settings")
                    || name.contains("token")
                    || name.ends_with("url")
            }
            Step::Index(_) => false,
        })
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

/// As in TOML: dots between names, quotes around those that need them.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Name(name) => {
                    if at > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(&toml_edit::Key::new(name).display_repr())?;
                }
            }
        }
        Ok(())
    }
}

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: it is what hookgate does unless told otherwise.
    Default,
    /// In a file; lines and columns count from 1.
    File {
        /// The path as the operator named it, or as it follows from `include`.
        path: Arc<Path>,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// In an environment variable.
    Environment(Arc<str>),
    /// In a flag of the command line, such as `--listen`.
    Flag(Arc<str>),
}

impl Place {
    /// What relative paths written there are relative to: the file's folder, else the working directory.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        match self {
            Self::File { path, .. } => path.parent().map(Path::to_path_buf).unwrap_or_default(),
            Self::Default | Self::Environment(_) | Self::Flag(_) => PathBuf::new(),
        }
    }

    /// For sorting: files in the order of their names, then by line; then variables and flags.
    pub(super) fn order(&self) -> impl Ord + use<> {
        match self {
            Self::File { path, line, column } => (0, path.display().to_string(), *line, *column),
            Self::Default => (1, String::new(), 0, 0),
            Self::Environment(name) => (2, name.to_string(), 0, 0),
            Self::Flag(name) => (3, name.to_string(), 0, 0),
        }
    }

    /// As [`fmt::Display`], without the column.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::File { path, line, .. } => format!("{}:{line}", path.display()),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// The place of each key that some layer set; later layers over earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<Key, Place>);

impl Places {
    /// Notes where `key` was written.
    pub fn note(&mut self, key: Key, place: Place) {
        self.0.insert(key, place);
    }

    /// Takes out what stands in the list `name`, with `offset` added to each index.
    pub(super) fn take_list(&mut self, name: &str, offset: usize) -> Self {
        let own = |key: &Key| key.0.first().is_some_and(|step| *step == Step::Name(name.to_owned()));
        let (taken, kept) = std::mem::take(&mut self.0).into_iter().partition(|(key, _)| own(key));
        self.0 = kept;
        let moved = |mut key: Key| {
            if let Some(Step::Index(at)) = key.0.get_mut(1) {
                *at += offset;
            }
            key
        };
        let taken: BTreeMap<Key, Place> = taken;
        Self(taken.into_iter().map(|(key, place)| (moved(key), place)).collect())
    }

    /// Takes over what a later layer wrote.
    pub fn extend(&mut self, later: &Self) {
        self.0.extend(later.0.iter().map(|(key, place)| (key.clone(), place.clone())));
    }

    /// Where exactly this key was written, if anywhere.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<&Place> {
        self.0.get(key)
    }

    /// Where this key was written, or the table that it would stand in.
    #[must_use]
    pub fn nearest(&self, key: &Key) -> Place {
        let mut at = Some(key.clone());
        while let Some(key) = at {
            if let Some(place) = self.0.get(&key) {
                return place.clone();
            }
            at = key.parent();
        }
        Place::Default
    }
}
