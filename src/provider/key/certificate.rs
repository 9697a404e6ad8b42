//! X.509: the keys and names in certificates. Whether a certificate is to be believed is the chain's business.

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::oid_registry::{
    OID_EC_P256, OID_KEY_TYPE_EC_PUBLIC_KEY, OID_NIST_EC_P384, OID_PKCS1_RSAENCRYPTION, OID_SIG_ED25519,
};
use x509_parser::prelude::FromDer as _;
use x509_parser::x509::SubjectPublicKeyInfo;

use super::read::armoured;
use super::{Kind, PublicKey};

/// A longer chain is nobody's.
const MAX_CERTIFICATES: usize = 10;

/// The certificates (DER) in a text, in their order: PEM blocks one after the other, or the base64 of one.
pub(crate) fn certificates(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = std::str::from_utf8(text).ok()?.trim();
    let mut out = Vec::new();
    while !rest.is_empty() {
        if out.len() == MAX_CERTIFICATES {
            return None;
        }
        let (label, der) = armoured(rest)?;
        if label.is_some_and(|label| label != "CERTIFICATE") {
            return None;
        }
        certificate(&der)?;
        out.push(der);
        rest = match rest.split_once("-----END CERTIFICATE-----") {
            Some((_, rest)) => rest.trim_start().trim_start_matches("\\n").trim(),
            None => "",
        };
    }
    (!out.is_empty()).then_some(out)
}

/// The key in a `SubjectPublicKeyInfo` (RFC 5280, 4.1).
pub(super) fn public_key(der: &[u8]) -> Option<PublicKey> {
    let (rest, info) = SubjectPublicKeyInfo::from_der(der).ok()?;
    if rest.is_empty() { key(&info) } else { None }
}

/// The key in a certificate.
pub(crate) fn subject_key(der: &[u8]) -> Option<PublicKey> {
    key(certificate(der)?.public_key())
}

/// The host names that a certificate is for.
pub(crate) fn names(der: &[u8]) -> Vec<String> {
    let Some(certificate) = certificate(der) else { return Vec::new() };
    let Ok(Some(alternatives)) = certificate.subject_alternative_name() else { return Vec::new() };
    let names = alternatives.value.general_names.iter().filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
        _ => None,
    });
    names.collect()
}

/// The whole of `der` as one certificate.
pub(crate) fn certificate(der: &[u8]) -> Option<X509Certificate<'_>> {
    let (rest, certificate) = X509Certificate::from_der(der).ok()?;
    rest.is_empty().then_some(certificate)
}

fn key(info: &SubjectPublicKeyInfo<'_>) -> Option<PublicKey> {
    let algorithm = &info.algorithm;
    let kind = if algorithm.algorithm == OID_PKCS1_RSAENCRYPTION {
        Kind::Rsa
    } else if algorithm.algorithm == OID_SIG_ED25519 {
        Kind::Ed25519
    } else if algorithm.algorithm == OID_KEY_TYPE_EC_PUBLIC_KEY {
        let curve = algorithm.parameters.as_ref()?.as_oid().ok()?;
        if curve == OID_EC_P256 {
            Kind::P256
        } else if curve == OID_NIST_EC_P384 {
            Kind::P384
        } else {
            return None;
        }
    } else {
        return None;
    };
    // Keys are whole bytes.
    let bits = &info.subject_public_key;
    if bits.unused_bits != 0 {
        return None;
    }
    PublicKey::new(kind, bits.data.to_vec())
}
