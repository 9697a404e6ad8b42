//! The spine, one short story: verify, map, accept (async), accept and process (sync), or accept and ask (proxy).
//!
//! Who acts: `ingress`, once for each request that was read to its end, in a task that outlives the client.
//! What holds: this is the one entry; nothing else verifies and accepts. Before [`Receiver::receive`] has a `Verified`
//! in hand it opens no connection, parses no body (but to find a hint for the log) and logs none of it. It answers with
//! success only after a commit.
//! What is absent: HTTP statuses and bodies, metrics, workers.

mod asked;
mod asynchronous;
mod courier;
mod flights;
mod gather;
mod handshake;
mod hint;
mod proxied;
mod receipt;
mod receiver;
mod synchronous;

pub use courier::Courier;
pub use receipt::{EventReceipt, Fault, Receipt};
pub use receiver::{Receiver, Wake};
