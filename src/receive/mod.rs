//! The spine, one short story: verify, map, accept (async), accept and process (sync), or accept and ask (proxy).
//!
//! Who acts: `ingress`, once for each request that was read to its end, in a task that outlives the client.
//! What holds: this is the one entry; nothing else verifies and accepts, but the release of what was rejected before
//! (`release`), by the same functions. Before [`Receiver::receive`] has a `Verified` in hand it opens no connection (what is
//! kept of a rejected request is written after the reply, by `keep`), parses no body (but to find a hint for the log) and
//! logs none of it. It answers with success only after a commit.
//! What is absent: HTTP statuses and bodies, metrics, workers.

mod admission;
mod asked;
mod asynchronous;
mod courier;
mod credentials;
mod flights;
mod gather;
mod handshake;
mod hint;
mod judge;
mod keep;
mod proxied;
mod receipt;
mod receiver;
mod release;
mod synchronous;

pub use courier::Courier;
pub use keep::{Keeper, KeeperTask, NotKept, Watch};
pub use receipt::{EventReceipt, Fault, Receipt};
pub use receiver::{Receiver, Wake};
pub use release::{Release, Releaser};
