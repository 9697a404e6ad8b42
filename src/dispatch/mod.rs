//! One outbox message is handed to its destination, once.
//!
//! Who acts: `worker` claims a message, calls [`Dispatcher::send`], and settles with the [`crate::model::Attempt`]
//! it gets back. What holds: the body goes out byte for byte; every attempt of a message carries the same
//! `webhook-id` and `Idempotency-Key`. Over HTTP a connection is only ever made to an address that was checked after
//! it was resolved; redirects are not followed, proxy variables of the environment are not read; what comes back is
//! read up to [`crate::egress::MAX_REPLY`] bytes and thrown away. A dropped [`Dispatcher::send`] means that the outcome
//! is unknown, nothing else. What is absent: queues, leases, retries (`retry` decides, `worker` acts), the inbox.
//!
//! The story reads in this order: `open` makes of a destination's config what sends, `letterhead`, `headers`, `sign` and
//! `cloudevents` write what goes beside the body, `transport` says what every kind of destination does with that. Then each kind
//! is one file: `http` (with `classify`, what an answer means), `confirm`, `stdout`, and behind
//! `brokers` `nats`, `redis`, `amqp`, `sqs` and `kafka`, which share `link` (the connection) and `parcel`. `ask` is the
//! other way: one request to an HTTP destination whose answer is wanted, with `answer`, the head of it that may go on.

#[cfg(feature = "amqp")]
mod amqp;
mod answer;
mod ask;
mod brokers;
mod classify;
mod cloudevents;
mod confirm;
mod dispatcher;
mod headers;
mod http;
#[cfg(feature = "kafka")]
mod kafka;
mod letterhead;
#[cfg(any(feature = "nats", feature = "redis", feature = "amqp", feature = "sqs", feature = "kafka"))]
mod link;
#[cfg(feature = "nats")]
mod nats;
mod open;
#[cfg(any(feature = "nats", feature = "redis", feature = "amqp", feature = "sqs", feature = "kafka"))]
mod parcel;
#[cfg(feature = "redis")]
mod redis;
mod sign;
#[cfg(feature = "sqs")]
mod sqs;
mod stdout;
mod transport;

pub use ask::{Asker, MAX_ANSWER};
pub use dispatcher::Dispatcher;
pub use open::{DestinationError, check};
pub use sign::{InvalidKey, SigningKey, signature};
