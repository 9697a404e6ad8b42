//! Brokers: where they are, and which place in them messages go to.

use super::BrokerUrl;
use crate::model::Secret;

/// A broker and the place in it.
#[derive(Clone, Debug)]
pub enum Broker {
    /// NATS JetStream.
    Nats {
        /// `nats` or `tls`. A user without a password is a token.
        url: BrokerUrl,
        /// Where messages are published; a stream must listen to it.
        subject: String,
    },
    /// A stream of Redis.
    Redis {
        /// `redis` or `rediss`, with user, password and database if it has any.
        url: BrokerUrl,
        /// The stream's key. It must be there.
        stream: String,
        /// About how many entries are kept.
        max_len: u64,
    },
    /// AMQP 0.9.1, as RabbitMQ speaks it.
    Amqp {
        /// `amqp` or `amqps`, with user, password and virtual host.
        url: BrokerUrl,
        /// The exchange; empty for the default one, which takes the queue's name for a routing key.
        exchange: String,
        /// What the exchange routes by.
        routing_key: String,
    },
    /// Amazon SQS.
    Sqs {
        /// The queue; FIFO if its name ends in `.fifo`.
        queue_url: String,
        /// The region of the queue.
        region: String,
        /// Id and secret of an access key; without it the AWS SDK looks where it always does.
        access_key: Option<(Secret, Secret)>,
    },
    /// Kafka.
    Kafka {
        /// `host:port`, several with commas between.
        brokers: String,
        /// The topic.
        topic: String,
        /// Whether connections are encrypted.
        tls: bool,
        /// How the gateway proves who it is.
        sasl: Option<Sasl>,
    },
}

/// User and password for Kafka.
#[derive(Clone, Debug)]
pub struct Sasl {
    /// `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`.
    pub mechanism: &'static str,
    /// The user.
    pub username: Secret,
    /// Its password.
    pub password: Secret,
}

impl Broker {
    /// The word in `type`, which is the name of the Cargo feature as well.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nats { .. } => "nats",
            Self::Redis { .. } => "redis",
            Self::Amqp { .. } => "amqp",
            Self::Sqs { .. } => "sqs",
            Self::Kafka { .. } => "kafka",
        }
    }

    /// Whether this program was built with that feature.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        match self {
            Self::Nats { .. } => cfg!(feature = "nats"),
            Self::Redis { .. } => cfg!(feature = "redis"),
            Self::Amqp { .. } => cfg!(feature = "amqp"),
            Self::Sqs { .. } => cfg!(feature = "sqs"),
            Self::Kafka { .. } => cfg!(feature = "kafka"),
        }
    }
}
