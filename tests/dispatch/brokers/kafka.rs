//! Kafka, played by the cluster that librdkafka brings along for tests.

use std::collections::BTreeMap;
use std::time::Duration;

use hookgate::config::{Broker, Sasl};
use hookgate::model::{Message, Secret};
use rdkafka::ClientConfig;

use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::{Headers as _, Message as _};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};

use super::{BYTES, Line, assert_headers, failed, message, rejected, succeeded};

const TOPIC: &str = "hooks";
type Cluster = MockCluster<'static, DefaultProducerContext>;

fn cluster() -> Cluster {
    let cluster = MockCluster::new(1).expect("a cluster");
    cluster.create_topic(TOPIC, 1, 1).expect("a topic");
    cluster
}

fn line(cluster: &Cluster, sasl: Option<Sasl>, timeout: Duration) -> Line {
    let brokers = cluster.bootstrap_servers();
    Line::patient(Broker::Kafka { brokers, topic: TOPIC.into(), tls: false, sasl }, timeout)
}

/// Key, body and headers of the first messages.
fn consume(cluster: &Cluster, count: usize) -> Vec<(String, Vec<u8>, BTreeMap<String, String>)> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", cluster.bootstrap_servers())
        .set("group.id", "test")
        .create()
        .expect("a consumer");
    let mut all = TopicPartitionList::new();
    all.add_partition_offset(TOPIC, 0, Offset::Beginning).expect("a partition");
    consumer.assign(&all).expect("assigned");
    let mut got = Vec::new();
    while got.len() < count {
        let message = consumer.poll(Duration::from_secs(30)).expect("a message in time");
        let Ok(message) = message else { continue };
        let headers = message.headers().expect("headers");
        let headers = headers.iter().map(|header| {
            let value = String::from_utf8(header.value.expect("a value").to_vec()).expect("text");
            (header.key.to_owned(), value)
        });
        let key = String::from_utf8(message.key().expect("a key").to_vec()).expect("text");
        got.push((key, message.payload().unwrap_or_default().to_vec(), headers.collect()));
    }
    got
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_arrives_byte_for_byte_with_its_headers_under_its_ordering_key() {
    let cluster = cluster();
    let line = line(&cluster, None, Duration::from_secs(20));
    assert_eq!(line.ending(&message()).await, succeeded());
    let unordered = Message { ordering_key: None, ..message() };
    assert_eq!(line.ending(&unordered).await, succeeded());
    let got = consume(&cluster, 2);
    let (key, body, headers) = &got[0];
    assert_eq!((key.as_str(), body.as_slice()), ("cus_1", BYTES));
    assert_headers(headers, "ce_");
    assert_eq!(headers["content-type"], "application/json; charset=utf-8");
    assert_eq!(got[1].0, "stripe:billing:evt_1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_down_gets_the_message_under_the_same_id_when_it_is_back() {
    let cluster = cluster();
    cluster.broker_down(1).expect("down");
    let line = line(&cluster, None, Duration::from_secs(3));
    assert_eq!(line.ending(&message()).await, failed("connect"));
    cluster.broker_up(1).expect("up");
    line.send_until_taken(&message()).await;
    let (_, body, headers) = consume(&cluster, 1).remove(0);
    assert_eq!(body, BYTES);
    assert_eq!(headers["webhook-id"], "msg_2b1c");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_that_is_not_there_is_a_failure() {
    let cluster = cluster();
    cluster.topic_error(TOPIC, RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART).expect("an error");
    let line = line(&cluster, None, Duration::from_secs(10));
    assert_eq!(line.ending(&message()).await, failed("broker.no_topic"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_the_topics_limit_is_rejected() {
    let cluster = cluster();
    let too_large = RDKafkaErrorCode::MessageSizeTooLarge;
    assert_eq!(too_large, RDKafkaErrorCode::from(RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE));
    let produce = RDKafkaApiKey::Produce;
    cluster.request_errors(produce, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE]);
    let line = line(&cluster, None, Duration::from_secs(20));
    assert_eq!(line.ending(&message()).await, rejected("too_large"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_not_write_is_named() {
    let cluster = cluster();
    let not_allowed = RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    cluster.request_errors(RDKafkaApiKey::Produce, &[not_allowed]);
    let line = line(&cluster, None, Duration::from_secs(20));
    assert_eq!(line.ending(&message()).await, failed("broker.auth"));
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_are_not_taken_are_a_failure() {
    let cluster = cluster(); // which knows no users, and hangs up
    let sasl = Sasl { mechanism: "PLAIN", username: Secret::new("hook"), password: Secret::new("wrong") };
    let line = line(&cluster, Some(sasl), Duration::from_secs(5));
    assert_eq!(line.ending(&message()).await, failed("connect"));
}
