//! What one destination wants beside the body of each message, whatever its kind.

use http::HeaderMap;

use super::headers;
use super::open::DestinationError;
use super::sign::SigningKey;
use crate::config::Destination;

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
}
