//! What a definition is made of: its text, and what compiling makes of it.

use std::time::Duration;

use http::{HeaderName, HeaderValue};

use super::plan::{Answer, Handshake, Recipe, Variant};
use super::template::Template;
use super::{Sample, Setting, raw};

/// How sure we are of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Read in the provider's own SDK, documentation or server source.
    Confirmed,
    /// Third parties agree, or parts are not certain.
    Unconfirmed,
}

impl Confidence {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "confirmed" => Some(Self::Confirmed),
            "unconfirmed" => Some(Self::Unconfirmed),
            _ => None,
        }
    }

    /// The word in `hookgate providers`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Unconfirmed => "unconfirmed",
        }
    }
}

/// A definition's text, kept so that an endpoint's settings can be filled in.
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) raw: raw::Definition,
}

/// What compiling makes of a definition.
pub(crate) struct Parts {
    pub(crate) confidence: Confidence,
    pub(crate) settings: Vec<Setting>,
    pub(crate) methods: Vec<String>,
    pub(crate) max_body: Option<usize>,
    pub(crate) credentials: Vec<Template>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) sign_headers: Vec<(String, String)>,
    pub(crate) signed_beside: Vec<(String, String)>,
    pub(crate) sign_claims: Vec<(String, String)>,
    pub(crate) sign_jose: Vec<(String, String)>,
    pub(crate) recipe: Recipe,
    pub(crate) handshakes: Vec<Handshake>,
    pub(crate) success: Option<Answer>,
    pub(crate) rejected: u16,
    pub(crate) rejected_headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) rejected_empty: bool,
    pub(crate) refused: u16,
    pub(crate) unusable: u16,
    pub(crate) deadline: Option<Duration>,
    pub(crate) retry_window: Option<Duration>,
    pub(crate) volatile: Vec<String>,
    pub(crate) samples: Vec<Sample>,
}
