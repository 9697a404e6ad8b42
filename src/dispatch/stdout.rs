//! Standard output: one line of JSON for each message, for pipes and for trying things out.

use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use super::transport::{Prepared, Reply, Transport, within};

/// This process's standard output.
pub(super) struct Stdout {
    timeout: Duration,
}

impl Stdout {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout }
    }
}

#[async_trait]
impl Transport for Stdout {
    async fn send(&self, message: &Prepared<'_>) -> Reply {
        let (done, written) = oneshot::channel();
        let handed_over = async {
            let _ = writer().send((line(message), done)).await;
            match written.await {
                Ok(Ok(())) => Reply::acknowledged(),
                Ok(Err(error)) => Reply::failed("closed", error.to_string()),
                Err(_) => Reply::failed("closed", "nothing writes to standard output"),
            }
        };
        within(self.timeout, handed_over).await
    }
}

/// A body that is not UTF-8 stands in `body_base64`.
fn line(message: &Prepared<'_>) -> Vec<u8> {
    let (name, body) = match std::str::from_utf8(&message.body) {
        Ok(text) => ("body", text.to_owned()),
        Err(_) => ("body_base64", STANDARD.encode(&message.body)),
    };
    let headers: Map<String, Value> =
        message.fields().into_iter().map(|(name, value)| (name, value.into())).collect();
    let row = message.message;
    let mut line = json!({
        "destination": *row.destination,
        "message_id": row.message_id,
        "type": row.event_type,
        "headers": headers,
    });
    line[name] = body.into();
    format!("{line}\n").into_bytes()
}

type Order = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// One thread writes, since nobody knows how long a pipe stays full; and the process does not wait for it to end.
fn writer() -> &'static mpsc::Sender<Order> {
    static WRITER: OnceLock<mpsc::Sender<Order>> = OnceLock::new();
    WRITER.get_or_init(|| {
        let (orders, mut taken) = mpsc::channel::<Order>(1);
        std::thread::spawn(move || {
            while let Some((line, done)) = taken.blocking_recv() {
                let mut out = io::stdout().lock();
                let _ = done.send(out.write_all(&line).and_then(|()| out.flush()));
            }
        });
        orders
    })
}
