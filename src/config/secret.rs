//! References to secrets: `env:NAME`, `file:PATH`, `literal:VALUE`.
//!
//! What holds: a secret comes from the raw text of a variable or file, so that `0123` stays `0123`; a missing or
//! empty one is an error, never an empty secret; no error shows the value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::model::Secret;

/// The shortest key that the gateway takes, in bytes: shorter ones can be guessed. The offline `verify` does not
/// ask, since providers' published examples use short ones.
pub const MIN_KEY_BYTES: usize = 16;

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretRef {
    /// `env:NAME`: an environment variable, as it is.
    Env(String),
    /// `file:PATH`: a file's bytes without one newline at the end.
    File(PathBuf),
    /// `literal:VALUE`: written down where everybody can read it.
    Literal(Secret),
}

/// Why there is no secret. The texts name the reference, never the value.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Not a reference. The text may be the secret itself and is not repeated.
    #[error("expected env:NAME, file:PATH or literal:VALUE")]
    NotAReference,
    /// The variable is not set.
    #[error("the environment variable {0} is not set")]
    Unset(String),
    /// The variable, file or literal is empty or blank.
    #[error("{0} is empty")]
    Empty(String),
    /// The file could not be read.
    #[error("cannot read the secret file {path}: {why}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
}

impl SecretRef {
    /// Reads a reference as it stands in config or in a flag.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        match text.split_once(':') {
            Some(("env", name)) if !name.is_empty() => Ok(Self::Env(name.to_owned())),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            Some(("literal", value)) => Ok(Self::Literal(Secret::new(value))),
            _ => Err(SecretError::NotAReference),
        }
    }

    /// The secret itself. `folder` is what a relative `file:` path starts from.
    pub fn resolve(&self, environment: &Environment, folder: &Path) -> Result<Secret, SecretError> {
        let secret = match self {
            Self::Env(name) => {
                let value = environment.get(name).ok_or_else(|| SecretError::Unset(name.clone()))?;
                Secret::new(value.as_bytes())
            }
            Self::File(path) => Secret::new(read(&folder.join(path))?),
            Self::Literal(secret) => secret.clone(),
        };
        if secret.expose().trim_ascii().is_empty() {
            return Err(SecretError::Empty(self.describe()));
        }
        Ok(secret)
    }

    /// `env:NAME`, `file:PATH` or `literal:whsec_…abcd`.
    pub fn describe(&self) -> String {
        match self {
            Self::Env(name) => format!("env:{name}"),
            Self::File(path) => format!("file:{}", path.display()),
            Self::Literal(secret) => format!("literal:{}", secret.masked()),
        }
    }
}

/// The variables of a process, as they are.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// This process's variables. One that is not UTF-8 is left out: nothing that hookgate reads may be such.
    pub fn of_process() -> Self {
        let utf8 = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self(utf8.collect())
    }

    /// The raw text of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Whether a key is too weak to guard an endpoint, and why: `whsec_` alone, or under [`MIN_KEY_BYTES`].
pub(super) fn weakness(secret: &Secret) -> Option<String> {
    let text = secret.expose().trim_ascii();
    let key = text.strip_prefix(b"whsec_").unwrap_or(text);
    if key.is_empty() {
        return Some("it holds only the prefix `whsec_`, no key".to_owned());
    }
    (key.len() < MIN_KEY_BYTES)
        .then(|| format!("its key has {} bytes; at least {MIN_KEY_BYTES} are needed", key.len()))
}

fn read(path: &Path) -> Result<Vec<u8>, SecretError> {
    let mut bytes = std::fs::read(path).map_err(|why| SecretError::File { path: path.to_path_buf(), why })?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    Ok(bytes)
}
