//! hookgate: one ingress for all SaaS webhooks.
//!
//! A request comes in as bytes, is proved genuine, becomes events, is written once to an inbox, and leaves through
//! handlers or destinations. The modules stand in the order of that way, and **a module may use only what stands
//! above it**; `tests/tidy.rs` reads the imports and fails otherwise.

pub mod clock;
pub mod failpoint;
pub mod model;
pub mod provider;
pub mod verify;
pub mod mapping;
pub mod retry;
pub mod egress;
pub mod jq;
pub mod routing;
pub mod config;
pub mod store;
pub mod handler;
pub mod keys;
pub mod process;
pub mod receive;
pub mod dispatch;
pub mod worker;
pub mod observe;
pub mod ingress;
pub mod admin;
pub mod app;
pub mod cli;
