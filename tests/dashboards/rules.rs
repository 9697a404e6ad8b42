//! Rules and alerts: promtool's own checks and unit tests, and what every alert must have.

use std::thread;

use super::{file_name, files, read, root, values};
use crate::support::prometheus::{program, run};

#[test]
fn promtool_accepts_the_rules() {
    let mut check = program("promtool");
    check
        .args(["check", "rules", "rules.yml", "alerts.yml"])
        .current_dir(root().join("dashboards/prometheus"));
    run(&mut check, "").unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn the_stories_of_the_rules_come_out_as_told() {
    let stories = files("dashboards/prometheus/tests", "yml");
    assert!(!stories.is_empty());
    let played = stories.into_iter().map(|story| {
        thread::spawn(move || {
            let mut test = program("promtool");
            test.args(["test", "rules"]).arg(story.file_name().expect("a name"));
            run(test.current_dir(story.parent().expect("a folder")), "")
        })
    });
    let failed: Vec<String> =
        played.collect::<Vec<_>>().into_iter().filter_map(|story| story.join().expect("ran").err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_alert_has_a_severity_a_runbook_and_a_story_in_which_it_fires() {
    let alerts = read("dashboards/prometheus/alerts.yml");
    let stories: String = files("dashboards/prometheus/tests", "yml")
        .iter()
        .map(|file| read(&format!("dashboards/prometheus/tests/{}", file_name(file))))
        .collect();
    let blocks: Vec<&str> = alerts.split("- alert: ").skip(1).collect();
    assert!(blocks.len() > 20, "has the form of alerts.yml changed? Then change this test.");
    for block in blocks {
        let name = block.lines().next().expect("a name");
        assert!(matches!(values(block, "severity")[..], ["critical" | "warning"]), "{name}: severity");
        for key in ["summary", "description"] {
            assert_eq!(values(block, key).len(), 1, "{name}: {key}");
        }
        let [runbook] = values(block, "runbook_url")[..] else { panic!("{name}: runbook_url") };
        assert!(read(runbook).contains(name), "{runbook} does not say that it is for {name}");
        let fires = format!("ALERTS{{alertname=\"{name}\", alertstate=\"firing\"");
        assert!(
            stories.contains(&format!("labels: '{fires}")),
            "{name} fires in no story of prometheus/tests"
        );
    }
}
