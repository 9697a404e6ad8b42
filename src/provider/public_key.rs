//! Public keys as providers publish them: PEM, or the base64 of the same DER.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What a key should be, for messages.
pub(crate) const EXPECTED: &str = "is no public key as PEM (`-----BEGIN PUBLIC KEY-----`) or base64 DER";

const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;

/// The key inside a `SubjectPublicKeyInfo` (RFC 5280, 4.1): a point, an `RSAPublicKey` or 32 bytes. A bare
/// `RSAPublicKey` (`BEGIN RSA PUBLIC KEY`) is taken as it is.
pub(crate) fn read(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (bare, inner) = match text.strip_prefix("-----BEGIN ") {
        Some(pem) => {
            let (label, rest) = pem.split_once("-----")?;
            let (inner, _) = rest.split_once("-----END ")?;
            (label == "RSA PUBLIC KEY", inner)
        }
        None => (false, text),
    };
    // Environment variables often hold the line ends as `\n`.
    let inner = inner.replace("\\n", "");
    let der = STANDARD.decode(inner.split_ascii_whitespace().collect::<String>()).ok()?;
    if bare {
        return Some(der);
    }
    let (info, rest) = element(&der, SEQUENCE)?;
    let (_algorithm, key) = element(info, SEQUENCE)?;
    let (bits, end) = element(key, BIT_STRING)?;
    // The first byte counts the unused bits at the end: keys are whole bytes.
    let key = bits.strip_prefix(&[0])?;
    (rest.is_empty() && end.is_empty()).then(|| key.to_vec())
}

/// The content of the DER element of this kind that `der` begins with, and what follows it.
fn element(der: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&[tag, first], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        let bytes = rest.get(..count).filter(|_| (1..=4).contains(&count))?;
        let length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        (length, &rest[count..])
    };
    (tag == kind).then_some(())?;
    rest.split_at_checked(length)
}
