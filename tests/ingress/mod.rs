//! The public listener over real sockets.

mod challenges;
mod drain;
mod gateway;
mod isolation;
mod listener;
mod peers;
mod requests;
mod rig;
mod smuggling;
mod tls;
