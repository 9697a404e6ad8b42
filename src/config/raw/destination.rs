//! `[destinations.NAME]` as written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DurationText, RawOnDead, SecretText};

/// Where messages go.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the file that mirrors it")]
pub(crate) struct RawDestination {
    /// The kind.
    #[serde(rename = "type")]
    pub(crate) kind: RawDestinationType,
    /// `http`: where to POST. `nats`, `redis`, `amqp`: the server; with a password, `env:NAME` or `file:PATH` that holds
    /// the whole URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// `nats`: where messages are published; a stream must listen to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    /// `redis`: the stream's key; the stream must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<String>,
    /// `redis`: about how many entries are kept, read or not; 1000000 unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub(crate) max_len: Option<u64>,
    /// `amqp`: the exchange; the default one unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exchange: Option<String>,
    /// `amqp`: what the exchange routes by; with the default exchange the queue's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) routing_key: Option<String>,
    /// `sqs`: the queue; FIFO if its name ends in `.fifo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) queue_url: Option<String>,
    /// `sqs`: the queue's region; taken from `queue_url` unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<String>,
    /// `sqs`: an access key; without it the AWS SDK looks where it always does (variables, files, roles).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access_key_id: Option<SecretText>,
    /// `sqs`: the access key's secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret_access_key: Option<SecretText>,
    /// `kafka`: `host:port` of one broker or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) brokers: Option<Vec<String>>,
    /// `kafka`: the topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) topic: Option<String>,
    /// `kafka`: whether connections are encrypted; yes unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls: Option<bool>,
    /// `kafka`: user and password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sasl: Option<RawSasl>,
    /// The secret that signs each delivery as in Standard Webhooks (`whsec_` and base64, or text), or several while
    /// rotating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sign: Option<RawSign>,
    /// Own headers. A value is text, or `env:NAME` or `file:PATH` that holds it.
    #[serde(default)]
    #[schemars(extend("additionalProperties" = { "type": "string", "writeOnly": true }))]
    pub(crate) headers: BTreeMap<String, String>,
    /// One delivery; `outbox.work_timeout` unless said. 100ms to 10m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<DurationText>,
    /// Deliveries at once by one process.
    #[serde(default = "eight")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) concurrency: usize,
    /// Whether the provider's signature headers are left out.
    #[serde(default)]
    pub(crate) drop_signature: bool,
    /// Whether deliveries are CloudEvents 1.0 in binary mode.
    #[serde(default)]
    pub(crate) cloudevents: bool,
    /// `http`: whether the host's name may resolve to a private or loopback address. An address written in `url` always may.
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// `http`: our certificate in PEM form, with those between it and its root, for a destination that asks for one
    /// (mTLS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_cert: Option<SecretText>,
    /// `http`: the private key of `client_cert`, in PEM form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_key: Option<SecretText>,
    /// `http`: the only authorities that the destination's certificate may come from, in PEM form; those of the machine
    /// unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ca: Option<SecretText>,
    /// Over `outbox.max_attempts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) max_attempts: Option<u32>,
    /// Deliveries that one process begins, failed ones included, as a number with `/s`, `/m` or `/h`. Evenly spread: not
    /// more at once than come in a tenth of a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["100/s"]))]
    pub(crate) rate: Option<String>,
    /// The waits after the first, the second, … failure, each 20 % shorter to 20 % longer; the last one repeats. In the
    /// place of `backoff_cap`. 100ms to 7d.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub(crate) backoff: Option<Vec<DurationText>>,
    /// When the destination is taken for broken, over all gateways together: nothing is sent then, and no attempt used
    /// up. `false`: never.
    #[serde(default)]
    pub(crate) circuit: RawCircuit,
    /// Whether messages with the same ordering key are delivered one at a time, in the order of their numbers.
    #[serde(default)]
    pub(crate) ordered: bool,
    /// Only with `ordered`: what a message that needs review does to those of the same key behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) on_dead: Option<RawOnDead>,
    /// Over `outbox.backoff_cap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backoff_cap: Option<DurationText>,
    /// Over `outbox.max_age`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_age: Option<DurationText>,
}

/// The kinds of destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawDestinationType {
    /// An HTTP POST.
    Http,
    /// A line of JSON on standard output.
    Stdout,
    /// NATS JetStream.
    Nats,
    /// A stream of Redis.
    Redis,
    /// AMQP 0.9.1, as RabbitMQ speaks it.
    Amqp,
    /// Amazon SQS.
    Sqs,
    /// Kafka.
    Kafka,
}

/// User and password for Kafka.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSasl {
    /// How they are shown to the broker.
    pub(crate) mechanism: RawSaslMechanism,
    /// The user.
    pub(crate) username: SecretText,
    /// Its password.
    pub(crate) password: SecretText,
}

/// SASL mechanisms.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) enum RawSaslMechanism {
    /// As it is.
    #[serde(rename = "PLAIN")]
    Plain,
    /// Salted and hashed.
    #[serde(rename = "SCRAM-SHA-256")]
    ScramSha256,
    /// The same with a longer hash.
    #[serde(rename = "SCRAM-SHA-512")]
    ScramSha512,
}

/// One secret or several.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RawSign {
    /// The usual case.
    One(SecretText),
    /// While rotating: every delivery carries a signature by each.
    Several(Vec<SecretText>),
}

/// When a destination is taken for broken.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RawCircuit {
    /// `false`: never. `true`: as if it were left out.
    Switch(bool),
    /// These numbers.
    Numbers(RawCircuitNumbers),
}

impl Default for RawCircuit {
    fn default() -> Self {
        Self::Switch(true)
    }
}

/// The circuit breaker of a destination.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawCircuitNumbers {
    /// Failures in a row that open it: no answer, 5xx, 408 and 429.
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) failures: u32,
    /// How long nothing is sent then. After that one message is tried, and each failure doubles the time, up to 10m. 1s
    /// to 1d.
    pub(crate) open: DurationText,
}

impl Default for RawCircuitNumbers {
    fn default() -> Self {
        Self { failures: 10, open: "30s".into() }
    }
}

fn eight() -> usize {
    8
}
