//! Secrets that cannot be printed by accident.

use std::fmt;
use std::num::NonZeroU32;

use ring::pbkdf2;
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

/// Rounds of [`stretched`]: a few milliseconds, so that who reads the database cannot try many words a second.
const ROUNDS: NonZeroU32 = NonZeroU32::new(20_000).unwrap();
/// Rounds of [`Secret::fingerprint`], which is made of each secret at every start, and short.
const FEW_ROUNDS: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

impl Secret {
    /// A short name for it that tells nothing else: eight hexadecimal digits, different for each `place`, so that the
    /// same secret in two places is not seen to be the same.
    #[must_use]
    pub fn fingerprint(&self, place: &str) -> String {
        let mut digest = [0; 4];
        let salt = format!("hookgate fingerprint of {place}");
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, FEW_ROUNDS, salt.as_bytes(), &self.0, &mut digest);
        hex::encode(digest)
    }
}

/// A salted digest of a secret value, slow to make (PBKDF2-HMAC-SHA-256).
#[must_use]
pub fn stretched(salt: &[u8], value: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, ROUNDS, salt, value, &mut digest);
    digest
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.masked())
    }
}
