//! What every kind of destination is to the dispatcher: one message goes in, one reply comes out.

use std::borrow::Cow;
use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderName};

use super::cloudevents;
use crate::clock::Timestamp;
use crate::egress::{self, Fault};
use crate::model::{AttemptOutcome, Message};

/// One kind of destination, with the connection or client of one destination.
///
/// A dropped [`Transport::send`] leaves the outcome unknown and the transport usable. It keeps its own time limits.
#[async_trait]
pub(super) trait Transport: Send + Sync {
    /// Hands over one message and waits until the other side has said what it thinks of it.
    async fn send(&self, message: &Prepared<'_>) -> Reply;
}

/// A message as it leaves.
pub(super) struct Prepared<'a> {
    /// The row: ids, key, type, order.
    pub(super) message: &'a Message,
    /// The bytes, as they were signed.
    pub(super) body: Bytes,
    /// What goes beside them, `content-type` among it, but for what CloudEvents want.
    pub(super) headers: HeaderMap,
    /// The attributes of CloudEvents, each binding's spelling to come; none if they are not asked for.
    pub(super) cloudevents: Vec<(&'static str, String)>,
    /// The time of this attempt.
    pub(super) now: Timestamp,
}

impl Prepared<'_> {
    /// All headers, CloudEvents' in the spelling of HTTP.
    pub(super) fn http_headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        for (name, value) in &self.cloudevents {
            let name = HeaderName::try_from(format!("ce-{name}"));
            if let (Ok(name), Ok(value)) = (name, cloudevents::percent_encoded(value).parse()) {
                headers.insert(name, value);
            }
        }
        headers
    }

    /// The same as text, each name once: several values of one name are joined as in HTTP.
    pub(super) fn fields(&self) -> Vec<(String, String)> {
        let headers = self.http_headers();
        let joined = |name: &HeaderName| {
            let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
            values.collect::<Vec<_>>().join(", ")
        };
        headers.keys().map(|name| (name.as_str().to_owned(), joined(name))).collect()
    }
}

/// Gives up after `limit`. What was cut may have arrived all the same.
pub(super) async fn within(limit: Duration, work: impl Future<Output = Reply>) -> Reply {
    let reply = egress::within(limit, work).await;
    reply.unwrap_or_else(|| Reply::failed("timeout", format!("no answer within {limit:?}")))
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Reply {
    /// How it ended: acknowledged, failed for now, or rejected for good.
    pub(super) outcome: AttemptOutcome,
    /// The HTTP status, where there is such a thing.
    pub(super) status: Option<u16>,
    /// Why it failed, from a closed set: for `last_error` and metrics.
    pub(super) code: Option<Cow<'static, str>>,
    /// The same in words, for the log. It holds no secret.
    pub(super) detail: String,
    /// When the destination wants to be asked again.
    pub(super) retry_after: Option<Duration>,
}

impl Reply {
    /// The other side has it.
    pub(super) fn acknowledged() -> Self {
        Self {
            outcome: AttemptOutcome::Succeeded,
            status: None,
            code: None,
            detail: String::new(),
            retry_after: None,
        }
    }

    /// Another try may help.
    pub(super) fn failed(code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self {
            outcome: AttemptOutcome::Failed,
            code: Some(code.into()),
            detail: detail.into(),
            ..Self::acknowledged()
        }
    }
}

#[cfg(any(feature = "nats", feature = "redis", feature = "amqp", feature = "sqs", feature = "kafka"))]
impl Reply {
    /// No further try will help.
    pub(super) fn rejected(code: &'static str, detail: impl Into<String>) -> Self {
        Self { outcome: AttemptOutcome::Rejected, ..Self::failed(code, detail) }
    }
}

impl From<Fault> for Reply {
    fn from(fault: Fault) -> Self {
        Self::failed(fault.code, fault.detail)
    }
}
