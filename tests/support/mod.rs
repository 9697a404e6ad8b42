//! What the tests stand on: the gateway in processes of its own, its neighbours on both sides, and a clock's patience.

#[cfg(any(feature = "nats", feature = "redis", feature = "amqp", feature = "sqs"))]
pub mod broker;
pub mod database;
pub mod destination;
pub mod gateway;
pub mod http;
pub mod interop;
pub mod metrics;
pub mod packages;
pub mod pooler;
pub mod postgres;
pub mod process;
pub mod prometheus;
pub mod stripe;
pub mod wait;
