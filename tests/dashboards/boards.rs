//! The house rules of dashboards, in place of a Grafana that would complain.

use std::collections::BTreeSet;

use serde_json::json;

use super::{BOARDS, board, expressions, panels, read, root};
use crate::support::prometheus;

/// Units that the panels use; a misspelt one would show bare numbers.
const UNITS: [&str; 9] = ["none", "short", "s", "bytes", "percentunit", "reqps", "ops", "eps", "bool_yes_no"];

#[test]
fn the_json_is_what_its_source_makes() {
    let mut python = prometheus::python();
    python.args(["dashboards/grafana/source/build.py", "--check"]).current_dir(root());
    prometheus::run(&mut python, "").unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn every_board_is_installable_anywhere() {
    let mut uids = BTreeSet::new();
    for name in BOARDS {
        let board = board(name);
        assert!(uids.insert(board["uid"].as_str().expect("a uid").to_owned()), "{name}: uid is taken");
        assert_eq!(board["editable"], false, "{name}");
        assert!(board.get("__inputs").is_none() && board.get("id").is_none(), "{name}: made by an export");
        assert!(board["description"].as_str().is_some_and(|text| text.len() > 20), "{name}");
        let variables = board["templating"]["list"].as_array().expect("variables");
        assert_eq!(variables[0]["name"], "datasource", "{name}");
        for variable in &variables[1..] {
            assert_eq!(variable["datasource"]["uid"], "${datasource}", "{name}: {variable}");
        }
        assert!(!board.to_string().contains("\"uid\":\"prometheus\""), "{name}: somebody's own data source");
    }
}

#[test]
fn every_panel_says_what_it_shows_and_what_to_do() {
    for name in BOARDS {
        let board = board(name);
        let mut ids = BTreeSet::new();
        for panel in board["panels"].as_array().expect("panels") {
            assert!(ids.insert(panel["id"].as_u64().expect("an id")), "{name}: {panel}");
        }
        let mut titles = BTreeSet::new();
        for panel in panels(&board) {
            let title = panel["title"].as_str().expect("a title");
            assert!(titles.insert(title), "{name}: two panels are called {title}");
            let description = panel["description"].as_str().unwrap_or("");
            assert!(description.split_whitespace().count() >= 8, "{name}/{title}: {description:?}");
            if let Some((_, runbook)) = description.split_once(" Runbook: ") {
                assert!(root().join(runbook).is_file(), "{name}/{title}: {runbook} is missing");
            }
            let unit = panel["fieldConfig"]["defaults"]["unit"].as_str().unwrap_or("");
            assert!(UNITS.contains(&unit), "{name}/{title}: unit {unit:?}");
            let datasource = json!({ "type": "prometheus", "uid": "${datasource}" });
            assert_eq!(panel["datasource"], datasource, "{name}/{title}");
            let mut letters = BTreeSet::new();
            for target in panel["targets"].as_array().expect("targets") {
                assert_eq!(target["datasource"], datasource, "{name}/{title}");
                assert!(letters.insert(target["refId"].as_str().expect("a letter")), "{name}/{title}");
            }
        }
    }
}

#[test]
fn panels_lie_side_by_side() {
    for name in BOARDS {
        let board = board(name);
        let mut taken = BTreeSet::new();
        for panel in board["panels"].as_array().expect("panels") {
            let at = |key: &str| panel["gridPos"][key].as_u64().expect("a number");
            let (x, y, w, h) = (at("x"), at("y"), at("w"), at("h"));
            assert!(x + w <= 24, "{name}: {} is too wide", panel["title"]);
            for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
                assert!(taken.insert(cell), "{name}: {} covers another panel", panel["title"]);
            }
        }
    }
}

#[test]
fn every_question_keeps_to_the_boards_variables_and_takes_counters_as_rates() {
    for name in BOARDS {
        let board = board(name);
        for panel in panels(&board) {
            for expression in expressions(panel) {
                let place = format!("{name}/{}: {expression}", panel["title"]);
                check_selectors(expression, &place);
            }
        }
    }
}

/// Every metric is chosen by job, and a counter stands in `rate` or `increase`.
fn check_selectors(expression: &str, place: &str) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let mut rest = expression;
    let mut before = String::new();
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        before.push_str(&rest[..start]);
        let end = rest[start..].find(|c: char| !is_name(c)).map_or(rest.len(), |at| start + at);
        let word = &rest[start..end];
        let after = &rest[end..];
        if let Some((labels, _)) = after.strip_prefix('{').and_then(|labels| labels.split_once('}')) {
            assert!(labels.contains("job=~\"$job"), "no job matcher: {place}");
            let recorded = word.contains(':') || word == "ALERTS";
            assert!(recorded || labels.contains("instance=~\"$instance\""), "no instance matcher: {place}");
            let counter = word.ends_with("_total") || word.ends_with("_bucket");
            let rated = before.ends_with("rate(") || before.ends_with("increase(");
            assert!(!counter || rated, "{word} is a counter: {place}");
            rest = &after[labels.len() + 2..];
        } else {
            rest = after;
        }
        before.push_str(word);
        if word == "rate" {
            let window = rest.split_once('[').expect("a window").1.split_once(']').expect("its end").0;
            assert_eq!(window, "$__rate_interval", "{place}");
        }
    }
}

#[test]
#[should_panic(expected = "is a counter")]
fn a_bare_counter_is_found() {
    check_selectors(r#"sum(hookgate_requests_total{job=~"$job", instance=~"$instance"})"#, "here");
}

#[test]
fn provisioning_loads_the_folder_that_the_boards_are_mounted_into() {
    let provider = read("dashboards/grafana/provisioning/dashboards/hookgate.yml");
    let compose = read("deploy/compose.yml");
    let path = super::values(&provider, "path")[0];
    for name in BOARDS {
        let mount = format!("../dashboards/grafana/{name}.json:{path}/{name}.json:ro");
        assert!(compose.contains(&mount), "{mount} is missing in deploy/compose.yml");
    }
}
