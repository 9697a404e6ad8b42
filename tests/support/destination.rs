//! A destination that writes down what it gets and answers what it is told.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::wait;

/// One request that arrived.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// All headers.
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: Bytes,
}

impl Delivery {
    /// A header as text, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("")
    }
}

/// How one request is answered.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// This status, with these headers.
    Answer(u16, Vec<(&'static str, String)>),
    /// The same with a body.
    Whole(u16, Vec<(&'static str, String)>, Bytes),
    /// The status 200, but only when [`Destination::release`] is called.
    Hold,
    /// The status 200, but only after this time: that of a sender's patience, and more.
    Late(Duration),
}

/// A free port of this machine.
const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// How requests are answered for which no script is left.
type Habit = Box<dyn Fn(&Delivery) -> Option<Behaviour> + Send + Sync>;

/// A server on a free port of this machine. It ends with its runtime.
#[derive(Clone)]
pub struct Destination {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    deliveries: Mutex<Vec<Delivery>>,
    script: Mutex<VecDeque<Behaviour>>,
    habit: Option<Habit>,
    release: Notify,
}

impl Destination {
    /// Starts one that answers 200 to everything.
    pub async fn start() -> Self {
        Self::start_at(ANY).await
    }

    /// The same where one was, or will be.
    pub async fn start_at(address: SocketAddr) -> Self {
        Self::run(address, State::default()).await
    }

    /// Starts one that answers as `habit` says, and 200 where it says nothing.
    pub async fn start_with(habit: impl Fn(&Delivery) -> Option<Behaviour> + Send + Sync + 'static) -> Self {
        Self::run(ANY, State { habit: Some(Box::new(habit)), ..State::default() }).await
    }

    async fn run(address: SocketAddr, state: State) -> Self {
        let listener = TcpListener::bind(address).await.expect("bind the port");
        let address = listener.local_addr().expect("bound");
        let state = Arc::new(state);
        tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { address, state }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// The next requests are answered by this script, one step each; after it, 200 again.
    pub fn script(&self, steps: impl IntoIterator<Item = Behaviour>) {
        lock(&self.state.script).extend(steps);
    }

    /// Lets one held request, present or future, go on.
    pub fn release(&self) {
        self.state.release.notify_one();
    }

    /// What has arrived until now.
    pub fn deliveries(&self) -> Vec<Delivery> {
        lock(&self.state.deliveries).clone()
    }

    /// Waits until at least `count` requests have arrived.
    pub async fn wait_for(&self, count: usize) -> Vec<Delivery> {
        wait::until(&format!("{count} deliveries"), async || {
            let deliveries = self.deliveries();
            (deliveries.len() >= count).then_some(deliveries)
        })
        .await
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        let service = service_fn(move |request| answer(Arc::clone(&state), request));
        tokio::spawn(async move {
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    // A sender that dies half-way has delivered nothing.
    let Ok(body) = body.collect().await else { return Ok(Response::new(Full::default())) };
    let delivery = Delivery { headers: head.headers, body: body.to_bytes() };
    let scripted = lock(&state.script).pop_front();
    let step = scripted.or_else(|| state.habit.as_ref().and_then(|habit| habit(&delivery)));
    lock(&state.deliveries).push(delivery);
    let mut response = Response::new(Full::default());
    match step {
        None => {}
        Some(Behaviour::Hold) => state.release.notified().await,
        Some(Behaviour::Late(by)) => tokio::time::sleep(by).await,
        Some(Behaviour::Answer(status, headers)) => set(&mut response, status, headers),
        Some(Behaviour::Whole(status, headers, body)) => {
            set(&mut response, status, headers);
            *response.body_mut() = Full::new(body);
        }
    }
    Ok(response)
}

fn set(response: &mut Response<Full<Bytes>>, status: u16, headers: Vec<(&'static str, String)>) {
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    for (name, value) in headers {
        response.headers_mut().insert(name, value.parse().expect("a header value"));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
