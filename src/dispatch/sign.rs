//! Signatures of outgoing requests: Standard Webhooks, symmetric
//! (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>).

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::model::Secret;

/// A key that signs deliveries.
///
/// The same text must make the same key here and in the official packages, so the secret is read as they read it:
/// `whsec_` and then base64, or base64 alone. Text that is not base64 is taken as its own bytes; a receiver then
/// passes `format: "raw"` (JavaScript) or the equivalent.
#[derive(Clone)]
pub struct SigningKey(Zeroizing<Vec<u8>>);

/// Why a text is no signing key. It never contains the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// Nothing there.
    #[error("the secret is empty")]
    Empty,
    /// `whsec_` promises base64.
    #[error("what follows `whsec_` is not base64")]
    NotBase64,
    /// `whsk_` or `whpk_`: Ed25519.
    #[error("this is a key of the asymmetric scheme; deliveries are signed with a `whsec_` secret")]
    Asymmetric,
}

impl SigningKey {
    /// Reads a secret in the form in which it is configured.
    ///
    /// # Errors
    /// [`InvalidKey`]
    pub fn parse(secret: &Secret) -> Result<Self, InvalidKey> {
        let text = secret.expose();
        if text.starts_with(b"whsk_") || text.starts_with(b"whpk_") {
            return Err(InvalidKey::Asymmetric);
        }
        let bytes = match text.strip_prefix(b"whsec_") {
            Some(rest) => LENIENT.decode(rest).map_err(|_| InvalidKey::NotBase64)?,
            None => STRICT.decode(text).unwrap_or_else(|_| text.to_vec()),
        };
        if bytes.is_empty() { Err(InvalidKey::Empty) } else { Ok(Self(Zeroizing::new(bytes))) }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

/// The value of `webhook-signature`: one `v1,<base64>` for each key, separated by spaces, so that a receiver can
/// change from one secret to the next. `None` without keys.
#[must_use]
pub fn signature(keys: &[SigningKey], message_id: &str, timestamp: i64, body: &[u8]) -> Option<String> {
    let all: Vec<String> = keys.iter().map(|key| sign(key, message_id, timestamp, body)).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn sign(key: &SigningKey, message_id: &str, timestamp: i64, body: &[u8]) -> String {
    // HMAC takes a key of any length; the error type is there for other MACs.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key.0) else { return String::new() };
    mac.update(format!("{message_id}.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// The packages' decoders do not mind bits left over in the last character.
const STRICT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// After `whsec_` there is no doubt that base64 is meant, so padding may be left out.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
