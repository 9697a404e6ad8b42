//! A destination server that is told byte by byte what to answer, a resolver that is told what to say, and messages.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::TimeZone as _;
use hookgate::clock::Timestamp;
use hookgate::config::{Destination, DestinationKind, Flow, Queue};
use hookgate::dispatch::Dispatcher;
use hookgate::egress::{Network, Resolve};
use hookgate::model::{Attempt, Content, EventKey, Headers, Message, Secret};
use hookgate::provider::Catalogue;
use http::HeaderMap;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::wait;

/// What a server does with each request.
#[derive(Clone)]
pub enum Reply {
    /// These bytes, and the connection stays open for the next request.
    Bytes(Vec<u8>),
    /// These bytes, then the connection is closed.
    ThenClose(Vec<u8>),
    /// These bytes first, then those again and again, until the client goes away.
    Endless(Vec<u8>, Vec<u8>),
    /// Nothing, for as long as the client waits.
    Silence,
}

/// A plain reply with a status and headers.
pub fn status(code: u16, headers: &str) -> Reply {
    Reply::Bytes(format!("HTTP/1.1 {code} X\r\n{headers}content-length: 0\r\n\r\n").into_bytes())
}

/// One request as it came over the wire.
#[derive(Clone, Debug)]
pub struct Received {
    /// Request line and header lines.
    pub head: Vec<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Received {
    /// The only value of a header, or nothing.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values =
            self.head.iter().filter_map(|line| line.split_once(": ")).filter(|(n, _)| *n == name);
        let first = values.next().map(|(_, value)| value);
        assert!(values.next().is_none(), "{name} is there more than once");
        first
    }
}

/// A server on a free port.
#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Received>>>,
    connections: Arc<AtomicUsize>,
    hung_up: Arc<AtomicUsize>,
    written: Arc<AtomicUsize>,
}

impl Server {
    /// Starts one that answers every request in the same way.
    pub async fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let server = Self {
            address: listener.local_addr().expect("bound"),
            requests: Arc::default(),
            connections: Arc::default(),
            hung_up: Arc::default(),
            written: Arc::default(),
        };
        let accepting = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepting.connections.fetch_add(1, Ordering::SeqCst);
                let (server, reply) = (accepting.clone(), reply.clone());
                tokio::spawn(async move {
                    let _ = server.talk(stream, reply).await;
                    server.hung_up.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        server
    }

    async fn talk(&self, mut stream: TcpStream, reply: Reply) -> io::Result<()> {
        while let Some(request) = read_request(&mut stream).await? {
            self.requests.lock().unwrap().push(request);
            match &reply {
                Reply::Bytes(bytes) => stream.write_all(bytes).await?,
                Reply::ThenClose(bytes) => return stream.write_all(bytes).await,
                Reply::Endless(first, rest) => {
                    stream.write_all(first).await?;
                    loop {
                        stream.write_all(rest).await?;
                        self.written.fetch_add(rest.len(), Ordering::SeqCst);
                        tokio::task::yield_now().await;
                    }
                }
                Reply::Silence => {
                    stream.read_to_end(&mut Vec::new()).await?;
                }
            }
        }
        Ok(())
    }

    pub fn url(&self) -> String {
        format!("http://{}/hooks?tenant=7", self.address)
    }

    pub fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// How many bytes of an endless answer the network took.
    pub fn written(&self) -> usize {
        self.written.load(Ordering::SeqCst)
    }

    /// Waits until a request is there.
    pub async fn is_asked(&self) {
        wait::until("a request", async || (!self.requests().is_empty()).then_some(())).await;
    }

    /// Waits until the first connection has ended.
    pub async fn is_left(&self) {
        wait::until("the client to go", async || (self.hung_up.load(Ordering::SeqCst) > 0).then_some(()))
            .await;
    }
}

async fn read_request(stream: &mut TcpStream) -> io::Result<Option<Received>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head: Vec<String> =
        String::from_utf8_lossy(&bytes[..end]).split("\r\n").map(ToOwned::to_owned).collect();
    let length =
        head.iter().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(Received { head, body }))
}

/// A resolver that knows what it was told; each name's answers are used up one by one, the last one stays.
#[derive(Default)]
pub struct Names(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Names {
    pub fn of(name: &str, answers: &[&[&str]]) -> Arc<Self> {
        let answers =
            answers.iter().map(|list| list.iter().map(|ip| ip.parse().expect("an address")).collect());
        Arc::new(Self(Mutex::new(HashMap::from([(name.to_owned(), answers.collect())]))))
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(name).ok_or_else(|| io::Error::other("no such name"))?;
        Ok(if answers.len() > 1 { answers.remove(0) } else { answers.first().cloned().unwrap_or_default() })
    }
}

pub fn queue() -> Queue {
    Queue {
        lease: Duration::from_mins(2),
        statement_timeout: Duration::from_secs(30),
        work_timeout: Duration::from_mins(1),
        sync_timeout: Duration::from_secs(25),
        max_attempts: 20,
        backoff_cap: Duration::from_hours(1),
        backoff: Arc::default(),
        concurrency: 8,
        poll_interval: Duration::from_secs(1),
        max_age: None,
    }
}

/// A destination with this URL, unsigned, patient.
pub fn destination(url: &str) -> Destination {
    Destination {
        name: "crm".into(),
        kind: DestinationKind::Http {
            url: url.parse().expect("a URL"),
            allow_private: false,
            credentials: None,
        },
        sign: Vec::new(),
        headers: HeaderMap::new(),
        timeout: Duration::from_secs(30),
        concurrency: 8,
        drop_signature: false,
        cloudevents: false,
        queue: queue(),
        flow: Flow::default(),
    }
}

pub fn private(url: &str) -> Destination {
    let kind =
        DestinationKind::Http { url: url.parse().expect("a URL"), allow_private: true, credentials: None };
    Destination { kind, ..destination(url) }
}

pub fn signed(url: &str, secrets: &[&str]) -> Destination {
    Destination { sign: secrets.iter().map(|s| Secret::new(s.as_bytes())).collect(), ..destination(url) }
}

pub fn now() -> Timestamp {
    chrono::Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

/// A forwarded Stripe event.
pub fn forward(body: impl Into<Bytes>, headers: &[(&str, &str)]) -> Message {
    let mut list = Headers::new();
    for (name, value) in headers {
        list.push(name, value.as_bytes());
    }
    Message {
        id: 1,
        key: EventKey { provider: "stripe".into(), endpoint: "billing".into(), event_id: "evt_1".into() },
        aggregate_type: "webhook_event".into(),
        aggregate_id: "evt_1".into(),
        event_type: "invoice.paid".into(),
        content: Content::Body(body.into()),
        content_type: Some("application/json; charset=utf-8".into()),
        headers: Some(list),
        received_at: chrono::Utc.with_ymd_and_hms(2026, 3, 1, 11, 59, 58).unwrap(),
        destination: "crm".into(),
        message_id: "msg_2b1c".into(),
        born_at: chrono::Utc.with_ymd_and_hms(2026, 3, 1, 11, 59, 59).unwrap(),
        ordering_key: None,
        probe: false,
        trace_context: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into()),
    }
}

/// A message that a handler wrote.
pub fn payload(json: &str) -> Message {
    Message {
        aggregate_type: "Invoice".into(),
        aggregate_id: "in_1".into(),
        event_type: "InvoicePaymentBooked".into(),
        content: Content::Payload(json.into()),
        content_type: None,
        headers: None,
        ..forward("", &[])
    }
}

/// A dispatcher for one destination, over this network, that knows the shipped providers.
pub fn dispatcher(network: &Network, destination: &Destination) -> Dispatcher {
    let catalogue = Catalogue::load(&[]).expect("the shipped definitions are good");
    Dispatcher::over(network, [destination], catalogue.iter().map(AsRef::as_ref)).expect("a good destination")
}

pub fn network(names: Arc<Names>) -> Network {
    Network { resolver: names, roots: Some(rustls::RootCertStore::empty()), ..Network::default() }
}

/// Sends one message once, over a network without names.
pub async fn send(destination: &Destination, message: &Message) -> Attempt {
    dispatcher(&network(Arc::default()), destination).send(destination, message, 1, now()).await
}

/// The code and status of an attempt, for comparing in one line.
pub fn ending(attempt: &Attempt) -> (&str, Option<&str>, Option<u16>) {
    (attempt.outcome.as_str(), attempt.error.as_deref(), attempt.status)
}
