//! Keys as what they are: a shared secret, a public key of one kind, a root certificate. No key is ever used as
//! another kind, so that nobody can make a public key count as a shared secret.

mod certificate;
mod jwk;
mod make;
mod private;
mod read;

pub(crate) use certificate::{certificate, certificates, names, subject_key};
pub(crate) use private::PrivateKey;
pub(crate) use read::{EXPECTED, is_public, read};

use crate::model::Secret;

/// What an endpoint's secret is to one variant.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// Both sides have it.
    Shared(Secret),
    /// The provider's public key.
    Public(PublicKey),
    /// A certificate (DER) in which the provider's chains end.
    Root(Vec<u8>),
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey {
    kind: Kind,
    /// As `ring` takes it: 32 bytes, an uncompressed point, or an `RSAPublicKey`.
    bytes: Vec<u8>,
    /// Its name (`kid`) in a set of keys.
    id: Option<String>,
}

/// What a public key is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Ed25519
    Ed25519,
    /// A point on P-256.
    P256,
    /// A point on P-384.
    P384,
    /// RSA
    Rsa,
}

impl Kind {
    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ed25519 => "an Ed25519 key",
            Self::P256 => "a key on P-256",
            Self::P384 => "a key on P-384",
            Self::Rsa => "an RSA key",
        }
    }

    fn fits(self, bytes: &[u8]) -> bool {
        let point = |half: usize| bytes.len() == 1 + 2 * half && bytes.first() == Some(&4);
        match self {
            Self::Ed25519 => bytes.len() == 32,
            Self::P256 => point(32),
            Self::P384 => point(48),
            Self::Rsa => bytes.first() == Some(&0x30),
        }
    }
}

impl PublicKey {
    /// A key of this kind; `None` where the bytes cannot be one.
    pub(crate) fn new(kind: Kind, bytes: Vec<u8>) -> Option<Self> {
        kind.fits(&bytes).then_some(Self { kind, bytes, id: None })
    }

    pub(super) fn named(mut self, id: Option<String>) -> Self {
        self.id = id;
        self
    }

    /// Its kind.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// As `ring` takes it.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its name in the set it came from.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}
