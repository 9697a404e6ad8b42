//! What brokers ask of a message that HTTP does not.

use std::future::Future;
use std::time::Duration;

use super::transport::{Prepared, Reply, within};

impl Prepared<'_> {
    /// The headers as text. A name that means something to the broker itself (`taken`), and that only came along with
    /// the provider's request, says so.
    #[cfg(any(feature = "nats", feature = "redis"))]
    pub(super) fn fields_but(&self, taken: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let renamed = |(name, value): (String, String)| {
            if taken(&name) { (format!("x-hookgate-original-{name}"), value) } else { (name, value) }
        };
        self.fields().into_iter().map(renamed).collect()
    }

    /// The same without CloudEvents, for bindings with a spelling of their own.
    #[cfg(any(feature = "amqp", feature = "kafka"))]
    pub(super) fn fields_without_cloudevents(&self) -> Vec<(String, String)> {
        let mut fields = self.fields();
        if !self.cloudevents.is_empty() {
            fields.retain(|(name, _)| !name.starts_with("ce-"));
        }
        fields
    }

    /// What kind of bytes the body is.
    #[cfg(any(feature = "nats", feature = "amqp"))]
    pub(super) fn content_type(&self) -> Option<String> {
        let value = self.headers.get(http::header::CONTENT_TYPE)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    }

    /// What messages that belong together share: the ordering key, or else the event's key.
    #[cfg(any(feature = "kafka", feature = "sqs"))]
    pub(super) fn key(&self) -> String {
        let key = &self.message.key;
        let own = self.message.ordering_key.clone().filter(|key| !key.is_empty());
        own.unwrap_or_else(|| format!("{}:{}:{}", key.provider, key.endpoint, key.event_id))
    }
}

/// Waits for the broker's word, up to `limit`.
pub(super) async fn delivered(limit: Duration, work: impl Future<Output = Result<(), Reply>>) -> Reply {
    within(limit, async { work.await.map_or_else(|reply| reply, |()| Reply::acknowledged()) }).await
}
