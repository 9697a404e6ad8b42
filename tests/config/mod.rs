//! The configuration: layers, errors with their places, secrets, routes, the example file.

mod bounds;
mod destinations;
mod endpoints;
mod example;
mod expressions;
mod layers;
mod ordering;
mod proxy;
mod routes;
mod secrets;
mod shape;
mod show;

use std::fs;
use std::path::PathBuf;

use hookgate::cli::built_in_handlers;
use hookgate::clock::Timestamp;
use hookgate::config::{self, Environment, Flag, Loaded, Sources};
use tempfile::TempDir;

/// A secret in the form of Stripe's that is none.
const SECRET: &str = "whsec_test_0123456789abcdefghijklmnop";

/// An endpoint that is all right.
const ENDPOINT: &str = r#"
[endpoints.billing]
provider = "stripe"
paths = ["/stripe"]
secrets = ["env:BILLING"]
"#;

/// Files, variables and flags of one test. The main file is `main.toml`.
struct Case {
    folder: TempDir,
    files: Vec<PathBuf>,
    variables: Vec<(String, String)>,
    flags: Vec<Flag>,
}

impl Case {
    fn new(main: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let variables = vec![("BILLING".to_owned(), SECRET.to_owned())];
        Self { folder, files: Vec::new(), variables, flags: Vec::new() }.named("main.toml", main)
    }

    /// A file that is named on the command line.
    fn named(mut self, name: &str, text: &str) -> Self {
        self = self.file(name, text);
        self.files.push(self.folder.path().join(name));
        self
    }

    /// A file that is only there.
    fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        fs::write(path, text).expect("write the file");
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn flag(mut self, flag: &'static str, setting: &'static [&'static str], value: &str) -> Self {
        self.flags.push(Flag { flag, setting, value: value.into() });
        self
    }

    fn sources(&self) -> Sources {
        Sources {
            files: self.files.clone(),
            environment: self.variables.iter().cloned().collect::<Environment>(),
            flags: self.flags.clone(),
            handlers: built_in_handlers(),
            now: "2026-06-01T00:00:00Z".parse::<Timestamp>().expect("a time"),
        }
    }

    #[track_caller]
    fn load(&self) -> Loaded {
        config::load(&self.sources()).unwrap_or_else(|errors| panic!("the configuration is good:\n{errors}"))
    }

    /// All errors, each as it is printed, with the test's folder cut off.
    #[track_caller]
    fn errors(&self) -> Vec<String> {
        let errors = config::load(&self.sources()).expect_err("the configuration is wrong");
        errors.0.iter().map(|error| self.short(&error.to_string())).collect()
    }

    /// The only error there is.
    #[track_caller]
    fn error(&self) -> String {
        let errors = self.errors();
        assert_eq!(errors.len(), 1, "one error: {errors:#?}");
        errors.into_iter().next().expect("one")
    }

    #[track_caller]
    fn warnings(&self) -> Vec<String> {
        self.load().warnings.iter().map(|warning| self.short(&warning.to_string())).collect()
    }

    #[track_caller]
    fn listing(&self) -> String {
        let merged = config::merge(&self.sources()).unwrap_or_else(|errors| panic!("good:\n{errors}"));
        self.short(&merged.show())
    }

    fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

/// The endpoint and more.
fn billing(more: &str) -> Case {
    Case::new(&format!("{ENDPOINT}{more}"))
}
