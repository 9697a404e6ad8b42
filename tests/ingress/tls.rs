//! TLS at the gateway's own door.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hookgate::config::Tls;
use hookgate::ingress::acceptor;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::rig::{Rig, http2, limits, read_answer, read_to_end};

struct Files {
    _folder: tempfile::TempDir,
    tls: Tls,
    certificate: CertificateDer<'static>,
}

fn files() -> Files {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let tls = Tls {
        certificate: write("chain.pem", made.cert.pem()),
        key: write("key.pem", made.signing_key.serialize_pem()),
    };
    Files { certificate: made.cert.der().clone(), _folder: folder, tls }
}

async fn rig(files: &Files, idle: Duration) -> Rig {
    let acceptor = acceptor(&files.tls).unwrap();
    Rig::start(limits(10, idle), Duration::ZERO, Duration::from_mins(1), Some(acceptor)).await
}

async fn connect(rig: &Rig, files: &Files, protocol: &[u8]) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(files.certificate.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, rig.connect().await).await.expect("a handshake")
}

#[tokio::test]
async fn both_protocols_are_spoken_over_tls() {
    let files = files();
    let rig = rig(&files, Duration::from_mins(1)).await;
    let stream = connect(&rig, &files, b"h2").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    assert_eq!(http2(stream, "/", "hello").await.unwrap(), (200, "hello".into()));

    let mut stream = connect(&rig, &files, b"http/1.1").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"http/1.1".as_slice()));
    stream.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi").await.unwrap();
    assert!(read_answer(&mut stream).await.ends_with("hi"));
}

#[tokio::test]
async fn a_client_that_never_shakes_hands_is_cut() {
    let files = files();
    let rig = rig(&files, Duration::from_millis(200)).await;
    read_to_end(rig.connect().await).await;
    read_to_end(rig.send(b"\x16\x03\x01").await).await;
}

#[tokio::test]
async fn a_client_that_never_shakes_hands_does_not_hold_up_the_end() {
    let files = files();
    let rig = rig(&files, Duration::from_mins(1)).await;
    let _silent = rig.connect().await;
    assert!(rig.stop().await.clean);
}

#[test]
fn unusable_files_are_named_in_the_error() {
    let good = files();
    let other = files();
    let missing = Tls { certificate: "/nowhere/chain.pem".into(), key: good.tls.key.clone() };
    assert!(acceptor(&missing).err().unwrap().to_string().contains("/nowhere/chain.pem"));
    let swapped = Tls { certificate: good.tls.key.clone(), key: good.tls.certificate.clone() };
    assert!(acceptor(&swapped).err().unwrap().to_string().contains("no certificate in PEM form"));
    let strangers = Tls { certificate: good.tls.certificate.clone(), key: other.tls.key.clone() };
    assert!(acceptor(&strangers).err().unwrap().to_string().contains("key.pem"));
}
