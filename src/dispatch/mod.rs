//! One outbox message becomes one HTTP request to its destination.
//!
//! Who acts: `worker` claims a message, calls [`Dispatcher::send`], and settles with the [`crate::model::Attempt`]
//! it gets back. What holds: the body goes out byte for byte; every attempt of a message carries the same
//! `webhook-id` and `Idempotency-Key`; a connection is only ever made to an address that was checked after it was
//! resolved; redirects are not followed, proxy variables of the environment are not read; what comes back is read up
//! to [`MAX_REPLY`] bytes and thrown away. A dropped [`Dispatcher::send`] means that the outcome is unknown, nothing
//! else. What is absent: queues, leases, retries (`retry` decides, `worker` acts), the inbox.
//!
//! The story of a request reads in this order: `target` is what a destination's config was made into, `headers`
//! and `sign` write the head, `resolve` and `address` guard where it goes, `http` sends it, `classify` says
//! what the answer means.

mod address;
mod classify;
mod dispatcher;
mod headers;
mod http;
mod resolve;
mod sign;
mod target;

pub use address::{Reach, reach};
pub use dispatcher::{Dispatcher, Network};
pub use http::MAX_REPLY;
pub use resolve::{Resolve, SystemResolver};
pub use sign::{InvalidKey, SigningKey, signature};
pub use target::{DestinationError, check};
