//! Rejected requests are kept for a release: after the reply, as well as it goes.
//!
//! A stranger can make any number of them. So the reply never waits: a request is offered to a bounded queue, and one
//! task writes what it finds there, with a pause between two writes. What is over a bound is counted and forgotten.

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};
use uuid::Uuid;

use super::admission::{Admission, network};
use super::credentials;
use crate::config::{self, Endpoint};
use crate::mapping;
use crate::model::{Rejection, Request};
use crate::provider::Provider;
use crate::store::{Inbox, Kept, Quarantined, Sent};

/// Requests that may wait to be written.
const QUEUE: usize = 256;
/// Bytes of them, a larger request is not kept.
const QUEUE_BYTES: u32 = 32 << 20;
/// Requests of one write.
const BATCH: usize = 32;
/// Between two writes: others write too.
const PAUSE: Duration = Duration::from_millis(200);

/// Why a rejected request was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// Too many came in this minute.
    Rate,
    /// Too many are there, or too many bytes.
    Full,
    /// Too much waited to be written.
    Busy,
    /// The store failed.
    Store,
}

impl NotKept {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rate, Self::Full, Self::Busy, Self::Store];

    /// The word in metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Full => "full",
            Self::Busy => "busy",
            Self::Store => "store",
        }
    }
}

/// Who counts what was not kept.
pub trait Watch: Send + Sync {
    /// A rejected request of this endpoint was not kept.
    fn not_kept(&self, endpoint: &str, why: NotKept);
}

/// The offering end, for the receiver.
pub struct Keeper {
    waiting: mpsc::Sender<Parcel>,
    room: Arc<Semaphore>,
    admission: Arc<Admission>,
    watch: Arc<dyn Watch>,
}

/// The writing end: a task of the gateway's.
pub struct KeeperTask {
    inbox: Arc<dyn Inbox>,
    waiting: mpsc::Receiver<Parcel>,
    admission: Arc<Admission>,
    bounds: config::Quarantine,
    watch: Arc<dyn Watch>,
    /// One for each process, so that a release has few digests to make.
    salt: [u8; 16],
}

struct Parcel {
    endpoint: Arc<Endpoint>,
    request: Request,
    rejection: Rejection,
    hint: Option<String>,
    verified: bool,
    request_id: Uuid,
    came: Instant,
    _room: OwnedSemaphorePermit,
}

impl Keeper {
    /// Both ends.
    #[must_use]
    pub fn new(
        inbox: Arc<dyn Inbox>,
        bounds: config::Quarantine,
        watch: Arc<dyn Watch>,
    ) -> (Self, KeeperTask) {
        let (offered, waiting) = mpsc::channel(QUEUE);
        let admission = Arc::new(Admission::new(bounds.per_minute));
        let task = KeeperTask {
            inbox,
            waiting,
            admission: Arc::clone(&admission),
            bounds,
            watch: Arc::clone(&watch),
            salt: rand::random(),
        };
        let room = Arc::new(Semaphore::new(QUEUE_BYTES as usize));
        (Self { waiting: offered, room, admission, watch }, task)
    }

    /// Takes a rejected request, if its endpoint wants it and there is room. It never waits.
    pub(super) fn offer(
        &self,
        endpoint: &Arc<Endpoint>,
        request: &Request,
        rejection: &Rejection,
        (hint, verified, request_id): (Option<&String>, bool, Uuid),
    ) {
        if !endpoint.quarantine.contains(&rejection.reason) {
            return;
        }
        let now = Instant::now();
        if !self.admission.admits(&endpoint.name, rejection.reason.as_str(), &network(request.peer), now) {
            return self.watch.not_kept(&endpoint.name, NotKept::Rate);
        }
        let size = u32::try_from(size(request)).unwrap_or(u32::MAX);
        let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(size) else {
            return self.watch.not_kept(&endpoint.name, NotKept::Busy);
        };
        let parcel = Parcel {
            endpoint: Arc::clone(endpoint),
            request: request.clone(),
            rejection: rejection.clone(),
            hint: hint.cloned(),
            verified,
            request_id,
            came: now,
            _room: room,
        };
        if self.waiting.try_send(parcel).is_err() {
            self.watch.not_kept(&endpoint.name, NotKept::Busy);
        }
    }
}

/// What a request holds in memory.
fn size(request: &Request) -> usize {
    let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    request.body.len() + headers + request.path.len() + request.query.as_ref().map_or(0, String::len)
}

impl KeeperTask {
    /// Writes until `stop`, then what still waits.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            tokio::select! {
                first = self.waiting.recv() => {
                    let Some(first) = first else { return };
                    self.write(first).await;
                }
                () = stop.cancelled() => break,
            }
            tokio::select! {
                () = sleep(PAUSE) => {}
                () = stop.cancelled() => break,
            }
        }
        self.waiting.close();
        while let Ok(first) = self.waiting.try_recv() {
            self.write(first).await;
        }
    }

    /// One batch: what waits, up to a number.
    async fn write(&mut self, first: Parcel) {
        let mut batch = vec![first];
        while batch.len() < BATCH {
            let Ok(next) = self.waiting.try_recv() else { break };
            batch.push(next);
        }
        let salt = self.salt;
        let prepared =
            task::spawn_blocking(move || batch.iter().map(|it| it.prepare(&salt)).collect::<Vec<_>>());
        let mut prepared: Vec<Quarantined> = prepared.await.unwrap_or_default();
        while let Some(first) = prepared.first() {
            let endpoint = Arc::clone(&first.endpoint);
            let (own, others): (Vec<_>, Vec<_>) =
                prepared.into_iter().partition(|it| it.endpoint == endpoint);
            self.write_all(&endpoint, &own).await;
            prepared = others;
        }
    }

    async fn write_all(&self, endpoint: &Arc<str>, requests: &[Quarantined]) {
        match self.inbox.quarantine_rejected(requests, &self.bounds).await {
            Ok(kept) => self.note(endpoint, &kept),
            Err(error) => {
                warn!(
                    endpoint = &**endpoint,
                    code = error.code(),
                    rows = requests.len(),
                    "quarantine.failed"
                );
                for _ in requests {
                    self.watch.not_kept(endpoint, NotKept::Store);
                }
            }
        }
    }

    fn note(&self, endpoint: &Arc<str>, kept: &[Kept]) {
        let count = |wanted: Kept| kept.iter().filter(|it| **it == wanted).count();
        let (new, copies, full) = (count(Kept::New), count(Kept::Copy), count(Kept::Full));
        debug!(endpoint = &**endpoint, new, copies, "quarantine.kept");
        for _ in 0..full + count(Kept::NoShare) {
            self.watch.not_kept(endpoint, NotKept::Full);
        }
        if full > 0 {
            self.admission.full(endpoint, Instant::now());
            warn!(endpoint = &**endpoint, "quarantine.full");
        }
    }
}

impl Parcel {
    /// The row.
    fn prepare(&self, salt: &[u8]) -> Quarantined {
        let about = (self.rejection.reason.as_str(), self.rejection.detail.to_string());
        let row = row(&self.endpoint, &self.request, about, salt);
        Quarantined {
            hint: self.hint.clone(),
            verified: self.verified,
            request_id: self.request_id,
            age: self.came.elapsed(),
            ..row
        }
    }
}

/// What tells a request from others: two genuine events may have the same body, and the same body a right and a wrong
/// signature. What changes with each try, such as a date, is not in it.
fn digest(request: &Request, provider: &Provider) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    };
    add(request.method.as_bytes());
    add(request.path.as_bytes());
    add(request.query.as_deref().unwrap_or_default().as_bytes());
    add(&request.body);
    for name in provider.telling_headers() {
        add(name.as_bytes());
        request.headers.all(&name).for_each(&mut add);
    }
    hash.finalize().into()
}

/// The row of a request that was proved genuine just now.
pub(super) fn row(
    endpoint: &Endpoint,
    request: &Request,
    (reason, detail): (&'static str, String),
    salt: &[u8],
) -> Quarantined {
    let stripped = credentials::strip(request, &endpoint.provider, salt);
    Quarantined {
        provider: Arc::clone(endpoint.provider.id()),
        endpoint: Arc::clone(&endpoint.name),
        reason,
        hint: None,
        detail,
        event_id: None,
        headers: Arc::new(stripped.headers),
        body: request.body.clone(),
        body_sha256: mapping::sha256(&request.body),
        digest: digest(request, &endpoint.provider),
        verified: true,
        request_id: Uuid::nil(),
        sent: Some(Sent {
            method: request.method.clone(),
            url: stripped.url,
            peer: request.peer.map(|peer| peer.to_string()),
            peer_net: network(request.peer),
            by_proxy: request.by_proxy,
            credentials: stripped.digests,
        }),
        age: Duration::ZERO,
    }
}
