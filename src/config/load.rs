//! The way from files, variables and flags to a [`Config`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::build;
use super::key::{Key, Places};
use super::problem::{ConfigError, Problem, Report};
use super::raw::Raw;
use super::schema::{Schema, json_schema};
use super::secret::Environment;
use super::shape::check_required;
use super::{Config, layers};
use crate::clock::{Clock as _, SystemClock, Timestamp};
use crate::provider::Catalogue;

/// The file that is read when none is named, if it exists.
pub const DEFAULT_FILE: &str = "config/hookgate.toml";

/// Everything that a configuration is made from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files in order; later ones win.
    pub files: Vec<PathBuf>,
    /// The process's variables: `HOOKGATE__SECTION__KEY`, and those that `env:NAME` refers to.
    pub environment: Environment,
    /// What flags of the command line say.
    pub flags: Vec<Flag>,
    /// Names of the handlers that a route may use.
    pub handlers: BTreeSet<String>,
    /// Against which `until` is measured.
    pub now: Timestamp,
}

/// A setting given by a flag.
#[derive(Clone, Debug)]
pub struct Flag {
    /// As it was written, such as `--listen`.
    pub flag: &'static str,
    /// The setting's name, such as `["server", "listen"]`.
    pub setting: &'static [&'static str],
    /// Its value.
    pub value: Value,
}

/// A valid configuration and what belongs to it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The provider definitions, with the configuration's own folders over them.
    pub catalogue: Catalogue,
    /// What an operator should know, although it works.
    pub warnings: Vec<Problem>,
    /// Where each setting was written, for what later stages find wrong.
    pub places: Places,
}

impl Loaded {
    /// What a later stage found wrong with a setting, with the place of it.
    #[must_use]
    pub fn problem(&self, key: Key, what: impl Into<String>) -> Problem {
        Problem { place: self.places.nearest(&key), key, what: what.into(), help: None }
    }
}

/// All layers merged, before anything was resolved: what `config show` prints.
#[derive(Debug)]
pub struct Merged {
    /// The values, in the order of the schema; secrets as references.
    pub values: Value,
    /// Where each was written.
    pub places: Places,
}

impl Sources {
    /// The named files, or [`DEFAULT_FILE`] if it exists, and this process's variables.
    pub fn of_process(files: Vec<PathBuf>) -> Self {
        let default = || Path::new(DEFAULT_FILE).is_file().then(|| DEFAULT_FILE.into()).into_iter().collect();
        let files = if files.is_empty() { default() } else { files };
        Self { files, environment: Environment::of_process(), now: SystemClock.now(), ..Self::default() }
    }
}

/// Reads, merges, resolves and checks everything. Blocking: files are read.
///
/// # Errors
/// All that is wrong, not only the first; of no use to a program, but to a person.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let mut report = Report::default();
    let Some((raw, _)) = read(sources, &mut report) else { return Err(report.into_error()) };
    match build::build(&raw, sources, &mut report) {
        Some((config, catalogue)) if report.errors.is_empty() => {
            Ok(Loaded { config, catalogue, warnings: report.warnings, places: report.places })
        }
        _ => Err(report.into_error()),
    }
}

/// Reads and merges the layers, and stops there: no secret is looked up, no reference followed.
///
/// # Errors
/// All that is wrong with the shape of the layers.
pub fn merge(sources: &Sources) -> Result<Merged, ConfigError> {
    let mut report = Report::default();
    match read(sources, &mut report) {
        Some((_, values)) if report.errors.is_empty() => Ok(Merged { values, places: report.places }),
        _ => Err(report.into_error()),
    }
}

/// The raw configuration and its values, in the order of the schema. What is wrong with its shape is reported and
/// left out, so that the rest can be looked at too.
fn read(sources: &Sources, report: &mut Report) -> Option<(Raw, Value)> {
    let root = json_schema();
    let schema = Schema::new(&root);
    let raw = layers::merge(sources, schema, report).extract().map_err(|error| error.to_string()).and_then(
        |mut merged: Value| {
            check_required(&mut merged, schema, &Key::default(), report);
            serde_json::from_value::<Raw>(merged).map_err(|error| error.to_string())
        },
    );
    match raw {
        // Once more through the structs: their order, and the defaults of each endpoint and destination.
        Ok(raw) => Some(serde_json::to_value(&raw).map(|values| (raw, values)).ok()?),
        // The schema is made from the structs, so that nothing should be left to find; if something is, it is said.
        Err(error) => {
            if report.errors.is_empty() {
                report.error(&Key::default(), error);
            }
            None
        }
    }
}

impl Report {
    fn into_error(mut self) -> ConfigError {
        self.errors.sort_by_key(|problem| problem.place.order());
        ConfigError(self.errors)
    }
}
