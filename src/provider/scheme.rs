//! Signature schemes with a public key.

use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};

use super::algorithm::Hash;
use super::key::{Kind, PublicKey};

/// How the provider signs with its private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Ed25519
    Ed25519,
    /// ECDSA on P-256 over SHA-256, the signature in DER.
    P256,
    /// The same, the signature being both numbers, 32 bytes each.
    P256Raw,
    /// ECDSA on P-256 over SHA-1, in DER: only where a provider still signs so.
    P256Sha1,
    /// ECDSA on P-384 over SHA-384, the signature in DER.
    P384,
    /// The same, the signature being both numbers, 48 bytes each.
    P384Raw,
    /// RSA (PKCS#1 v1.5) over SHA-256, from 2048 bits, as all of RSA but the next.
    RsaSha256,
    /// RSA (PKCS#1 v1.5) over SHA-1, from 1024 bits: only where a provider still signs so.
    RsaSha1,
    /// RSA (PKCS#1 v1.5) over SHA-384.
    RsaSha384,
    /// RSA (PKCS#1 v1.5) over SHA-512.
    RsaSha512,
    /// RSA (PSS) over SHA-256.
    PssSha256,
    /// RSA (PSS) over SHA-384.
    PssSha384,
    /// RSA (PSS) over SHA-512.
    PssSha512,
}

impl Scheme {
    /// Those that definitions name by themselves; the others are for JWS.
    pub(super) const ALL: [(&'static str, Self); 10] = [
        ("ed25519", Self::Ed25519),
        ("ecdsa-p256-sha256", Self::P256),
        ("ecdsa-p256-sha256-raw", Self::P256Raw),
        ("ecdsa-p256-sha1", Self::P256Sha1),
        ("ecdsa-p384-sha384", Self::P384),
        ("ecdsa-p384-sha384-raw", Self::P384Raw),
        ("rsa-sha256", Self::RsaSha256),
        ("rsa-sha1", Self::RsaSha1),
        ("rsa-sha384", Self::RsaSha384),
        ("rsa-sha512", Self::RsaSha512),
    ];

    /// The kind of key that it takes, and no other.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Ed25519 => Kind::Ed25519,
            Self::P256 | Self::P256Raw | Self::P256Sha1 => Kind::P256,
            Self::P384 | Self::P384Raw => Kind::P384,
            _ => Kind::Rsa,
        }
    }

    /// Whether the signature is right. Nothing in it is secret, so time does not matter.
    pub(crate) fn verifies(self, key: &PublicKey, text: &[u8], signature: &[u8]) -> bool {
        if key.kind() != self.kind() {
            return false;
        }
        let algorithm: &dyn VerificationAlgorithm = match self {
            Self::Ed25519 => &signature::ED25519,
            Self::P256 => &signature::ECDSA_P256_SHA256_ASN1,
            Self::P256Raw => &signature::ECDSA_P256_SHA256_FIXED,
            Self::P256Sha1 => return ecdsa_sha1(key.bytes(), text, signature).is_some(),
            Self::P384 => &signature::ECDSA_P384_SHA384_ASN1,
            Self::P384Raw => &signature::ECDSA_P384_SHA384_FIXED,
            Self::RsaSha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Self::RsaSha1 => &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
            Self::RsaSha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Self::RsaSha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Self::PssSha256 => &signature::RSA_PSS_2048_8192_SHA256,
            Self::PssSha384 => &signature::RSA_PSS_2048_8192_SHA384,
            Self::PssSha512 => &signature::RSA_PSS_2048_8192_SHA512,
        };
        UnparsedPublicKey::new(algorithm, key.bytes()).verify(text, signature).is_ok()
    }
}

/// `ring` has no ECDSA over SHA-1.
fn ecdsa_sha1(key: &[u8], text: &[u8], signature: &[u8]) -> Option<()> {
    let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(key).ok()?;
    let signature = p256::ecdsa::Signature::from_der(signature).ok()?;
    key.verify_prehash(&Hash::Sha1.digest(text), &signature).ok()
}
