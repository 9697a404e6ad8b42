//! `deploy/` has never been run here, for want of a container engine; this is what can be said without one.

use std::process::Command;

use super::{read, root, values};
use crate::support::prometheus::{program, run};

#[test]
fn the_configurations_that_are_mounted_are_accepted_by_their_programs() {
    let folder = root().join("deploy");
    let mut prometheus = program("promtool");
    // The token's file is in the container only.
    prometheus.args(["check", "config", "--syntax-only", "prometheus.yml"]).current_dir(&folder);
    let mut alertmanager = program("amtool");
    alertmanager.args(["check-config", "alertmanager.yml"]).current_dir(&folder);
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_hookgate"));
    gateway
        .args(["check", "--offline", "--config", "hookgate.toml"])
        .env("STRIPE_WEBHOOK_SECRET", "whsec_0123456789abcdef0123456789abcdef")
        .env("HOOKGATE__ADMIN__METRICS_TOKEN", "env:TOKEN")
        .env("TOKEN", "a-token-of-more-than-thirty-two-characters")
        .env("HOOKGATE__DATABASE__URL", "postgres://hookgate:password@postgres/hookgate")
        .current_dir(&folder);
    for command in [&mut prometheus, &mut alertmanager, &mut gateway] {
        run(command, "").unwrap_or_else(|why| panic!("{command:?}\n{why}"));
    }
}

#[test]
fn every_file_that_is_mounted_is_there_and_the_composition_says_that_it_is_unrun() {
    let compose = read("deploy/compose.yml");
    let mounts: Vec<&str> = compose
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "))
        .filter(|mount| mount.starts_with('.'))
        .filter_map(|mount| mount.split_once(':').map(|(source, _)| source))
        .collect();
    assert!(mounts.len() > 5, "has the form changed? Then change this test.");
    for source in mounts {
        assert!(root().join("deploy").join(source).exists(), "{source} is mounted and missing");
    }
    let [dockerfile] = values(&compose, "dockerfile")[..] else { panic!("one image is built here") };
    assert!(root().join(dockerfile).is_file());
    assert!(compose.contains("Not run by this repository's tests"));
    for image in values(&compose, "image") {
        assert!(image.contains(':') && !image.ends_with(":latest"), "{image}: which version?");
    }
}
