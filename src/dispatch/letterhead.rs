//! What one destination wants beside the body of each message, whatever its kind.

use bytes::Bytes;
use http::HeaderMap;

use super::cloudevents;
use super::headers::{self, Policy};
use super::open::DestinationError;
use super::sign::SigningKey;
use super::transport::Prepared;
use crate::clock::Timestamp;
use crate::config::Destination;
use crate::model::{Content, Message};

/// A destination's headers and keys, found good.
#[derive(Clone, Debug)]
pub(super) struct Letterhead {
    /// The destination's own headers; none of them is [`headers::is_reserved`].
    pub(super) own: HeaderMap,
    /// The keys that sign.
    pub(super) keys: Vec<SigningKey>,
    /// Whether the provider's signature stays here.
    pub(super) drop_signature: bool,
    /// Whether CloudEvents' attributes go along.
    pub(super) cloudevents: bool,
}

impl Letterhead {
    pub(super) fn new(destination: &Destination) -> Result<Self, DestinationError> {
        let wrong = |key, problem| DestinationError { destination: destination.name.clone(), key, problem };
        let mut keys = Vec::new();
        for secret in &destination.sign {
            keys.push(SigningKey::parse(secret).map_err(|error| wrong("sign", error.to_string()))?);
        }
        let cloudevents = destination.cloudevents;
        let reserved = |name: &str| headers::is_reserved(name) || cloudevents && name.starts_with("ce-");
        if let Some(name) = destination.headers.keys().find(|name| reserved(name.as_str())) {
            let problem = format!("{name} is set by hookgate or belongs to the connection: leave it out");
            return Err(wrong("headers", problem));
        }
        let (own, drop_signature) = (destination.headers.clone(), destination.drop_signature);
        Ok(Self { own, keys, drop_signature, cloudevents })
    }

    /// A message as it leaves; `signature` names the headers that carry its provider's signature.
    pub(super) fn prepare<'a>(
        &self,
        message: &'a Message,
        signature: &[String],
        attempt: i32,
        now: Timestamp,
    ) -> Prepared<'a> {
        let Self { own, keys, drop_signature, cloudevents } = self;
        let body = match &message.content {
            Content::Payload(json) => Bytes::from(json.clone()),
            Content::Body(bytes) => bytes.clone(),
        };
        let withheld = if *drop_signature { signature } else { &[] };
        let policy = Policy { own, keys, withheld, cloudevents: *cloudevents };
        let headers = headers::write(message, &body, attempt, now, &policy);
        let cloudevents = if *cloudevents { cloudevents::attributes(message) } else { Vec::new() };
        Prepared { message, body, headers, cloudevents, now }
    }
}
