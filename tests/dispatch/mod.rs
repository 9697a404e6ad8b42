//! Deliveries, against real servers on this machine: what goes out, where it may go, what comes back.

mod address;
#[cfg(any(feature = "nats", feature = "redis", feature = "amqp", feature = "sqs", feature = "kafka"))]
mod brokers;
mod cloudevents;
mod config;
mod fixture;
mod guard;
mod head;
mod log;
mod reply;
mod sign;
mod tls;
mod transport;
