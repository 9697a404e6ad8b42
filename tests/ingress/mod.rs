//! The public listener over real sockets.

mod drain;
mod listener;
mod rig;
mod smuggling;
mod tls;
