//! The text forms of signatures.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// The text form of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Lower-case hex.
    Hex,
    /// Upper-case hex.
    HexUpper,
    /// Hex in any case.
    HexAny,
    /// Padded base64.
    Base64,
    /// Base64 without padding.
    Base64NoPad,
    /// Padded base64url.
    Base64Url,
    /// Base64url without padding.
    Base64UrlNoPad,
    /// The text as it is: tokens.
    Plain,
}

impl Encoding {
    const ALL: [(&'static str, Self); 8] = [
        ("hex", Self::Hex),
        ("hex-upper", Self::HexUpper),
        ("hex-any", Self::HexAny),
        ("base64", Self::Base64),
        ("base64-nopad", Self::Base64NoPad),
        ("base64url", Self::Base64Url),
        ("base64url-nopad", Self::Base64UrlNoPad),
        ("plain", Self::Plain),
    ];

    /// All names, for messages.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|(name, _)| *name)
    }

    /// By its name in definitions.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, encoding)| *encoding)
    }

    /// Its name in definitions.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| *name)
    }

    /// The bytes, if the text is in this form and no other: one signature has one spelling.
    pub(crate) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex if text.bytes().any(|b| b.is_ascii_uppercase()) => None,
            Self::HexUpper if text.bytes().any(|b| b.is_ascii_lowercase()) => None,
            Self::Hex | Self::HexUpper | Self::HexAny => hex::decode(text).ok(),
            Self::Base64 => STANDARD.decode(text).ok(),
            Self::Base64NoPad => STANDARD_NO_PAD.decode(text).ok(),
            Self::Base64Url => URL_SAFE.decode(text).ok(),
            Self::Base64UrlNoPad => URL_SAFE_NO_PAD.decode(text).ok(),
            Self::Plain => Some(text.as_bytes().to_vec()),
        }
    }

    /// The text; `None` where the bytes cannot stand in it.
    pub(crate) fn encode(self, bytes: &[u8]) -> Option<String> {
        Some(match self {
            Self::Hex | Self::HexAny => hex::encode(bytes),
            Self::HexUpper => hex::encode_upper(bytes),
            Self::Base64 => STANDARD.encode(bytes),
            Self::Base64NoPad => STANDARD_NO_PAD.encode(bytes),
            Self::Base64Url => URL_SAFE.encode(bytes),
            Self::Base64UrlNoPad => URL_SAFE_NO_PAD.encode(bytes),
            Self::Plain => String::from_utf8(bytes.to_vec()).ok()?,
        })
    }
}
