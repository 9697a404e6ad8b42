//! Keys that are fetched: how often, from where, for how long they count.

mod bounds;
mod cache;
mod guard;
mod questions;
pub mod server;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hookgate::clock::Timestamp;
use hookgate::egress::Network;
use hookgate::keys::Keys;
use hookgate::verify::{Answer, KeyRequest};

pub const HOUR: Duration = Duration::from_hours(1);

pub fn keys() -> Arc<Keys> {
    let roots = rustls::RootCertStore::empty();
    Arc::new(Keys::new(&Network { roots: Some(roots), ..Network::default() }))
}

/// For a key that may be kept for an hour, at an address of this machine.
pub fn request(url: String) -> KeyRequest {
    KeyRequest { cache: Some(HOUR), allow_private: true, ..KeyRequest::get(url) }
}

/// So many seconds after the beginning of the test.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

/// The body of a good answer.
#[track_caller]
pub fn body(answer: Answer) -> Bytes {
    match answer {
        Answer::Reply { status: 200, body, .. } => body,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub fn failure(answer: Answer) -> String {
    match answer {
        Answer::Failed(why) => why,
        other @ Answer::Reply { .. } => panic!("{other:?}"),
    }
}
