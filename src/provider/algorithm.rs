//! Hashes and signature schemes.

use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use ring::signature::{self, UnparsedPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use sha3::Keccak256;

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    /// Only where a provider still signs with it.
    Md5,
    /// Only where a provider still signs with it; HMAC-SHA-1 itself is not broken.
    Sha1,
    /// SHA-256
    Sha256,
    /// SHA-384
    Sha384,
    /// SHA-512
    Sha512,
    /// Keccak-256 as Ethereum has it, which is not SHA3-256.
    Keccak256,
}

impl Hash {
    const ALL: [(&'static str, Self); 6] = [
        ("md5", Self::Md5),
        ("sha1", Self::Sha1),
        ("sha256", Self::Sha256),
        ("sha384", Self::Sha384),
        ("sha512", Self::Sha512),
        ("keccak-256", Self::Keccak256),
    ];

    /// By its name in definitions.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, hash)| *hash)
    }

    /// The digest of one value.
    pub(crate) fn digest(self, value: &[u8]) -> Vec<u8> {
        match self {
            Self::Md5 => Md5::digest(value).to_vec(),
            Self::Sha1 => Sha1::digest(value).to_vec(),
            Self::Sha256 => Sha256::digest(value).to_vec(),
            Self::Sha384 => Sha384::digest(value).to_vec(),
            Self::Sha512 => Sha512::digest(value).to_vec(),
            Self::Keccak256 => Keccak256::digest(value).to_vec(),
        }
    }

    /// The HMAC of pieces in order.
    pub(crate) fn hmac(self, key: &[u8], pieces: &[impl AsRef<[u8]>]) -> Vec<u8> {
        match self {
            Self::Md5 => mac::<Hmac<Md5>>(key, pieces),
            Self::Sha1 => mac::<Hmac<Sha1>>(key, pieces),
            Self::Sha256 => mac::<Hmac<Sha256>>(key, pieces),
            Self::Sha384 => mac::<Hmac<Sha384>>(key, pieces),
            Self::Sha512 => mac::<Hmac<Sha512>>(key, pieces),
            Self::Keccak256 => mac::<Hmac<Keccak256>>(key, pieces),
        }
    }
}

fn mac<M: Mac + KeyInit>(key: &[u8], pieces: &[impl AsRef<[u8]>]) -> Vec<u8> {
    // HMAC takes a key of any length, so this never fails; an empty tag would fit no signature.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else { return Vec::new() };
    for piece in pieces {
        mac.update(piece.as_ref());
    }
    mac.finalize().into_bytes().to_vec()
}

/// How a signature is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// A keyed hash of the signed text.
    Hmac(Hash),
    /// A plain hash of the signed text, which holds the secret.
    Digest(Hash),
    /// The secret itself is sent.
    Token,
    /// With a private key of the provider's; ours is the public key.
    Public(PublicKey),
}

/// A signature scheme with a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    /// Ed25519; the key has 32 bytes.
    Ed25519,
    /// ECDSA on P-256 over SHA-256, the signature in DER; the key is an uncompressed point.
    P256,
    /// The same, the signature being both numbers, 32 bytes each.
    P256Raw,
    /// RSA (PKCS#1 v1.5) over SHA-256; the key is an `RSAPublicKey` of 2048 bits or more.
    RsaSha256,
    /// The same over SHA-1, from 1024 bits: only where a provider still signs so.
    RsaSha1,
}

impl PublicKey {
    const ALL: [(&'static str, Self); 5] = [
        ("ed25519", Self::Ed25519),
        ("ecdsa-p256-sha256", Self::P256),
        ("ecdsa-p256-sha256-raw", Self::P256Raw),
        ("rsa-sha256", Self::RsaSha256),
        ("rsa-sha1", Self::RsaSha1),
    ];

    /// Whether the signature is right. Nothing in it is secret, so time does not matter.
    pub(crate) fn verifies(self, key: &[u8], text: &[u8], signature: &[u8]) -> bool {
        let algorithm: &dyn signature::VerificationAlgorithm = match self {
            Self::Ed25519 => &signature::ED25519,
            Self::P256 => &signature::ECDSA_P256_SHA256_ASN1,
            Self::P256Raw => &signature::ECDSA_P256_SHA256_FIXED,
            Self::RsaSha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Self::RsaSha1 => &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
        };
        UnparsedPublicKey::new(algorithm, key).verify(text, signature).is_ok()
    }
}

impl Algorithm {
    /// All names, for messages and the documentation's test.
    pub(crate) const NAMES: [&'static str; 17] = [
        "hmac-md5",
        "hmac-sha1",
        "hmac-sha256",
        "hmac-sha384",
        "hmac-sha512",
        "md5",
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "keccak-256",
        "token",
        "ed25519",
        "ecdsa-p256-sha256",
        "ecdsa-p256-sha256-raw",
        "rsa-sha256",
        "rsa-sha1",
    ];

    /// By its name in definitions.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        if name == "token" {
            return Some(Self::Token);
        }
        if let Some((_, scheme)) = PublicKey::ALL.iter().find(|(known, _)| *known == name) {
            return Some(Self::Public(*scheme));
        }
        match name.strip_prefix("hmac-") {
            // Nobody makes an HMAC of Keccak.
            Some("keccak-256") => None,
            Some(hash) => Hash::from_name(hash).map(Self::Hmac),
            None => Hash::from_name(name).map(Self::Digest),
        }
    }

    /// Whether the secret itself is sent.
    pub(crate) fn sends_secret(self) -> bool {
        self == Self::Token
    }

    /// Whether whoever verifies can also sign.
    pub(crate) fn is_symmetric(self) -> bool {
        !matches!(self, Self::Public(_))
    }
}
