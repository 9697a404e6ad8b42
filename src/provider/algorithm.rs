//! Hashes and signature schemes.

use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use sha3::Keccak256;
use smallvec::SmallVec;

use super::scheme::Scheme;

/// An authentication code; all of them fit on the stack.
pub(crate) type Tag = SmallVec<[u8; 64]>;

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
    pub(crate) fn hmac(self, key: &[u8], pieces: &[impl AsRef<[u8]>]) -> Tag {
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

fn mac<M: Mac + KeyInit>(key: &[u8], pieces: &[impl AsRef<[u8]>]) -> Tag {
    // HMAC takes a key of any length, so this never fails; an empty tag would fit no signature.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else { return Tag::new() };
    for piece in pieces {
        mac.update(piece.as_ref());
    }
    Tag::from_slice(&mac.finalize().into_bytes())
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
    Public(Scheme),
    /// A token in compact form (RFC 7515), which names one of the allowed algorithms.
    Jws,
    /// Nothing is proved.
    None,
    /// Nothing is signed: the provider is asked.
    FetchBack,
}

impl Algorithm {
    /// All names, for messages and the documentation's test.
    pub(crate) fn names() -> String {
        let hmacs = Hash::ALL.iter().filter(|(_, hash)| *hash != Hash::Keccak256);
        let hmacs = hmacs.map(|(name, _)| format!("hmac-{name}"));
        let hashes = Hash::ALL.iter().map(|(name, _)| (*name).to_owned());
        let others =
            ["token", "jws", "none", "fetch-back"].into_iter().chain(Scheme::ALL.map(|(name, _)| name));
        hmacs.chain(hashes).chain(others.map(str::to_owned)).collect::<Vec<_>>().join(", ")
    }

    /// By its name in definitions.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "token" => return Some(Self::Token),
            "jws" => return Some(Self::Jws),
            "none" => return Some(Self::None),
            "fetch-back" => return Some(Self::FetchBack),
            _ => {}
        }
        if let Some((_, scheme)) = Scheme::ALL.iter().find(|(known, _)| *known == name) {
            return Some(Self::Public(*scheme));
        }
        match name.strip_prefix("hmac-") {
            // Nobody makes an HMAC of Keccak.
            Some("keccak-256") => None,
            Some(hash) => Hash::from_name(hash).map(Self::Hmac),
            None => Hash::from_name(name).map(Self::Digest),
        }
    }

    /// Its name in definitions.
    pub(crate) fn name(self) -> String {
        let hash = |hash: Hash| Hash::ALL.iter().find(|(_, it)| *it == hash).map_or("", |(name, _)| *name);
        match self {
            Self::Hmac(it) => format!("hmac-{}", hash(it)),
            Self::Digest(it) => hash(it).to_owned(),
            Self::Token => "token".to_owned(),
            Self::Public(scheme) => {
                Scheme::ALL.iter().find(|(_, it)| *it == scheme).map_or("", |(name, _)| *name).to_owned()
            }
            Self::Jws => "jws".to_owned(),
            Self::None => "none".to_owned(),
            Self::FetchBack => "fetch-back".to_owned(),
        }
    }

    /// Whether the request itself proves anything.
    pub(crate) fn signs(self) -> bool {
        !matches!(self, Self::None | Self::FetchBack)
    }

    /// Whether the secret itself is sent.
    pub(crate) fn sends_secret(self) -> bool {
        self == Self::Token
    }
}
