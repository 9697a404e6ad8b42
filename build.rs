//! Lists `providers/*.toml` for the embedded catalogue, so that adding a provider is adding a file.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=providers");
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("providers");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the folder is part of the crate").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut list = String::from("/// Name and text of every embedded definition.\nconst EMBEDDED: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.file_name().expect("a file of a folder has a name").to_string_lossy().into_owned();
        writeln!(list, "    ({name:?}, include_str!({:?})),", file.display().to_string()).expect("a string grows");
    }
    list.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("providers.rs");
    fs::write(out, list).expect("OUT_DIR can be written");
}
