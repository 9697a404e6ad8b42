//! TLS of the public listener: rustls over ring, TLS 1.2 and 1.3, HTTP/2 or HTTP/1.1 by ALPN.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;

/// Why the certificate or its key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read or holds nothing of the kind.
    #[error("{}: no {what} in PEM form could be read: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// `certificate` or `private key`.
        what: &'static str,
        /// What is wrong.
        why: pem::Error,
    },
    /// They do not belong together, or are of a kind that TLS does not know.
    #[error("{} and {}: {why}", certificate.display(), key.display())]
    Pair {
        /// The chain's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// What is wrong.
        why: rustls::Error,
    },
}

/// Reads the files and prepares the acceptor.
///
/// # Errors
/// [`TlsError`], which names the file.
pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, TlsError> {
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .and_then(|chain| if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) })
        .map_err(|why| unreadable(&tls.certificate, "certificate", why))?;
    let key =
        PrivateKeyDer::from_pem_file(&tls.key).map_err(|why| unreadable(&tls.key, "private key", why))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|why| TlsError::Pair { certificate: tls.certificate.clone(), key: tls.key.clone(), why })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unreadable(path: &Path, what: &'static str, why: pem::Error) -> TlsError {
    TlsError::File { path: path.to_owned(), what, why }
}
