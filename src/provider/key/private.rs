//! Private keys, to sign as a provider would: for tests, `sign` and `send`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use p256::ecdsa::signature::hazmat::PrehashSigner as _;
use p256::pkcs8::DecodePrivateKey as _;
use ring::rand::SystemRandom;
use ring::signature::{self, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, RsaEncoding, RsaKeyPair};

use super::read::armoured;
use crate::provider::algorithm::Hash;
use crate::provider::scheme::Scheme;

/// What a private key should be, for messages.
const EXPECTED: &str = "signing needs the private key: PEM (`-----BEGIN PRIVATE KEY-----`), or for Ed25519 its seed \
                        of 32 bytes as hex or base64";

/// A private key.
pub(crate) struct PrivateKey(Form);

enum Form {
    /// PKCS#8 DER.
    Pkcs8(Vec<u8>),
    /// An `RSAPrivateKey`.
    Rsa(Vec<u8>),
    /// Ed25519's 32 bytes.
    Seed(Vec<u8>),
}

impl PrivateKey {
    /// Reads a key; whether it fits a scheme shows when it signs.
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|_| EXPECTED)?.trim();
        if text.starts_with("-----BEGIN ") {
            return match armoured(text) {
                Some((Some("PRIVATE KEY"), der)) => Ok(Self(Form::Pkcs8(der))),
                Some((Some("RSA PRIVATE KEY"), der)) => Ok(Self(Form::Rsa(der))),
                _ => Err(EXPECTED.into()),
            };
        }
        let text = text.strip_prefix("whsk_").unwrap_or(text);
        let decoded = hex::decode(text).ok().or_else(|| {
            let url_safe = || URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
            STANDARD.decode(text).ok().or_else(url_safe)
        });
        match decoded {
            // Some write the public key behind the seed.
            Some(mut bytes) if matches!(bytes.len(), 32 | 64) => {
                bytes.truncate(32);
                Ok(Self(Form::Seed(bytes)))
            }
            _ => Err(EXPECTED.into()),
        }
    }

    /// The signature over `text`.
    pub(crate) fn sign(&self, scheme: Scheme, text: &[u8]) -> Result<Vec<u8>, String> {
        match scheme {
            Scheme::Ed25519 => self.ed25519(text),
            Scheme::P256 => self.ecdsa(&signature::ECDSA_P256_SHA256_ASN1_SIGNING, text),
            Scheme::P256Raw => self.ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, text),
            Scheme::P384 => self.ecdsa(&signature::ECDSA_P384_SHA384_ASN1_SIGNING, text),
            Scheme::P384Raw => self.ecdsa(&signature::ECDSA_P384_SHA384_FIXED_SIGNING, text),
            Scheme::P256Sha1 => self.ecdsa_sha1(text),
            Scheme::RsaSha256 => self.rsa(&signature::RSA_PKCS1_SHA256, text),
            Scheme::RsaSha384 => self.rsa(&signature::RSA_PKCS1_SHA384, text),
            Scheme::RsaSha512 => self.rsa(&signature::RSA_PKCS1_SHA512, text),
            Scheme::PssSha256 => self.rsa(&signature::RSA_PSS_SHA256, text),
            Scheme::PssSha384 => self.rsa(&signature::RSA_PSS_SHA384, text),
            Scheme::PssSha512 => self.rsa(&signature::RSA_PSS_SHA512, text),
            Scheme::RsaSha1 => Err("RSA with SHA-1 is only checked here, never made".into()),
        }
    }

    fn ed25519(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let pair = match &self.0 {
            Form::Seed(seed) => Ed25519KeyPair::from_seed_unchecked(seed),
            Form::Pkcs8(der) => Ed25519KeyPair::from_pkcs8_maybe_unchecked(der),
            Form::Rsa(_) => return Err(wrong("Ed25519")),
        };
        Ok(pair.map_err(|_| wrong("Ed25519"))?.sign(text).as_ref().to_vec())
    }

    fn ecdsa(&self, algorithm: &'static EcdsaSigningAlgorithm, text: &[u8]) -> Result<Vec<u8>, String> {
        let Form::Pkcs8(der) = &self.0 else { return Err(wrong("ECDSA")) };
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, der, &random).map_err(|_| wrong("ECDSA"))?;
        Ok(pair.sign(&random, text).map_err(|_| wrong("ECDSA"))?.as_ref().to_vec())
    }

    fn ecdsa_sha1(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let Form::Pkcs8(der) = &self.0 else { return Err(wrong("ECDSA")) };
        let key = p256::ecdsa::SigningKey::from_pkcs8_der(der).map_err(|_| wrong("ECDSA"))?;
        let signature: p256::ecdsa::Signature =
            key.sign_prehash(&Hash::Sha1.digest(text)).map_err(|_| wrong("ECDSA"))?;
        Ok(signature.to_der().as_bytes().to_vec())
    }

    fn rsa(&self, padding: &'static dyn RsaEncoding, text: &[u8]) -> Result<Vec<u8>, String> {
        let pair = match &self.0 {
            Form::Pkcs8(der) => RsaKeyPair::from_pkcs8(der),
            Form::Rsa(der) => RsaKeyPair::from_der(der),
            Form::Seed(_) => return Err(wrong("RSA")),
        };
        let pair = pair.map_err(|_| wrong("RSA"))?;
        let mut signature = vec![0; pair.public().modulus_len()];
        pair.sign(padding, &SystemRandom::new(), text, &mut signature).map_err(|_| wrong("RSA"))?;
        Ok(signature)
    }
}

fn wrong(scheme: &str) -> String {
    format!("the secret is no private key for {scheme}")
}
