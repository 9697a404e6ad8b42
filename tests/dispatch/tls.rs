//! HTTPS: who is believed, and what happens with all others.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use bytes::Bytes;
use hookgate::config::{Destination, DestinationKind};
use hookgate::egress::{Credentials, Network};
use hookgate::model::Attempt;
use http::{Response, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{CertificateParams, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::fixture::{Names, Reply, Server, dispatcher, ending, forward, network, now, private};

/// A certificate authority of the test's own.
struct Authority(Issuer<'static, KeyPair>, CertificateDer<'static>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self(Issuer::new(params, key), certificate)
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.1.clone()).unwrap();
        roots
    }

    fn issue(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap().der().clone();
        (certificate, PrivateKeyDer::try_from(key.serialize_der()).unwrap())
    }
}

type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

/// A server that says which HTTP version each request came in.
async fn serve(identity: Identity, alpn: &[&[u8]]) -> (SocketAddr, mpsc::UnboundedReceiver<Version>) {
    serve_those(identity, alpn, WebPkiClientVerifier::no_client_auth()).await
}

/// The same, for those clients that `verifier` lets in.
async fn serve_those(
    (certificate, key): Identity,
    alpn: &[&[u8]],
    verifier: Arc<dyn ClientCertVerifier>,
) -> (SocketAddr, mpsc::UnboundedReceiver<Version>) {
    let mut config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate], key)
            .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, versions) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, seen) = (acceptor.clone(), seen.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let answer = service_fn(|request: http::Request<Incoming>| {
                    let _ = seen.send(request.version());
                    async { Ok::<_, std::convert::Infallible>(Response::new(Full::new(Bytes::new()))) }
                });
                let server = auto::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    (address, versions)
}

async fn deliver(address: SocketAddr, roots: RootCertStore) -> Attempt {
    let network = Network {
        roots: Some(roots),
        connect_timeout: Duration::from_secs(5),
        ..network(Names::of("crm.test", &[&["127.0.0.1"]]))
    };
    let destination = private(&format!("https://crm.test:{}/", address.port()));
    dispatcher(&network, &destination).send(&destination, &forward("{}", &[]), 1, now()).await
}

#[tokio::test]
async fn a_certificate_of_a_known_authority_is_believed_and_http_2_is_spoken_where_offered() {
    let authority = Authority::new();
    let offers: [(&[&[u8]], Version); 3] = [
        (&[b"h2", b"http/1.1"], Version::HTTP_2),
        (&[b"http/1.1"], Version::HTTP_11),
        (&[], Version::HTTP_11),
    ];
    for (alpn, version) in offers {
        let (address, mut versions) = serve(authority.issue("crm.test", |_| ()), alpn).await;
        let attempt = deliver(address, authority.roots()).await;
        assert_eq!(ending(&attempt), ("succeeded", None, Some(200)));
        assert_eq!(versions.recv().await, Some(version));
    }
}

#[tokio::test]
async fn a_certificate_that_proves_nothing_is_a_tls_failure() {
    let authority = Authority::new();
    let expired = |params: &mut CertificateParams| params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    for (case, identity) in [
        ("of an unknown authority", Authority::new().issue("crm.test", |_| ())),
        ("for another name", authority.issue("other.test", |_| ())),
        ("expired", authority.issue("crm.test", expired)),
    ] {
        let (address, mut versions) = serve(identity, &[b"http/1.1"]).await;
        let attempt = deliver(address, authority.roots()).await;
        assert_eq!(ending(&attempt), ("failed", Some("tls"), None), "{case}");
        assert!(versions.try_recv().is_err(), "{case}: nothing was sent");
    }
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_a_tls_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let attempt = deliver(address, RootCertStore::empty()).await;
    assert_eq!(ending(&attempt), ("failed", Some("tls"), None));
    server.await.unwrap();
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_given_up_before_the_whole_delivery() {
    let server = Server::start(Reply::Silence).await;
    let destination = private(&format!("https://crm.test:{}/", server.address.port()));
    let network = Network {
        connect_timeout: Duration::from_millis(200),
        ..network(Names::of("crm.test", &[&["127.0.0.1"]]))
    };
    let attempt = dispatcher(&network, &destination).send(&destination, &forward("{}", &[]), 1, now()).await;
    assert_eq!(ending(&attempt), ("failed", Some("connect.timeout"), None));
}

fn pem(label: &str, der: &[u8]) -> Vec<u8> {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n")).into_bytes()
}

#[tokio::test]
async fn own_authorities_and_a_certificate_of_ours_are_used_and_those_without_are_not_let_in() {
    let (theirs, ours) = (Authority::new(), Authority::new());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(ours.roots()), provider).build().unwrap();
    let (address, mut versions) =
        serve_those(theirs.issue("crm.test", |_| ()), &[b"http/1.1"], verifier).await;
    let (certificate, key) = ours.issue("gateway.test", |_| ());
    let (certificate, key) = (pem("CERTIFICATE", &certificate), pem("PRIVATE KEY", key.secret_der()));
    let with = |trust: bool, present: bool| {
        let mut credentials = Credentials::default();
        if trust {
            credentials.trust(&pem("CERTIFICATE", &theirs.1)).unwrap();
        }
        if present {
            credentials.present(&certificate, &key).unwrap();
        }
        let plain = private(&format!("https://crm.test:{}/", address.port()));
        let DestinationKind::Http { url, allow_private, .. } = plain.kind.clone() else { panic!("HTTP") };
        let kind = DestinationKind::Http { url, allow_private, credentials: Some(Arc::new(credentials)) };
        Destination { kind, ..plain }
    };
    let network = Network {
        connect_timeout: Duration::from_secs(5),
        ..network(Names::of("crm.test", &[&["127.0.0.1"]]))
    };
    for (trust, present, expected) in
        [(true, true, "succeeded"), (true, false, "failed"), (false, true, "failed")]
    {
        let destination = with(trust, present);
        let attempt =
            dispatcher(&network, &destination).send(&destination, &forward("{}", &[]), 1, now()).await;
        assert_eq!(attempt.outcome.as_str(), expected, "{trust} {present}: {:?}", attempt.error);
    }
    assert!(versions.recv().await.is_some());
    assert!(versions.try_recv().is_err(), "one request came in");
}
