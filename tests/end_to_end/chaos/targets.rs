//! The destinations of a story: one good, one that answers late, one behind a black hole. All write down what arrives.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::support::destination::{Behaviour, Delivery, Destination};

/// What `late` gives its senders; the destination takes longer now and then.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// One request that a destination has had.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arrival {
    /// The destination.
    pub destination: String,
    /// `x-hookgate-endpoint`.
    pub endpoint: String,
    /// `x-hookgate-event-id`.
    pub event: String,
    /// `webhook-id`.
    pub message: String,
    /// Of the body, in hexadecimal.
    pub sha256: String,
}

/// The destinations.
pub struct Targets {
    named: [(&'static str, Destination); 3],
    hole: Hole,
}

impl Targets {
    /// Starts them.
    pub async fn start() -> Self {
        let crm = Destination::start_with(|delivery| (chance(delivery) < 5).then_some(FAILED)).await;
        let late = Destination::start_with(|delivery| {
            let is_late = chance(delivery) < 33 && delivery.header("x-hookgate-attempt") < "3";
            is_late.then_some(Behaviour::Late(PATIENCE * 2))
        })
        .await;
        let behind = Destination::start().await;
        let hole = Hole::start(behind.address()).await;
        Self { named: [("crm", crm), ("late", late), ("hole", behind)], hole }
    }

    /// Their URLs.
    pub fn urls(&self) -> impl Iterator<Item = (&'static str, String)> {
        let url = |(name, destination): &(&'static str, Destination)| {
            let hidden = *name == "hole";
            (*name, if hidden { format!("http://{}/hooks", self.hole.address) } else { destination.url() })
        };
        self.named.iter().map(url)
    }

    /// Whether the black hole swallows everything.
    pub fn darken(&self, dark: bool) {
        self.hole.dark.send_replace(dark);
    }

    /// Writes the log of all: one line of JSON for each arrival.
    pub fn write(&self, path: &Path) {
        let mut file = File::create(path).expect("create the log");
        for (name, destination) in &self.named {
            for delivery in destination.deliveries() {
                let arrival = Arrival {
                    destination: (*name).to_owned(),
                    endpoint: delivery.header("x-hookgate-endpoint").to_owned(),
                    event: delivery.header("x-hookgate-event-id").to_owned(),
                    message: delivery.header("webhook-id").to_owned(),
                    sha256: hex::encode(Sha256::digest(&delivery.body)),
                };
                writeln!(file, "{}", serde_json::to_string(&arrival).expect("JSON")).expect("write the log");
            }
        }
        file.sync_data().expect("flush the log");
    }
}

/// Reads that log.
pub fn read(path: &Path) -> Vec<Arrival> {
    let text = std::fs::read_to_string(path).expect("read the log");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

const FAILED: Behaviour = Behaviour::Answer(503, Vec::new());

/// 0 to 99, the same for the same attempt of the same message.
fn chance(delivery: &Delivery) -> u8 {
    let attempt = format!("{}{}", delivery.header("webhook-id"), delivery.header("x-hookgate-attempt"));
    Sha256::digest(attempt)[0] % 100
}

/// A relay that now and then takes connections and reads nothing of them.
struct Hole {
    address: SocketAddr,
    dark: watch::Sender<bool>,
}

impl Hole {
    async fn start(behind: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind a free port");
        let address = listener.local_addr().expect("bound");
        let dark = watch::Sender::new(false);
        let told = dark.subscribe();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(relay(stream, behind, told.clone()));
            }
        });
        Self { address, dark }
    }
}

/// Until it gets dark; then the connection is held open, silent, until it gets light, and cut.
async fn relay(mut stream: TcpStream, behind: SocketAddr, mut dark: watch::Receiver<bool>) {
    if !*dark.borrow() {
        let Ok(mut onward) = TcpStream::connect(behind).await else { return };
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut stream, &mut onward) => return,
            _ = dark.wait_for(|dark| *dark) => {}
        }
    }
    let _ = dark.wait_for(|dark| !*dark).await;
}
