//! The spine, one short story: verify, map, accept (async) or accept and process (sync).
//!
//! Who acts: `ingress`, once for each request that was read to its end, in a task that outlives the client.
//! What holds: this is the one entry; nothing else verifies and accepts. Before [`Receiver::receive`] has a `Verified`
//! in hand it opens no connection, parses no body and logs none of it. It answers with success only after a commit.
//! What is absent: HTTP statuses and bodies, metrics, workers.

#[cfg(any())]
mod asynchronous;
#[cfg(any())]
mod flights;
#[cfg(any())]
mod gather;
#[cfg(any())]
mod hint;
mod receipt;
#[cfg(any())]
mod receiver;
#[cfg(any())]
mod synchronous;
mod tally;

pub use receipt::{EventReceipt, Fault, Receipt};
#[cfg(any())]
pub use receiver::Receiver;
pub use tally::Tally;
