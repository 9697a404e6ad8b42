//! What signs: a shared secret, or a private key.

use std::borrow::Cow;

use super::keyring;
use crate::model::Secret;
use crate::provider::{Algorithm, JwsAlgorithm, Key, PrivateKey, TokenRules, Variant};

/// What signs.
pub(super) enum Pen {
    /// The key of a scheme in which both sides have it.
    Shared(Secret),
    /// The key that only the provider has.
    Private(PrivateKey),
}

impl Pen {
    /// Reads `secret` as what `variant` signs with.
    pub(super) fn new(variant: &Variant, secret: &Secret) -> Result<Self, String> {
        if variant.chain.is_some() {
            return Err("the provider signs with certificates that only it has".into());
        }
        if !variant.is_symmetric() {
            let private = PrivateKey::read(secret.expose());
            if private.is_ok() || !variant.token.as_ref().is_some_and(TokenRules::takes_shared) {
                return private.map(Self::Private);
            }
        }
        match keyring::decode(variant, secret)?.swap_remove(0) {
            Key::Shared(secret) => Ok(Self::Shared(secret)),
            Key::Public(_) | Key::Root(_) => Err("a public key signs nothing: the private one does".into()),
        }
    }

    /// The secret's text, for schemes that hash it.
    pub(super) fn shared(&self) -> Option<&[u8]> {
        match self {
            Self::Shared(secret) => Some(secret.expose()),
            Self::Private(_) => None,
        }
    }

    /// The signature over `text`.
    pub(super) fn sign(&self, algorithm: Algorithm, text: &[Cow<'_, [u8]>]) -> Result<Vec<u8>, String> {
        match (algorithm, self) {
            (Algorithm::Hmac(hash), Self::Shared(secret)) => Ok(hash.hmac(secret.expose(), text).into_vec()),
            (Algorithm::Digest(hash), Self::Shared(_)) => Ok(hash.digest(&text.concat())),
            (Algorithm::Token, Self::Shared(secret)) => Ok(secret.expose().to_vec()),
            (Algorithm::Public(scheme), Self::Private(key)) => key.sign(scheme, &text.concat()),
            _ => Err("the secret is of another kind than the scheme's".into()),
        }
    }

    /// The first allowed algorithm of a token that this can sign with, and the signature over what `text` makes of it.
    pub(super) fn sign_token(
        &self,
        rules: &TokenRules,
        text: impl Fn(JwsAlgorithm) -> String,
    ) -> Result<(String, Vec<u8>), String> {
        let mut problem = String::from("no algorithm is allowed");
        for algorithm in &rules.allow {
            let text = text(*algorithm);
            let signed = match (algorithm, self) {
                (JwsAlgorithm::Shared(hash), Self::Shared(secret)) => {
                    Ok(hash.hmac(secret.expose(), &[text.as_bytes()]).into_vec())
                }
                (JwsAlgorithm::Public(scheme), Self::Private(key)) => key.sign(*scheme, text.as_bytes()),
                _ => Err("the secret is of another kind than the token's algorithm".into()),
            };
            match signed {
                Ok(signature) => return Ok((text, signature)),
                Err(why) => problem = why,
            }
        }
        Err(problem)
    }
}
