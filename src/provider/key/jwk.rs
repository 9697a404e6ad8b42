//! JSON Web Keys and sets of them (RFC 7517, 7518, 8037).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use super::{Kind, PublicKey};

/// A set with more keys is refused: each could have to be tried.
const MAX_KEYS: usize = 64;

#[derive(Deserialize)]
struct Set {
    keys: Vec<Jwk>,
}

/// What is read of a key. Whatever it says about certificates and addresses is not looked at.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

/// The keys of known kinds in a JWK or a JWKS, at least one.
pub(super) fn read(text: &str) -> Option<Vec<PublicKey>> {
    let jwks = match serde_json::from_str::<Set>(text) {
        Ok(set) => set.keys,
        Err(_) => vec![serde_json::from_str::<Jwk>(text).ok()?],
    };
    if jwks.len() > MAX_KEYS {
        return None;
    }
    let keys: Vec<PublicKey> = jwks.into_iter().filter_map(key).collect();
    (!keys.is_empty()).then_some(keys)
}

fn key(jwk: Jwk) -> Option<PublicKey> {
    if jwk.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let key = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => PublicKey::new(Kind::Rsa, rsa(&bytes(jwk.n.as_deref())?, &bytes(jwk.e.as_deref())?)),
        ("EC", Some("P-256")) => point(Kind::P256, 32, &jwk),
        ("EC", Some("P-384")) => point(Kind::P384, 48, &jwk),
        ("OKP", Some("Ed25519")) => PublicKey::new(Kind::Ed25519, bytes(jwk.x.as_deref())?),
        _ => None,
    };
    Some(key?.named(jwk.kid))
}

fn point(kind: Kind, half: usize, jwk: &Jwk) -> Option<PublicKey> {
    let (x, y) = (bytes(jwk.x.as_deref())?, bytes(jwk.y.as_deref())?);
    let whole = x.len() == half && y.len() == half;
    if whole { PublicKey::new(kind, [&[4], x.as_slice(), &y].concat()) } else { None }
}

fn bytes(text: Option<&str>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?.trim_end_matches('=')).ok()
}

/// An `RSAPublicKey` (RFC 8017, A.1.1).
fn rsa(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    der(0x30, &[number(modulus), number(exponent)].concat())
}

fn number(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[zeros..];
    // The first bit is the sign.
    let sign: &[u8] = if bytes.first().is_none_or(|first| *first >= 0x80) { &[0] } else { &[] };
    der(0x02, &[sign, bytes].concat())
}

fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let zeros = length.iter().take_while(|byte| **byte == 0).count();
    let length = &length[zeros..];
    let mut out = vec![tag];
    match length {
        [] => out.push(0),
        [short] if *short < 0x80 => out.push(*short),
        // At most eight bytes of length.
        long => {
            out.push(0x80 | u8::try_from(long.len()).unwrap_or_default());
            out.extend_from_slice(long);
        }
    }
    out.extend_from_slice(content);
    out
}
