//! A provider on this machine: it answers as it is told, and counts what it was asked.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// One request: its head and its body.
#[derive(Clone, Debug)]
pub struct Asked {
    pub head: String,
    pub body: String,
}

/// What the provider answers; `None`: nothing, ever.
type Answer = dyn Fn(&Asked) -> Option<String> + Send + Sync;

#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    answer: Arc<Mutex<Arc<Answer>>>,
    /// Each answer waits for one of these.
    gate: Arc<Semaphore>,
}

impl Server {
    /// Over plain HTTP.
    pub async fn start(answer: impl Fn(&Asked) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::listen(answer, None).await
    }

    /// Over TLS, with the roots that believe its certificate for `name`.
    pub async fn start_tls(
        name: &str,
        answer: impl Fn(&Asked) -> Option<String> + Send + Sync + 'static,
    ) -> (Self, RootCertStore) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(params.self_signed(&key).unwrap().der().clone()).unwrap();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
        let config =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(
                    vec![leaf.der().clone()],
                    PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
                )
                .unwrap();
        (Self::listen(answer, Some(TlsAcceptor::from(Arc::new(config)))).await, roots)
    }

    async fn listen(
        answer: impl Fn(&Asked) -> Option<String> + Send + Sync + 'static,
        tls: Option<TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let answer: Arc<Answer> = Arc::new(answer);
        let server = Self {
            address: listener.local_addr().expect("bound"),
            asked: Arc::default(),
            answer: Arc::new(Mutex::new(answer)),
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (server, tls) = (serving.clone(), tls.clone());
                tokio::spawn(async move {
                    let _ = match tls {
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => server.talk(stream).await,
                            Err(error) => Err(error),
                        },
                        None => server.talk(stream).await,
                    };
                });
            }
        });
        server
    }

    async fn talk(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        while let Some(asked) = read(&mut stream).await? {
            self.asked.lock().unwrap().push(asked.clone());
            let answer = Arc::clone(&self.answer.lock().unwrap());
            self.gate.acquire().await.expect("open").forget();
            match answer(&asked) {
                Some(bytes) => {
                    stream.write_all(bytes.as_bytes()).await?;
                    stream.flush().await?;
                }
                None => {
                    stream.read_to_end(&mut Vec::new()).await?;
                }
            }
        }
        Ok(())
    }

    /// From now on it answers in another way.
    pub fn answers(&self, answer: impl Fn(&Asked) -> Option<String> + Send + Sync + 'static) {
        *self.answer.lock().unwrap() = Arc::new(answer);
    }

    /// Answers wait from now on; what is let go opens again.
    pub fn hold(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub fn let_go(&self) {
        self.gate.add_permits(1000);
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.asked().len()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// An answer with a body.
pub fn ok(body: &str) -> Option<String> {
    with("200 OK", "", body)
}

#[expect(clippy::unnecessary_wraps, reason = "what a server answers; silence is the other answer")]
pub fn with(status: &str, headers: &str, body: &str) -> Option<String> {
    Some(format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()))
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Asked>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |text| text.parse().expect("a number"));
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(Asked { head, body: String::from_utf8_lossy(&body).into_owned() }))
}
