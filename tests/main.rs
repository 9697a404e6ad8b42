//! All tests of the gateway, one binary that mirrors the tree. `cargo test` makes what they need: a throw-away
//! PostgreSQL cluster, and environments with the providers' own SDKs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    unreachable_pub,
    reason = "a test that cannot go on should stop at once and say so; helpers here have no other crate to be hidden from"
)]

mod support;

mod admin;
mod cli;
mod config;
mod dashboards;
mod dispatch;
mod end_to_end;
mod fuzz;
mod handler;
mod ingress;
mod interop;
mod jq;
mod keys;
mod mutants;
mod provider;
mod receive;
mod retry;
mod routing;
mod store;
mod tidy;
mod verify;
mod worker;
