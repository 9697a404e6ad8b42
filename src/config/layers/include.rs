//! The files in order, with what they include, and what must not stand in two of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use serde_json::Value;

use super::{Layer, file};
use crate::config::key::{Key, Place};
use crate::config::problem::Report;

/// The named files, each followed by the files that it includes; then one layer with the `routes` of all of them,
/// since merging would keep only the last file's.
pub(super) fn files(paths: &[PathBuf], report: &mut Report) -> Vec<Layer> {
    let mut layers = Vec::new();
    for path in paths {
        let Some(layer) = file::read(path, report) else { continue };
        let included = included(path, &layer, report);
        layers.push(layer);
        for path in included {
            let Some(layer) = file::read(&path, report) else { continue };
            refuse_nested(&layer, report);
            layers.push(layer);
        }
    }
    refuse_doubles(&layers, report);
    let routes = gather_routes(&mut layers);
    layers.push(routes);
    layers
}

/// The files that `include` leads to, by name within each pattern.
fn included(path: &Path, layer: &Layer, report: &mut Report) -> Vec<PathBuf> {
    let patterns = layer.values.get("include").and_then(Value::as_array).into_iter().flatten().enumerate();
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    for (at, pattern) in patterns.filter_map(|(at, pattern)| Some((at, pattern.as_str()?))) {
        match expand(folder, pattern) {
            Ok(files) => found.extend(files),
            Err(what) => {
                let key = Key::of(&["include"]).index(at);
                let place = layer.places.nearest(&key);
                report.error_at(place, key, what, None);
            }
        }
    }
    found
}

/// A pattern with wildcards may match nothing; a plain name must be there.
fn expand(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let whole = folder.join(pattern);
    let wild = |text: &str| text.contains(['*', '?', '[', '{']);
    let (Some(parent), Some(name)) =
        (whole.parent(), Path::new(pattern).file_name().and_then(|name| name.to_str()))
    else {
        return Err(format!("found {pattern:?}, expected a path to a file"));
    };
    if Path::new(pattern).parent().and_then(Path::to_str).is_some_and(wild) {
        return Err(format!(
            "{pattern:?} has a wildcard in a folder's name; only the last part may have one"
        ));
    }
    if !wild(name) {
        return if whole.is_file() {
            Ok(vec![whole])
        } else {
            Err(format!("there is no file {}", whole.display()))
        };
    }
    let glob = GlobBuilder::new(name).build().map_err(|error| format!("{pattern:?}: {}", error.kind()))?;
    let matcher = glob.compile_matcher();
    let entries = match std::fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("cannot read the folder {}: {error}", parent.display())),
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && path.file_name().is_some_and(|name| matcher.is_match(name)))
        .collect();
    files.sort();
    Ok(files)
}

fn refuse_nested(layer: &Layer, report: &mut Report) {
    let key = Key::of(&["include"]);
    if let Some(place) = layer.places.get(&key) {
        report.error_at(place.clone(), key, "an included file cannot include others", None);
    }
}

/// An endpoint or a destination belongs to one file: silently merged halves of two would be neither.
fn refuse_doubles(layers: &[Layer], report: &mut Report) {
    let mut seen: BTreeMap<Key, &Place> = BTreeMap::new();
    for layer in layers {
        for section in ["endpoints", "handlers", "destinations"] {
            let names = layer
                .values
                .get(section)
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|table| table.keys());
            for key in names.map(|name| Key::of(&[section, name])) {
                let Some(place) = layer.places.get(&key) else { continue };
                if let Some(first) = seen.get(&key) {
                    let what = format!("defined twice: here and at {first}");
                    report.error_at(
                        place.clone(),
                        key,
                        what,
                        Some("rename or remove one of them".to_owned()),
                    );
                } else {
                    seen.insert(key, place);
                }
            }
        }
    }
}

/// Moves the routes of all files into one layer, in file order.
fn gather_routes(layers: &mut [Layer]) -> Layer {
    let mut all = Layer::new("routes of all files");
    let mut gathered = Vec::new();
    for layer in layers {
        // Anything but a list stays for the check of the shape.
        let Some(Value::Array(routes)) = layer.values.get("routes").cloned() else { continue };
        layer.values.as_object_mut().map(|table| table.shift_remove("routes"));
        let own = layer.places.take_list("routes", gathered.len());
        all.places.extend(&own);
        gathered.extend(routes);
    }
    if !gathered.is_empty() {
        super::insert(&mut all.values, &["routes"], Value::Array(gathered));
    }
    all
}
