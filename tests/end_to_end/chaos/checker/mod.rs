//! The judge of a story. It reads the senders' history, the destinations' log, what the gateways said, and the database,
//! and knows nothing else of what happened.
//!
//! What it counts and what it holds against the gateways is a [`Report`]. `doctored.rs` shows that it sees.

mod doctored;
mod evidence;
mod output;
mod rules;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::support::database::Database;

/// Where the files of a story are.
pub struct Files {
    folder: PathBuf,
}

impl Files {
    /// In this folder.
    pub fn of(folder: &Path) -> Self {
        std::fs::create_dir_all(folder.join("output")).expect("make the folder");
        Self { folder: folder.to_owned() }
    }

    /// The senders' history.
    pub fn history(&self) -> PathBuf {
        self.folder.join("history.jsonl")
    }

    /// The destinations' log.
    pub fn arrivals(&self) -> PathBuf {
        self.folder.join("arrivals.jsonl")
    }

    /// The folder of what the gateways said.
    pub fn output(&self) -> PathBuf {
        self.folder.join("output")
    }
}

/// What the gateways are held to beside the rules.
#[derive(Clone, Copy, Debug)]
pub struct Strictness {
    /// Whether an event whose work could have been done may wait for a person because crashes hit it five times. So
    /// it can happen where a gateway is killed twice in a second.
    pub crashes_may_hit_anybody: bool,
}

/// What came out.
#[derive(Default)]
pub struct Report {
    counts: BTreeMap<&'static str, usize>,
    faults: BTreeMap<&'static str, Vec<String>>,
}

/// Reads everything and judges it. `secrets` must not stand in anything that a gateway said.
pub async fn check(files: &Files, database: &Database, secrets: &[&str], strictness: Strictness) -> Report {
    let evidence = evidence::read(files, database).await;
    let mut report = Report::default();
    rules::judge(&evidence, strictness, &mut report);
    output::judge(&files.output(), secrets, &mut report);
    report
}

impl Report {
    fn count(&mut self, what: &'static str, number: usize) {
        *self.counts.entry(what).or_default() += number;
    }

    /// Makes a rule known, so that it is reported with 0, and holds all of `found` against the gateways.
    fn hold(&mut self, rule: &'static str, found: impl IntoIterator<Item = String>) {
        self.faults.entry(rule).or_default().extend(found);
    }

    /// A count; 0 if nothing was counted under this name.
    pub fn number(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or(0)
    }

    /// The rules that were broken.
    pub fn broken(&self) -> Vec<&'static str> {
        self.faults.iter().filter(|(_, found)| !found.is_empty()).map(|(rule, _)| *rule).collect()
    }

    /// Fails the test if a rule was broken.
    pub fn assert_clean(&self) {
        assert!(self.broken().is_empty(), "broken: {:?}\n{self}", self.broken());
    }
}

impl fmt::Display for Report {
    /// All counts, all rules with how often they were broken, and the first few breaches of each. Each zero is worth
    /// what its number of trials is: with n trials and no failure, the failure's rate is below 3/n (at 95 %).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, number) in &self.counts {
            writeln!(f, "{number:>8} {what}")?;
        }
        for (rule, found) in &self.faults {
            writeln!(f, "{:>8} {rule}", found.len())?;
            for one in found.iter().take(10) {
                writeln!(f, "           {one}")?;
            }
        }
        Ok(())
    }
}
