//! An endpoint's own constants in a definition.

/// A setting that a definition takes, such as a webhook id or a header's name.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name in `settings = { … }` and `--set`.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// Its value where an endpoint does not say; a setting without one is required.
    pub default: Option<String>,
    /// Whether it must not be shown.
    pub secret: bool,
}

/// Settings or secrets of an endpoint that do not fit the provider. Never holds a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The definition has no such setting.
    #[error("unknown setting `{name}`: this provider takes {}", list(allowed))]
    Unknown {
        /// What was given.
        name: String,
        /// What the definition takes.
        allowed: Vec<String>,
    },
    /// A required one is not there.
    #[error("setting `{name}` is missing: {description}")]
    Missing {
        /// Which one.
        name: String,
        /// What it is.
        description: String,
    },
    /// A value that cannot be used in its place.
    #[error("setting `{name}` cannot be used: {problem}")]
    Invalid {
        /// Which one.
        name: String,
        /// Why not, without the value.
        problem: String,
    },
    /// A secret that is not in the provider's form.
    #[error("secret {position} cannot be used: {problem}")]
    Secret {
        /// Its position, from 1.
        position: usize,
        /// Why not, without the value.
        problem: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "no settings".into() } else { names.join(", ") }
}
