//! What the senders did, on the disk before it counts: one line of JSON when an attempt begins, one when it ends.
//!
//! An attempt without a second line had no answer. The checker reads this file and nothing else of the senders.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// An attempt begins.
    Sent(Sent),
    /// It has ended.
    Ended(Ended),
}

/// A request that is about to leave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sent {
    /// The attempt's number.
    pub attempt: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    /// Which gateway.
    pub gateway: usize,
    /// Its endpoint.
    pub endpoint: String,
    /// What the body names as its id.
    pub event: String,
    /// Of the body, in hexadecimal.
    pub sha256: String,
    /// Whether the signature is right.
    pub genuine: bool,
    /// What is to become of the event.
    pub due: Due,
}

/// What is to become of an event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Due {
    /// Where it is forwarded to.
    pub forwards: Vec<String>,
    /// Whether its work cannot be done, so that a person must look.
    pub hopeless: bool,
}

/// How an attempt ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// The attempt's number.
    pub attempt: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    /// The answer's status, if a whole answer came.
    pub status: Option<u16>,
    /// `x-hookgate-outcome`, or why there was no answer.
    pub outcome: String,
}

/// The file that is being written.
pub struct History {
    next: AtomicU64,
    lines: mpsc::Sender<(String, oneshot::Sender<()>)>,
}

impl History {
    /// Begins a file.
    pub fn create(path: &Path) -> Self {
        let file = File::create(path).expect("create the history");
        let (lines, waiting) = mpsc::channel();
        std::thread::spawn(move || write(file, &waiting));
        Self { next: AtomicU64::new(1), lines }
    }

    /// Notes that a request is about to leave; answers its number when that is on the disk.
    pub async fn sent(&self, mut sent: Sent) -> u64 {
        let attempt = self.next.fetch_add(1, Ordering::Relaxed);
        (sent.attempt, sent.at) = (attempt, now());
        self.note(&Line::Sent(sent)).await;
        attempt
    }

    /// Notes how it ended.
    pub async fn ended(&self, attempt: u64, status: Option<u16>, outcome: String) {
        self.note(&Line::Ended(Ended { attempt, at: now(), status, outcome })).await;
    }

    async fn note(&self, line: &Line) {
        let (written, durable) = oneshot::channel();
        let text = serde_json::to_string(line).expect("JSON");
        self.lines.send((text, written)).expect("the history is being written");
        durable.await.expect("the history is being written");
    }
}

/// Writes lines together that came together, and tells their senders when the disk has them.
fn write(mut file: File, waiting: &mpsc::Receiver<(String, oneshot::Sender<()>)>) {
    while let Ok(first) = waiting.recv() {
        let together: Vec<_> = std::iter::once(first).chain(waiting.try_iter()).collect();
        let text: String = together.iter().flat_map(|(line, _)| [line.as_str(), "\n"]).collect();
        file.write_all(text.as_bytes()).expect("write the history");
        file.sync_data().expect("flush the history");
        for (_, written) in together {
            let _ = written.send(());
        }
    }
}

/// Reads a file.
pub fn read(path: &Path) -> Vec<Line> {
    let file = BufReader::new(File::open(path).expect("open the history"));
    let line = |line: std::io::Result<String>| serde_json::from_str(&line.expect("a line")).expect("JSON");
    file.lines().map(line).collect()
}

fn now() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "the senders' clock is the machine's")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).expect("after 1970").as_millis().try_into().expect("a time of this age")
}
