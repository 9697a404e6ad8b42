//! Messages as CloudEvents 1.0 in binary mode: the body stays as it is, and what CloudEvents wants to know of it goes
//! beside it (<https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md>).

use chrono::SecondsFormat;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::model::{Content, Message};

/// The attributes of a message, without a binding's prefix and encoding. `datacontenttype` is not among them: nearly
/// every binding says it with the message's own content type.
pub(super) fn attributes(message: &Message) -> Vec<(&'static str, String)> {
    let key = &message.key;
    let mut list = vec![
        ("specversion", "1.0".to_owned()),
        // Not the event's id: one event may send several messages to one destination, and each is an event of its own.
        ("id", message.message_id.clone()),
        ("source", format!("urn:hookgate:{}:{}", key.provider, key.endpoint)),
        ("type", kind(message)),
        ("time", message.received_at.to_rfc3339_opts(SecondsFormat::Micros, true)),
    ];
    if matches!(message.content, Content::Payload(_)) && !message.aggregate_id.is_empty() {
        list.push(("subject", message.aggregate_id.clone()));
    }
    list
}

/// CloudEvents know no event without a type; some providers do.
fn kind(message: &Message) -> String {
    if message.event_type.is_empty() {
        format!("{}.event", message.key.provider)
    } else {
        message.event_type.clone()
    }
}

/// A value as the bindings for HTTP and NATS write it: printable ASCII stays, but for space, `"` and `%`.
pub(super) fn percent_encoded(value: &str) -> String {
    const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'%');
    utf8_percent_encode(value, ENCODED).to_string()
}
