//! The canonical log line: one per request, readable alone.

use std::fmt;
use std::time::Duration;

use tracing::info;

use crate::clock::Timestamp;
use crate::config::Endpoint;
use crate::receive::{EventReceipt, Receipt};

/// Ids and types of a batch are listed up to this many.
const LISTED: usize = 10;

/// What the line tells beside the receipt.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The endpoint whose path it was.
    pub endpoint: &'a Endpoint,
    /// One of the endpoint's paths; never the query.
    pub path: &'a str,
    /// Length of the body as far as it was read.
    pub bytes: usize,
    /// Whether the header that carries the provider's signature was there.
    pub signature_present: bool,
    /// The status of the answer.
    pub status: u16,
    /// From the request's headers to the answer.
    pub elapsed: Duration,
}

/// Writes `webhook.request`.
pub fn request_line(exchange: &Exchange<'_>, receipt: &Receipt) {
    let first_received_at = receipt.events.iter().find_map(|event| event.first_received_at);
    info!(
        request_id = %receipt.request_id,
        provider = &**exchange.endpoint.provider.id(),
        endpoint = &*exchange.endpoint.name,
        path = exchange.path,
        bytes = exchange.bytes,
        signature_present = exchange.signature_present,
        verified = receipt.verified,
        secret = receipt.secret,
        outcome = receipt.outcome.as_str(),
        reason = receipt.rejection.as_ref().map(|rejection| rejection.reason.as_str()),
        fault = receipt.fault.as_ref().map(crate::receive::Fault::code),
        status = exchange.status,
        events = receipt.events.len(),
        event_ids = %list(&receipt.events, |event| &event.event_id),
        event_types = %list(&receipt.events, |event| &event.event_type),
        duplicate = receipt.outcome == crate::model::Outcome::Duplicate,
        first_received_at = first_received_at.as_ref().map(Timestamp::to_rfc3339),
        duration_ms = exchange.elapsed.as_secs_f64() * 1_000.0,
        "webhook.request"
    );
}

/// The first few of them with commas between, without building a string for a line that the filter drops.
fn list(events: &[EventReceipt], field: fn(&EventReceipt) -> &str) -> impl fmt::Display + '_ {
    fmt::from_fn(move |f| {
        for (index, event) in events.iter().take(LISTED).enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            f.write_str(field(event))?;
        }
        f.write_str(if events.len() > LISTED { ",…" } else { "" })
    })
}
