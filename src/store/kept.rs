//! Requests that became no event: what is written of them, and within which bounds.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use uuid::Uuid;

use crate::config;
use crate::model::Headers;

/// A request that became no event: a genuine one that cannot be one (or conflicts with one), or a rejected one.
#[derive(Clone, Debug)]
pub struct Quarantined {
    /// The provider's id.
    pub provider: Arc<str>,
    /// The endpoint's name.
    pub endpoint: Arc<str>,
    /// The rejection reason, or `conflict`.
    pub reason: &'static str,
    /// The likely cause, where one was found.
    pub hint: Option<String>,
    /// One sentence for the operator: what was seen and what was expected.
    pub detail: String,
    /// The event id, where there is one.
    pub event_id: Option<String>,
    /// Headers, credentials removed.
    pub headers: Arc<Headers>,
    /// The bytes.
    pub body: Bytes,
    /// SHA-256 of the bytes.
    pub body_sha256: [u8; 32],
    /// What tells it from other rejected requests; copies have the same.
    pub digest: [u8; 32],
    /// Whether it was proved genuine.
    pub verified: bool,
    /// The inbound request.
    pub request_id: Uuid,
    /// How it came; of an event that conflicts nobody knows any more.
    pub sent: Option<Sent>,
    /// How long ago it came.
    pub age: Duration,
}

/// How a request came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// The method, in capitals.
    pub method: String,
    /// Path and query as they came, credentials removed.
    pub url: String,
    /// The client's address.
    pub peer: Option<String>,
    /// The network that it is counted by.
    pub peer_net: String,
    /// Whether a listed proxy sent it.
    pub by_proxy: bool,
    /// JSON: salted digests of the credentials that were removed.
    pub credentials: Option<String>,
}

/// What a row takes beside what the sender chose.
const ROW: usize = 256;

impl Quarantined {
    /// What it takes of an endpoint's bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        let credentials = |sent: &Sent| sent.credentials.as_ref().map_or(0, String::len);
        let sent = self.sent.as_ref().map_or(0, |sent| sent.url.len() + credentials(sent));
        let told = self.detail.len() + self.hint.as_ref().map_or(0, String::len);
        (self.body.len() + headers + sent + told + ROW) as u64
    }
}

/// What became of a rejected request that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is a row now.
    New,
    /// It was one before: the copy is counted.
    Copy,
    /// The endpoint has no room for its reason or its network.
    NoShare,
    /// The endpoint has no room.
    Full,
}

/// How much room the rejected requests of one endpoint take, in rows and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub(super) all: (u64, u64),
    pub(super) reason: (u64, u64),
    pub(super) network: (u64, u64),
}

impl Room {
    /// Whether one more of this size is too many. One reason may take half of the endpoint's room, one network a
    /// quarter: what a stranger can fill is not all of it.
    pub(super) fn refuses(&self, bytes: u64, bounds: &config::Quarantine) -> Option<Kept> {
        let over = |(rows, taken): (u64, u64), share: u64| {
            rows >= bounds.max_rows.div_ceil(share) || taken + bytes > bounds.max_bytes / share
        };
        if over(self.all, 1) {
            Some(Kept::Full)
        } else if over(self.reason, 2) || over(self.network, 4) {
            Some(Kept::NoShare)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: config::Quarantine = config::Quarantine { max_rows: 8, max_bytes: 8_000, per_minute: 1 };

    #[test]
    fn a_reason_takes_half_and_a_network_a_quarter() {
        let room = |all, reason, network| Room { all, reason, network };
        assert_eq!(room((0, 0), (0, 0), (0, 0)).refuses(2_000, &BOUNDS), None);
        assert_eq!(room((0, 0), (0, 0), (0, 0)).refuses(2_001, &BOUNDS), Some(Kept::NoShare));
        assert_eq!(room((7, 0), (3, 0), (1, 0)).refuses(1, &BOUNDS), None);
        assert_eq!(room((7, 0), (4, 0), (0, 0)).refuses(1, &BOUNDS), Some(Kept::NoShare));
        assert_eq!(room((7, 0), (0, 0), (2, 0)).refuses(1, &BOUNDS), Some(Kept::NoShare));
        assert_eq!(room((8, 0), (0, 0), (0, 0)).refuses(1, &BOUNDS), Some(Kept::Full));
        assert_eq!(room((1, 7_500), (0, 0), (0, 0)).refuses(501, &BOUNDS), Some(Kept::Full));
    }
}
