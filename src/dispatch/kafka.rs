//! Kafka: a message is published when all in-sync replicas have it. The producer is idempotent, so that its own
//! repetitions leave one copy; another attempt of ours, after a lost answer, may leave a second one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rdkafka::ClientConfig;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord, Producer as _};

use super::link::Link;
use super::parcel::delivered;
use super::transport::{Prepared, Reply, Transport};
use crate::config::Sasl;

/// The largest that the library allows: the brokers decide, by what they are set to.
const MAX_BYTES: &str = "1000000000";

/// One topic.
pub(super) struct Kafka {
    config: ClientConfig,
    topic: String,
    timeout: Duration,
    link: Link<Kept>,
}

impl Kafka {
    pub(super) fn new(brokers: &str, topic: &str, tls: bool, sasl: Option<&Sasl>, timeout: Duration) -> Self {
        let mut config = ClientConfig::new();
        let limit = timeout.as_millis().to_string();
        config
            .set("bootstrap.servers", brokers)
            .set("client.id", "hookgate")
            .set("enable.idempotence", "true")
            .set("acks", "all")
            .set("message.max.bytes", MAX_BYTES)
            .set("message.timeout.ms", &limit)
            .set("topic.metadata.propagation.max.ms", "1000")
            .set("allow.auto.create.topics", "false")
            .set(
                "security.protocol",
                match (tls, sasl.is_some()) {
                    (false, false) => "plaintext",
                    (true, false) => "ssl",
                    (false, true) => "sasl_plaintext",
                    (true, true) => "sasl_ssl",
                },
            );
        if let Some(sasl) = sasl {
            config
                .set("sasl.mechanism", sasl.mechanism)
                .set("sasl.username", String::from_utf8_lossy(sasl.username.expose()))
                .set("sasl.password", String::from_utf8_lossy(sasl.password.expose()));
        }
        Self { config, topic: topic.to_owned(), timeout, link: Link::new() }
    }

    async fn deliver(&self, message: &Prepared<'_>) -> Result<(), Reply> {
        // After a fatal error a producer takes nothing more.
        let alive = |(producer, _): &Kept| producer.client().fatal_error().is_none();
        let (producer, trouble) = self.link.get(alive, async { self.producer() }).await?;
        let key = message.key();
        let record =
            FutureRecord::to(&self.topic).key(&key).payload(&message.body[..]).headers(headers(message));
        let queued = producer.send_result(record).map_err(|(error, _)| reply(&error, &trouble))?;
        match queued.await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err((error, _))) => Err(reply(&error, &trouble)),
            Err(_) => Err(Reply::failed("closed", "the producer was given up")),
        }
    }

    /// Connects in the background, and for as long as it lives.
    fn producer(&self) -> Result<Kept, Reply> {
        let trouble = Arc::<LastTrouble>::default();
        let made = self.config.create_with_context(Trouble(Arc::clone(&trouble)));
        let made: Result<FutureProducer<Trouble>, KafkaError> = made;
        made.map(|producer| (producer, trouble))
            .map_err(|error| Reply::failed("broker.config", error.to_string()))
    }
}

#[async_trait]
impl Transport for Kafka {
    async fn send(&self, message: &Prepared<'_>) -> Reply {
        // The library gives up at `timeout` by itself, and then knows why.
        delivered(self.timeout + Duration::from_secs(2), Box::pin(self.deliver(message))).await
    }
}

/// What was last wrong with the connections: a message that runs out of time does not know.
struct Trouble(Arc<LastTrouble>);

type LastTrouble = Mutex<Option<(Code, String)>>;
type Kept = (FutureProducer<Trouble>, Arc<LastTrouble>);

impl ClientContext for Trouble {
    /// Connections come and go, and deliveries say what they meet: nothing here is more than a detail.
    fn log(&self, _: RDKafkaLogLevel, facility: &str, text: &str) {
        tracing::debug!(facility, text, "kafka.client");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        if let Some(code) = error.rdkafka_error_code() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((code, reason.to_owned()));
        }
    }
}

fn headers(message: &Prepared<'_>) -> OwnedHeaders {
    let plain = message.fields_without_cloudevents();
    let cloudevents = message.cloudevents.iter().map(|(name, value)| (format!("ce_{name}"), value.clone()));
    plain.into_iter().chain(cloudevents).fold(OwnedHeaders::new(), |headers, (key, value)| {
        headers.insert(Header { key: &key, value: Some(&value) })
    })
}

fn reply(error: &KafkaError, trouble: &LastTrouble) -> Reply {
    let detail = error.to_string();
    match error.rdkafka_error_code() {
        Some(Code::MessageSizeTooLarge | Code::InvalidMessageSize) => Reply::rejected("too_large", detail),
        Some(Code::UnknownTopic | Code::UnknownTopicOrPartition | Code::UnknownPartition) => {
            Reply::failed("broker.no_topic", detail)
        }
        Some(Code::TopicAuthorizationFailed | Code::ClusterAuthorizationFailed) => {
            Reply::failed("broker.auth", detail)
        }
        Some(Code::MessageTimedOut) => match trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((Code::Authentication | Code::SaslAuthenticationFailed, why)) => {
                Reply::failed("broker.auth", why)
            }
            Some((Code::SSL, why)) => Reply::failed("tls", why),
            Some((Code::Resolve, why)) => Reply::failed("dns", why),
            Some((Code::BrokerTransportFailure | Code::AllBrokersDown, why)) => Reply::failed("connect", why),
            _ => Reply::failed("timeout", detail),
        },
        Some(code) => Reply::failed(format!("broker.{}", code as i32), detail),
        None => Reply::failed("broker.error", detail),
    }
}
