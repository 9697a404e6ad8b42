//! An event as the message of an exchange, and the end of one in words.

use std::sync::Arc;

use tracing::{info, warn};

use crate::model::{Asked, Content, Message, NewEvent};
use crate::process;
use crate::store::Opened;

/// For the person, one short sentence.
pub(super) fn review_reason(asked: &Asked) -> Option<String> {
    let code = asked.attempt.error.as_deref().unwrap_or("unknown");
    match &asked.answer {
        _ if asked.is_taken() => None,
        Some(answer) => Some(format!("the destination answered {}; a copy is sent again", answer.status)),
        None if asked.is_repeatable() => {
            Some(format!("the destination was not reached ({code}); a copy is sent again"))
        }
        None => Some(format!(
            "the destination may have it, but gave no whole answer ({code}); it is not sent again"
        )),
    }
}

/// The event on its way, as a forward of it would be.
pub(super) fn message(event: &NewEvent, destination: &Arc<str>, opened: &Opened) -> Message {
    Message {
        id: 0, // no row of the outbox
        key: event.key.clone(),
        aggregate_type: "webhook_event".into(),
        aggregate_id: event.key.event_id.clone(),
        event_type: event.event_type.clone(),
        content: Content::Body(event.body.clone()),
        content_type: event.content_type.clone(),
        headers: Some((*event.headers).clone()),
        received_at: opened.received_at,
        destination: Arc::clone(destination),
        message_id: process::forwarded_id(&event.key, destination),
        born_at: opened.received_at,
        ordering_key: event.ordering_key.clone(),
        probe: false,
        trace_context: event.trace_context.clone(),
    }
}

pub(super) fn tell(event: &NewEvent, destination: &str, asked: &Asked, review_reason: Option<&str>) {
    let (endpoint, event_id, event_type) = (&*event.key.endpoint, &event.key.event_id, &event.event_type);
    let (status, code) = (asked.attempt.status, asked.attempt.error.as_deref());
    match review_reason {
        None => info!(endpoint, event_id, event_type, destination, status, "event.processed"),
        Some(reason) => {
            warn!(endpoint, event_id, event_type, destination, status, code, "event.failed");
            warn!(endpoint, event_id, reason, "event.needs_review");
        }
    }
}
