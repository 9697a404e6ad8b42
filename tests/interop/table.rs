//! The table of tests/interop/README.md and the lock files tell what really runs.

use std::collections::BTreeSet;
use std::path::Path;

use super::case::Case;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn row(case: &Case) -> String {
    let ways = match (case.signs, case.verifies) {
        (true, true) => "signs, verifies",
        (true, false) => "signs",
        _ => "verifies",
    };
    let language = case.sdk.language;
    let (package, version, calls) = (&case.package, &case.version, &case.calls);
    format!("| `{}` | {language} | `{package}` {version} | {ways} | {calls} |", case.provider.id())
}

#[test]
fn the_readme_lists_every_package_with_its_version_and_what_it_does() {
    let cases = Case::all();
    let listed: BTreeSet<String> =
        file("README.md").lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect();
    let real: BTreeSet<String> = cases.iter().map(row).collect();
    let missing: Vec<&String> = real.difference(&listed).collect();
    let gone: Vec<&String> = listed
        .difference(&real)
        .filter(|line| line.contains("| Python |") || line.contains("| Node.js |"))
        .collect();
    assert!(missing.is_empty() && gone.is_empty(), "missing: {missing:#?}\nno longer true: {gone:#?}");
}

#[test]
fn every_package_that_is_installed_by_name_is_tried() {
    let cases = Case::all();
    let tried: BTreeSet<&str> = cases.iter().map(|case| case.package.as_str()).collect();
    let manifest: serde_json::Value = serde_json::from_str(&file("package.json")).expect("JSON");
    let named = manifest["dependencies"].as_object().expect("dependencies").keys().cloned();
    let requirements = file("requirements.txt");
    // What the packages need themselves stands below the mark.
    let own = requirements.split("# what those need").next().expect("a first part");
    let own = own.lines().filter_map(|line| line.split_once("==")).map(|(name, _)| name.to_owned());
    let idle: Vec<String> = named.chain(own).filter(|name| !tried.contains(name.as_str())).collect();
    assert!(idle.is_empty(), "installed and never asked: {idle:?}");
    assert!(tried.len() >= 30, "{} packages", tried.len());
}
