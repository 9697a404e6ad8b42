//! Lists `providers/*.toml` for the embedded catalogue, so that adding a provider is adding a file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=providers");
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("providers");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    let mut list = String::from("/// Id, aliases and text of every embedded definition.\n");
    list.push_str("const EMBEDDED: &[(&str, &[&str], &str)] = &[\n");
    for file in files {
        let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file)?;
        let aliases = aliases(&text);
        writeln!(list, "    ({id:?}, &{aliases}, include_str!({:?})),", file.display().to_string())?;
    }
    list.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("providers.rs"), list)?;
    Ok(())
}

/// The definition's `aliases = ["…"]`, which are written on one line: such a list reads the same in TOML and Rust.
/// Only for finding a definition without reading them all; a test compares it with what the definitions say.
fn aliases(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("aliases = ")).unwrap_or("[]")
}
