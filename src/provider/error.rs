//! What can be wrong with a definition.

use std::fmt;

/// A definition that cannot be used: where, and what is expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionError {
    /// The file (`embedded:stripe.toml` for one of ours).
    pub file: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// The key, for example `verify[0].text`; empty for the file as a whole.
    pub key: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": `{}`", self.key)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for DefinitionError {}
