//! Which broker is which file. A kind whose Cargo feature is off has no file here; the config has refused it.

use std::time::Duration;

#[cfg(feature = "amqp")]
use super::amqp::Amqp;
#[cfg(feature = "kafka")]
use super::kafka::Kafka;
#[cfg(feature = "nats")]
use super::nats::Nats;
#[cfg(feature = "redis")]
use super::redis::Redis;
#[cfg(feature = "sqs")]
use super::sqs::Sqs;
use super::transport::Transport;
use crate::config::Broker;

/// Makes one broker ready; nothing is connected yet. `None` if this program cannot talk to it.
#[cfg_attr(
    not(any(feature = "nats", feature = "redis", feature = "amqp", feature = "sqs", feature = "kafka")),
    expect(unused_variables, reason = "no broker is built in")
)]
pub(super) fn open(broker: &Broker, timeout: Duration) -> Option<Box<dyn Transport>> {
    match broker {
        #[cfg(feature = "nats")]
        Broker::Nats { url, subject } => Some(Box::new(Nats::new(url, subject, timeout))),
        #[cfg(feature = "redis")]
        Broker::Redis { url, stream, max_len } => Some(Box::new(Redis::new(url, stream, *max_len, timeout))),
        #[cfg(feature = "amqp")]
        Broker::Amqp { url, exchange, routing_key } => {
            Some(Box::new(Amqp::new(url, exchange, routing_key, timeout)))
        }
        #[cfg(feature = "sqs")]
        Broker::Sqs { queue_url, region, access_key } => {
            Some(Box::new(Sqs::new(queue_url, region, access_key.as_ref(), timeout)))
        }
        #[cfg(feature = "kafka")]
        Broker::Kafka { brokers, topic, tls, sasl } => {
            Some(Box::new(Kafka::new(brokers, topic, *tls, sasl.as_ref(), timeout)))
        }
        #[allow(unreachable_patterns, reason = "with the feature `full` there is no other")]
        _ => None,
    }
}
