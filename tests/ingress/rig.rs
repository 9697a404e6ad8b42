//! A listener with a service of the test's own, and clients of several manners.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use bytes::Bytes;
use hookgate::ingress::{Drain, Drained, Limits, bind, listen};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use crate::support::wait::until;

/// A running listener. Its service reads each body to the end and answers with it; `/wait` first waits for the gate.
pub struct Rig {
    pub address: SocketAddr,
    pub signal: CancellationToken,
    /// Each permit lets one request to `/wait` go on.
    pub gate: Arc<Semaphore>,
    /// Requests whose service was called.
    pub seen: Arc<AtomicUsize>,
    ended: JoinHandle<Drained>,
}

impl Rig {
    pub async fn start(limits: Limits, delay: Duration, timeout: Duration, tls: Option<TlsAcceptor>) -> Self {
        let tcp = bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
        let address = tcp.local_addr().unwrap();
        let signal = CancellationToken::new();
        let (gate, seen) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
        let drain = Drain { signal: signal.clone(), delay, timeout };
        let (service_gate, service_seen) = (Arc::clone(&gate), Arc::clone(&seen));
        let ended = tokio::spawn(async move {
            let service = service_fn(move |request| {
                service_seen.fetch_add(1, SeqCst);
                echo(request, Arc::clone(&service_gate))
            });
            listen(tcp, tls, limits, service, &drain).await
        });
        Self { address, signal, gate, seen, ended }
    }

    /// With limits that no test reaches by accident.
    pub async fn generous() -> Self {
        Self::start(limits(100, Duration::from_mins(1)), Duration::ZERO, Duration::from_mins(1), None).await
    }

    /// With connections that may idle this long.
    pub async fn impatient(idle: Duration) -> Self {
        Self::start(limits(100, idle), Duration::ZERO, Duration::from_mins(1), None).await
    }

    pub fn requests(&self) -> usize {
        self.seen.load(SeqCst)
    }

    pub async fn requests_reach(&self, count: usize) {
        until(&format!("request {count} to be begun"), async || (self.requests() >= count).then_some(()))
            .await;
    }

    /// Tells the listener to end and waits until it has.
    pub async fn stop(self) -> Drained {
        self.signal.cancel();
        self.ended.await.expect("the listener does not panic")
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("connect")
    }

    /// Sends bytes over a new connection, which stays open.
    pub async fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.expect("write");
        stream
    }
}

pub fn limits(connections: usize, idle: Duration) -> Limits {
    Limits { connections, headers: idle, idle }
}

async fn echo(request: Request<Incoming>, gate: Arc<Semaphore>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() == "/wait" {
        gate.acquire().await.expect("the gate is never closed").forget();
    }
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    Ok(Response::new(Full::new(body.unwrap_or_default())))
}

/// Reads what comes until the other side closes. Fails the test if it does not.
pub async fn read_to_end(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "a connection that is never closed would hang the test")]
    let read = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut bytes)).await;
    let _ = read.expect("the connection should have been closed");
    bytes
}

/// Reads one answer's head and body (with `content-length`) from a connection that stays open.
pub async fn read_answer(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    loop {
        let byte = stream.read_u8().await.expect("an answer");
        bytes.push(byte);
        if bytes.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let head = String::from_utf8(bytes).expect("an ASCII head");
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.expect("the whole body");
    head + &String::from_utf8_lossy(&body)
}

/// One request over HTTP/2 with prior knowledge, over any connection: the status and the body.
pub async fn http2(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    path: &str,
    body: &'static str,
) -> Result<(u16, Bytes), String> {
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .map_err(|e| e.to_string())?;
    tokio::spawn(connection);
    let request =
        Request::post(format!("http://localhost{path}")).body(Full::new(Bytes::from_static(body.as_bytes())));
    let answer = sender.send_request(request.unwrap()).await.map_err(|e| e.to_string())?;
    let status = answer.status().as_u16();
    Ok((status, answer.into_body().collect().await.map_err(|e| e.to_string())?.to_bytes()))
}
