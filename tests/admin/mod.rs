//! The operators' listener over real sockets, and what the monitor saw of the store.

mod guards;
mod metrics;
mod readiness;
mod rig;
