//! What runbooks tell people to type must work on the day it is needed.

use std::collections::BTreeSet;
use std::process::Command;

use super::{file_name, files, read};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::GatewayConfig;
use crate::tidy::{blocks, documented_commands};

/// The runbooks with their names.
pub(super) fn all() -> Vec<(String, String)> {
    let names = files("dashboards/runbooks", "md").iter().map(|file| file_name(file)).collect::<Vec<_>>();
    names.into_iter().map(|name| (name.clone(), read(&format!("dashboards/runbooks/{name}")))).collect()
}

#[test]
fn every_runbook_answers_the_four_questions() {
    let alerts = read("dashboards/prometheus/alerts.yml");
    for (name, text) in all() {
        for heading in
            ["## What it means", "## How to confirm", "## What to do", "## How to know that it is over"]
        {
            assert!(text.contains(heading), "{name}: {heading} is missing");
        }
        assert!(alerts.contains(&format!("runbooks/{name}")), "{name}: no alert leads here");
        assert!(!blocks(&text, "promql").is_empty(), "{name}: no question to Prometheus");
        for link in text.split("](").skip(1) {
            let target = link.split(')').next().expect("its end");
            assert!(all().iter().any(|(other, _)| other == target), "{name}: {target} is missing");
        }
    }
}

#[test]
fn every_command_that_a_runbook_shows_exists() {
    let commands: BTreeSet<Vec<String>> =
        all().iter().flat_map(|(_, text)| documented_commands(text)).collect();
    assert!(commands.contains(&vec!["backlog".to_owned()]), "has the form changed? Then change this test.");
    for words in commands {
        let mut help = Command::new(env!("CARGO_BIN_EXE_hookgate"));
        let output = help.args(&words).arg("--help").output().expect("run hookgate");
        assert!(
            output.status.success(),
            "runbooks show `hookgate {}`, which does not exist",
            words.join(" ")
        );
    }
}

both_engines!(every_statement_of_a_runbook_runs,);

async fn every_statement_of_a_runbook_runs(engine: Engine) {
    let database = Database::new(engine).await;
    GatewayConfig::new(&database.url, "async").start().await.terminate().await;
    let statements: Vec<(String, String)> = all()
        .into_iter()
        .flat_map(|(name, text)| blocks(&text, "sql").into_iter().map(move |sql| (name.clone(), sql)))
        .collect();
    assert!(statements.len() >= 3, "has the form changed? Then change this test.");
    for (name, sql) in statements {
        assert!(!database.refuses(&sql).await, "{name}: {engine:?} refuses\n{sql}");
    }
}
