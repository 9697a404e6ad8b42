//! The lines that a delivery writes.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use super::fixture::{Server, destination, forward, payload, send, signed, status};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Lines {
    fn start() -> (Self, tracing::subscriber::DefaultGuard) {
        let lines = Self::default();
        let subscriber = tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE);
        (lines.clone(), tracing::subscriber::set_default(subscriber.with_writer(lines).finish()))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The fields of the only line with this message.
    fn only(&self, message: &str) -> Value {
        let text = self.text();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("one object a line"));
        let mut found = lines.filter(|line| line["fields"]["message"] == message);
        let line = found.next().unwrap_or_else(|| panic!("no {message} in {text}"));
        assert!(found.next().is_none(), "{message} twice");
        line["fields"].clone()
    }
}

#[tokio::test]
async fn a_delivery_that_succeeds_writes_one_line() {
    let (lines, _guard) = Lines::start();
    let server = Server::start(status(202, "")).await;
    send(&destination(&server.url()), &payload("{}")).await;
    let line = lines.only("delivery.succeeded");
    assert_eq!(line["destination"], "crm");
    assert_eq!(line["attempt"], 1);
    assert_eq!(line["status"], 202);
    assert_eq!(line["message_id"], "msg_2b1c");
    assert!(line["duration_ms"].is_u64());
    assert!(!lines.text().contains("delivery.failed"));
}

#[tokio::test]
async fn a_delivery_that_fails_writes_one_line_with_its_code() {
    let (lines, _guard) = Lines::start();
    let server = Server::start(status(410, "")).await;
    send(&destination(&server.url()), &payload("{}")).await;
    let line = lines.only("delivery.failed");
    assert_eq!(line["error"], "status.410");
    assert_eq!(line["outcome"], "rejected");
    assert_eq!(line["status"], 410);
}

#[tokio::test]
async fn no_secret_body_or_url_is_in_any_line_at_any_level() {
    let (lines, _guard) = Lines::start();
    let secret = "whsec_TUFSS19TRUNSRVRfTUFSS19TRUNSRVQ=";
    let message = forward("{\"MARK_BODY\":1}", &[("stripe-signature", "t=1,v1=MARK_SIGNATURE")]);
    for url in
        ["http://127.0.0.1:1/?token=MARK_URL", "https://crm.test/MARK_URL", "http://gone.test/?MARK_URL"]
    {
        let mut destination = signed(url, &[secret]);
        destination.headers.insert("authorization", http::HeaderValue::from_static("Bearer MARK_HEADER"));
        let attempt = send(&destination, &message).await;
        assert_eq!(attempt.outcome.as_str(), "failed");
    }
    let text = lines.text();
    assert_eq!(text.matches("delivery.failed").count(), 3, "{text}");
    assert!(!text.contains("MARK_") && !text.contains("TUFSS19"), "{text}");
}
