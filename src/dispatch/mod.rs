//! One outbox message becomes one HTTP request to its destination.
//!
//! Who acts: `worker` claims a message, calls [`Dispatcher::send`], and settles with the [`crate::model::Attempt`]
//! it gets back. What holds: the body goes out byte for byte; every attempt of a message carries the same
//! `webhook-id` and `Idempotency-Key`; a connection is only ever made to an address that was checked after it was
//! resolved; redirects are not followed, proxy variables of the environment are not read; what comes back is read up
//! to [`crate::egress::MAX_REPLY`] bytes and thrown away. A dropped [`Dispatcher::send`] means that the outcome is unknown, nothing
//! else. What is absent: queues, leases, retries (`retry` decides, `worker` acts), the inbox.
//!
//! The story of a request reads in this order: `target` is what a destination's config was made into, `headers`
//! and `sign` write the head, `egress` guards where it goes and sends it, `classify` says what the answer means.

mod classify;
mod confirm;
mod dispatcher;
mod headers;
mod sign;
mod target;

pub use dispatcher::Dispatcher;
pub use sign::{InvalidKey, SigningKey, signature};
pub use target::{DestinationError, check};
