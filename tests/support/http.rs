//! A plain HTTP/1.1 client: one connection for each request, nothing retried, nothing pooled.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What the server answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl Answer {
    /// `x-hookgate-outcome`, or nothing.
    pub fn outcome(&self) -> &str {
        self.headers.get("x-hookgate-outcome").and_then(|v| v.to_str().ok()).unwrap_or("")
    }

    /// Status and outcome, for comparing in one line.
    pub fn summary(&self) -> (u16, &str) {
        (self.status.as_u16(), self.outcome())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Posts a body with these headers. An error means that no whole answer came.
pub async fn post(
    to: SocketAddr,
    path: &str,
    headers: &[(&str, &[u8])],
    body: impl Into<Bytes>,
) -> Result<Answer, String> {
    request(Method::POST, to, path, headers, body).await
}

/// Gets a page.
pub async fn get(from: SocketAddr, path: &str) -> Result<Answer, String> {
    request(Method::GET, from, path, &[], Bytes::new()).await
}

/// Sends any request; headers may be repeated.
pub async fn request(
    method: Method,
    to: SocketAddr,
    path: &str,
    headers: &[(&str, &[u8])],
    body: impl Into<Bytes>,
) -> Result<Answer, String> {
    let mut request = Request::builder().method(method).uri(path).header("host", to.to_string());
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| e.to_string())?;
        request = request.header(name, HeaderValue::from_bytes(value).map_err(|e| e.to_string())?);
    }
    let request = request.body(Full::new(body.into())).map_err(|e| e.to_string())?;
    let exchange = async {
        let stream = TcpStream::connect(to).await.map_err(|e| e.to_string())?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| e.to_string())?;
        let connection = tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|e| e.to_string())?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await.map_err(|e| e.to_string())?.to_bytes();
        connection.abort();
        Ok(Answer { status: head.status, headers: head.headers, body })
    };
    #[expect(clippy::disallowed_methods, reason = "a client that waits for ever would hang the test")]
    let ended = tokio::time::timeout(Duration::from_mins(1), exchange).await;
    ended.unwrap_or_else(|_| Err("no answer within a minute".to_owned()))
}

/// Posts like an impatient client: whatever has happened, the connection is cut after `patience`.
/// True if an answer came before.
pub async fn post_and_hang_up(
    to: SocketAddr,
    path: &str,
    headers: &[(&str, &[u8])],
    body: impl Into<Bytes>,
    patience: Duration,
) -> bool {
    #[expect(clippy::disallowed_methods, reason = "hanging up is the purpose")]
    let ended = tokio::time::timeout(patience, post(to, path, headers, body)).await;
    ended.is_ok()
}

/// Writes bytes as they are, for requests that no decent client would make, and reads to the end of what comes back.
/// A connection that is cut gives what had come until then.
pub async fn raw(to: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let stream = TcpStream::connect(to).await.expect("connect");
    let (mut reader, mut writer) = stream.into_split();
    let bytes = bytes.to_vec();
    let writing = tokio::spawn(async move {
        let _ = writer.write_all(&bytes).await;
        writer
    });
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    let reading = async {
        while let Ok(read @ 1..) = reader.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..read]);
        }
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "a server that keeps the connection open must not hang the test"
    )]
    let _ = tokio::time::timeout(Duration::from_secs(20), reading).await;
    writing.abort();
    answer
}

/// The status in the bytes that [`raw`] gave; 0 if there is none.
pub fn raw_status(answer: &[u8]) -> u16 {
    let text = String::from_utf8_lossy(answer);
    text.strip_prefix("HTTP/1.1 ").and_then(|t| t.get(..3)?.parse().ok()).unwrap_or(0)
}
