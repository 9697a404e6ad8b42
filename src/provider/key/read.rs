//! Public keys as providers publish them: PEM, the base64 of the same DER, certificates, JWK and sets of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Kind, PublicKey, certificate, jwk};

/// What a key should be, for messages.
pub(crate) const EXPECTED: &str = "is no public key: PEM (`-----BEGIN PUBLIC KEY-----`, `RSA PUBLIC KEY`, \
                                   `CERTIFICATE`), base64 DER of one, or a JWK or JWKS with RSA, P-256, P-384 or \
                                   Ed25519 keys";

/// All keys in a text, at least one. Of several certificates the first counts; of a JWKS every key of a known kind.
pub(crate) fn read(text: &[u8]) -> Option<Vec<PublicKey>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if text.starts_with('{') {
        return jwk::read(text);
    }
    let (label, der) = armoured(text)?;
    let key = match label {
        Some("RSA PUBLIC KEY") => PublicKey::new(Kind::Rsa, der),
        Some("PUBLIC KEY") => certificate::public_key(&der),
        Some("CERTIFICATE") => certificate::subject_key(&der),
        Some(_) => None,
        None => certificate::public_key(&der).or_else(|| certificate::subject_key(&der)),
    };
    Some(vec![key?])
}

/// Whether a text is a public key, and so never a shared secret.
pub(crate) fn is_public(text: &[u8]) -> bool {
    read(text).is_some()
}

/// The label (none for bare base64) and the DER of the first block. Line ends may be missing or written as `\n`, as
/// environment variables often have them.
pub(super) fn armoured(text: &str) -> Option<(Option<&str>, Vec<u8>)> {
    let (label, inner) = match text.strip_prefix("-----BEGIN ") {
        Some(pem) => {
            let (label, rest) = pem.split_once("-----")?;
            let (inner, _) = rest.split_once("-----END ")?;
            (Some(label), inner)
        }
        None => (None, text),
    };
    let inner = inner.replace("\\n", "");
    Some((label, STANDARD.decode(inner.split_ascii_whitespace().collect::<String>()).ok()?))
}
