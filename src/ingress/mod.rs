//! The public listener: connections, limits, and the way from an HTTP request to a receipt and back.
//!
//! Who acts: `app` makes an [`IngressState`] and calls [`serve`]; each request goes through `exchange` once.
//! What holds: everything that a stranger can make us spend is bounded (connections, time, headers, bodies and
//! the memory for all of them, work at once); a path is an endpoint only if it is written exactly as in the config; the work on a request that was
//! read to its end is finished in a task of its own, whatever the client does; replies hold fixed texts only.
//! What is absent: verification, SQL, workers. Bodies are not decoded: a signature is over the bytes as they came.

mod activity;
mod body;
mod connection;
mod convert;
mod exchange;
mod limits;
mod listener;
mod memory;
mod peer;
mod refusal;
mod reply;
mod stack;
mod tls;

pub use exchange::IngressState;
pub use limits::{Drain, Limits};
pub use listener::{Drained, bind, listen};
pub use stack::serve;
pub use tls::{TlsError, acceptor};
