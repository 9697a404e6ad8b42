//! TLS beyond the usual, for one destination: authorities of its own, and a certificate of ours.

use hyper_rustls::ConfigBuilderExt as _;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::http::{no_roots, tls};

/// Whom one destination's certificate must come from, and what we show it. Built from PEM, checked at once.
#[derive(Default)]
pub struct Credentials {
    /// The only authorities that are believed; `None`: those of all other requests.
    roots: Option<RootCertStore>,
    /// Our certificate, with those between it and its root, and its key.
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
}

impl Credentials {
    /// Believes the authorities in `pem`, and no others.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn trust(&mut self, pem: &[u8]) -> Result<(), String> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(pem)? {
            roots.add(certificate).map_err(|error| format!("a certificate is no authority's: {error}"))?;
        }
        self.roots = Some(roots);
        Ok(())
    }

    /// Shows the certificate in `chain` to a destination that asks for one.
    ///
    /// # Errors
    /// What is wrong with it or its key. No part of the key is in it.
    pub fn present(&mut self, chain: &[u8], key: &[u8]) -> Result<(), String> {
        let chain = certificates(chain)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| unreadable("private key", &error))?;
        let builder =
            tls().map_err(|error| error.to_string())?.with_root_certificates(RootCertStore::empty());
        builder
            .with_client_auth_cert(chain.clone(), key.clone_key())
            .map_err(|error| format!("certificate and key do not go together: {error}"))?;
        self.identity = Some((chain, key));
        Ok(())
    }

    /// TLS with them. `others`: the roots of all other requests; `None`: those of this machine.
    pub(crate) fn tls(&self, others: Option<&RootCertStore>) -> Result<ClientConfig, String> {
        let builder = tls().map_err(|error| error.to_string())?;
        let builder = match self.roots.as_ref().or(others) {
            Some(roots) => builder.with_root_certificates(roots.clone()),
            None => builder.with_native_roots().map_err(|error| no_roots(&error))?,
        };
        match &self.identity {
            None => Ok(builder.with_no_client_auth()),
            Some((chain, key)) => builder
                .with_client_auth_cert(chain.clone(), key.clone_key())
                .map_err(|error| error.to_string()),
        }
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match all {
        Ok(all) if all.is_empty() => Err(unreadable("certificate", &pem::Error::NoItemsFound)),
        Ok(all) => Ok(all),
        Err(error) => Err(unreadable("certificate", &error)),
    }
}

fn unreadable(what: &str, why: &pem::Error) -> String {
    format!("no {what} in PEM form could be read: {why}")
}
