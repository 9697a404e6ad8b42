//! The spine, one short story: verify, map, accept.

mod receipt;

pub use receipt::{EventReceipt, Fault, Receipt};
