//! Tokens in compact form (JWS, RFC 7515; JWT, RFC 7519): three parts in base64url. Only the framing is here; a token is
//! believed when its signature was checked with an algorithm that the definition allows.
//!
//! What a header says about keys and where to get them (`jwk`, `jku`, `x5u`) or about compression (`zip`) is not looked
//! at, and a header with `crit` is refused, since nothing that it could name is known here.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::algorithm::Hash;
use super::json;
use super::scheme::Scheme;

/// The longest chain of certificates in a header.
const MAX_CERTIFICATES: usize = 10;

/// An algorithm of a token (RFC 7518, 3.1; RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JwsAlgorithm {
    /// With a shared secret.
    Shared(Hash),
    /// With a private key.
    Public(Scheme),
}

impl JwsAlgorithm {
    const ALL: [(&'static str, Self); 12] = [
        ("HS256", Self::Shared(Hash::Sha256)),
        ("HS384", Self::Shared(Hash::Sha384)),
        ("HS512", Self::Shared(Hash::Sha512)),
        ("RS256", Self::Public(Scheme::RsaSha256)),
        ("RS384", Self::Public(Scheme::RsaSha384)),
        ("RS512", Self::Public(Scheme::RsaSha512)),
        ("PS256", Self::Public(Scheme::PssSha256)),
        ("PS384", Self::Public(Scheme::PssSha384)),
        ("PS512", Self::Public(Scheme::PssSha512)),
        ("ES256", Self::Public(Scheme::P256Raw)),
        ("ES384", Self::Public(Scheme::P384Raw)),
        ("EdDSA", Self::Public(Scheme::Ed25519)),
    ];

    /// All names, for messages. `none` is not among them.
    pub(crate) fn names() -> String {
        Self::ALL.map(|(name, _)| name).join(", ")
    }

    /// By its name in definitions and headers.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, algorithm)| *algorithm)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| *name)
    }
}

/// A token, taken apart. Nothing in it is believed by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    header: String,
    payload: String,
    /// Header and payload as they came, with the dot between.
    signed: String,
    signature: Vec<u8>,
    algorithm: String,
}

impl Token {
    /// Takes a token apart.
    ///
    /// # Errors
    /// What is wrong with its form, without a piece of it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err("is not a token of three parts".into());
        };
        let signed = format!("{header}.{payload}");
        let header = object("header", header)?;
        let payload = object("payload", payload)?;
        if json::raw(header.as_bytes(), "/crit")?.is_some() {
            return Err("is a token with `crit` in its header: it asks for what is not known here".into());
        }
        let algorithm =
            json::text(header.as_bytes(), "/alg")?.ok_or("is a token without `alg`")?.into_owned();
        let signature = decode("signature", signature)?;
        Ok(Self { header, payload, signed, signature, algorithm })
    }

    /// The algorithm that it names, if `allowed` has it.
    ///
    /// # Errors
    /// Which ones are allowed.
    pub(crate) fn algorithm(&self, allowed: &[JwsAlgorithm]) -> Result<JwsAlgorithm, String> {
        let own = JwsAlgorithm::from_name(&self.algorithm).filter(|own| allowed.contains(own));
        own.ok_or_else(|| {
            let names: Vec<&str> = allowed.iter().map(|allowed| allowed.name()).collect();
            format!("names another algorithm than {}", names.join(", "))
        })
    }

    /// What is signed.
    pub(crate) fn signed(&self) -> &[u8] {
        self.signed.as_bytes()
    }

    /// The signature's bytes.
    pub(crate) fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// The header's JSON.
    pub(crate) fn header(&self) -> &[u8] {
        self.header.as_bytes()
    }

    /// The payload's JSON.
    pub(crate) fn payload(&self) -> &[u8] {
        self.payload.as_bytes()
    }

    /// The name of the key that it says it was signed with.
    pub(crate) fn key_id(&self) -> Option<Cow<'_, str>> {
        json::text(self.header(), "/kid").ok().flatten()
    }

    /// The certificates (DER) in `x5c`, the signer's first.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn certificates(&self) -> Result<Vec<Vec<u8>>, String> {
        let listed = json::raw(self.header(), "/x5c")?.ok_or("is a token without certificates (`x5c`)")?;
        let listed: Vec<String> =
            serde_json::from_str(listed).map_err(|_| "is a token whose `x5c` is no list of texts")?;
        if listed.is_empty() || listed.len() > MAX_CERTIFICATES {
            return Err(format!("is a token with no certificate or more than {MAX_CERTIFICATES}"));
        }
        // The one part of a token in base64 that is not base64url.
        let certificates = listed.iter().map(|text| STANDARD.decode(text));
        certificates
            .collect::<Result<_, _>>()
            .map_err(|_| "is a token with a certificate that is not base64".into())
    }
}

/// What is signed of a token with this header and these claims.
pub(crate) fn signing_input(header: &serde_json::Value, claims: &serde_json::Value) -> String {
    let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

/// The whole token.
pub(crate) fn with_signature(signed: &str, signature: &[u8]) -> String {
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn object(what: &str, text: &str) -> Result<String, String> {
    let text = String::from_utf8(decode(what, text)?).map_err(|_| not_json(what))?;
    if !text.trim_start().starts_with('{') {
        return Err(not_json(what));
    }
    json::raw(text.as_bytes(), "").map_err(|_| not_json(what))?;
    Ok(text)
}

fn not_json(what: &str) -> String {
    format!("is a token whose {what} is no JSON object")
}

fn decode(what: &str, text: &str) -> Result<Vec<u8>, String> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| format!("is a token whose {what} is not base64url"))
}
