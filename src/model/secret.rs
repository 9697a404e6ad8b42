//! Secrets that cannot be printed by accident.

use std::fmt;

use zeroize::Zeroizing;

/// A signing secret or token. `Debug` shows [`Secret::masked`]; the memory is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes the bytes as they are.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// The bytes themselves. Whoever calls this answers for where they go.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Enough for a person to compare with a dashboard, and no more: the known prefix and the last four
    /// characters (`whsec_…abcd`) of a secret of 24 characters or more, else `…`.
    #[must_use]
    pub fn masked(&self) -> String {
        let Ok(text) = std::str::from_utf8(&self.0) else { return "…".into() };
        if text.len() < 24 || !text.is_ascii() {
            return "…".into();
        }
        let prefix = text.find('_').filter(|at| *at < 8).map_or("", |at| &text[..=at]);
        format!("{prefix}…{}", &text[text.len() - 4..])
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.masked())
    }
}
