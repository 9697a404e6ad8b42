//! Events for handlers.

use std::sync::Arc;

use hookgate::clock::Timestamp;
use hookgate::model::{Event, EventKey, Headers};

/// A stored event of the endpoint `billing`.
pub fn event(event_type: &str, id: &str, body: &str) -> Event {
    Event {
        key: EventKey { provider: "stripe".into(), endpoint: "billing".into(), event_id: id.into() },
        event_type: event_type.into(),
        occurred_at: Timestamp::from_timestamp(1_700_000_000, 0),
        received_at: Timestamp::from_timestamp(1_700_000_100, 0).unwrap(),
        account: None,
        ordering_key: None,
        content_type: Some("application/json".into()),
        headers: Arc::new(Headers::new()),
        body: body.to_owned().into(),
        trace_context: None,
    }
}
