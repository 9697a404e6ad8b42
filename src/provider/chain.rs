//! Which chains of certificates are believed: those in a token's header, and those that are fetched.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, TrustAnchor, UnixTime};
use webpki::{EndEntityCert, Error, ExtendedKeyUsageValidator, KeyPurposeIdIter, VerifiedPath};
use x509_parser::der_parser::oid::Oid;

use super::key::{PublicKey, certificate, names, subject_key};
use super::names::matches_labels;
use crate::clock::Timestamp;

/// The rules.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) roots: Roots,
    /// An extension that the signer's certificate must have.
    pub(crate) leaf_oid: Option<Oid<'static>>,
    /// One that the certificate above it must have.
    pub(crate) intermediate_oid: Option<Oid<'static>>,
    /// Host names of which the signer's certificate must have one; empty: any.
    pub(crate) names: Vec<String>,
}

/// Where chains end.
#[derive(Clone, Debug)]
pub(crate) enum Roots {
    /// At a public authority.
    Public,
    /// At a public authority, or at one of these.
    PublicOr(Vec<Arc<[u8]>>),
    /// At one of these certificates (DER).
    These(Vec<Arc<[u8]>>),
}

impl Chain {
    /// The signer's key, if `certificates` (DER, the signer's first) are a chain that these rules believe at `now`.
    ///
    /// # Errors
    /// Which rule does not hold, as what follows "the certificate".
    pub(crate) fn key(&self, certificates: &[Vec<u8>], now: Timestamp) -> Result<PublicKey, String> {
        let public = || self.ends_in(webpki_roots::TLS_SERVER_ROOTS, certificates, now);
        match &self.roots {
            Roots::Public => public(),
            Roots::PublicOr(roots) => public().or_else(|_| self.ends_in_one_of(roots, certificates, now)),
            Roots::These(roots) => self.ends_in_one_of(roots, certificates, now),
        }
    }

    fn ends_in_one_of(
        &self,
        roots: &[Arc<[u8]>],
        certificates: &[Vec<u8>],
        now: Timestamp,
    ) -> Result<PublicKey, String> {
        let roots: Vec<CertificateDer<'_>> = roots.iter().map(|der| CertificateDer::from(&**der)).collect();
        let anchors: Result<Vec<TrustAnchor<'_>>, _> =
            roots.iter().map(webpki::anchor_from_trusted_cert).collect();
        let anchors = anchors.map_err(|_| "cannot be judged: a root is no certificate of an authority")?;
        self.ends_in(&anchors, certificates, now)
    }

    /// The same rules with another root, given by the operator.
    pub(crate) fn with_root(&self, root: &[u8]) -> Self {
        Self { roots: Roots::These(vec![Arc::from(root)]), ..self.clone() }
    }

    fn ends_in(
        &self,
        anchors: &[TrustAnchor<'_>],
        certificates: &[Vec<u8>],
        now: Timestamp,
    ) -> Result<PublicKey, String> {
        let (leaf, above) = certificates.split_first().ok_or("is missing")?;
        let der = CertificateDer::from(leaf.as_slice());
        let above: Vec<CertificateDer<'_>> =
            above.iter().map(|der| CertificateDer::from(der.as_slice())).collect();
        let signer = EndEntityCert::try_from(&der).map_err(|_| "cannot be read")?;
        let seconds = u64::try_from(now.timestamp()).unwrap_or_default();
        let lacks = Cell::new(false);
        let path = |path: &VerifiedPath<'_>| self.intermediate(path, &lacks);
        signer
            .verify_for_usage(
                webpki::ALL_VERIFICATION_ALGS,
                anchors,
                &above,
                UnixTime::since_unix_epoch(Duration::from_secs(seconds)),
                AnyUsage,
                None,
                Some(&path),
            )
            .map_err(|error| why(&error, lacks.get()))?;
        if !has(leaf, self.leaf_oid.as_ref()) {
            return Err("lacks the extension that the signer's must have".into());
        }
        self.named(leaf)?;
        subject_key(leaf).ok_or_else(|| "has a key of a kind that is not known here".into())
    }

    /// Looked at in the path that was found: an unrelated certificate beside it proves nothing.
    fn intermediate(&self, path: &VerifiedPath<'_>, lacks: &Cell<bool>) -> Result<(), Error> {
        let Some(oid) = &self.intermediate_oid else { return Ok(()) };
        let above = path.intermediate_certificates().next();
        let fits = above.is_some_and(|above| has(&above.der(), Some(oid)));
        lacks.set(!fits);
        if fits { Ok(()) } else { Err(Error::UnknownIssuer) }
    }

    fn named(&self, leaf: &[u8]) -> Result<(), String> {
        let fits = |name: &String| self.names.iter().any(|glob| matches_labels(glob, name));
        if self.names.is_empty() || names(leaf).iter().any(fits) {
            return Ok(());
        }
        Err(format!("is for none of the hosts {}", self.names.join(", ")))
    }
}

/// What certificates may be used for is said by the rules: their extensions, names and roots.
struct AnyUsage;

impl ExtendedKeyUsageValidator for AnyUsage {
    fn validate(&self, _: KeyPurposeIdIter<'_, '_>) -> Result<(), Error> {
        Ok(())
    }
}

fn has(der: &[u8], oid: Option<&Oid<'_>>) -> bool {
    let Some(oid) = oid else { return true };
    certificate(der).is_some_and(|it| it.extensions().iter().any(|extension| extension.oid == *oid))
}

fn why(error: &Error, lacks: bool) -> String {
    match error {
        _ if lacks => {
            "is of a chain in which the certificate above it lacks the extension that it must have".into()
        }
        Error::CertExpired { .. } => "is of a chain that has expired".into(),
        Error::CertNotValidYet { .. } => "is of a chain that is not valid yet".into(),
        Error::UnknownIssuer => "is of a chain that does not end in one of the roots".into(),
        _ => format!("is of a chain that does not hold ({error:?})"),
    }
}
