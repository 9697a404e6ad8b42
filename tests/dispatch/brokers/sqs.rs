//! SQS, played by moto.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hookgate::config::Broker;
use hookgate::model::{Content, Message, Secret};
use serde_json::{Value, json};

use super::{BYTES, Line, assert_headers, failed, message, rejected, succeeded};
use crate::support::broker::{self, from_pypi};
use crate::support::{http, wait};

/// `free` is how many calls are answered before credentials are asked for.
fn server(free: Option<u32>) -> broker::Broker {
    broker::Broker::start(move |_, port| {
        let mut command = Command::new(from_pypi("moto_server"));
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        if let Some(free) = free {
            command.env("INITIAL_NO_AUTH_ACTION_COUNT", free.to_string());
        }
        command
    })
}

fn line(server: &broker::Broker, queue: &str) -> Line {
    Line::new(Broker::Sqs {
        queue_url: format!("http://127.0.0.1:{}/123456789012/{queue}", server.port),
        region: "us-east-1".into(),
        access_key: Some((Secret::new("AKIAIOSFODNN7EXAMPLE"), Secret::new("secret"))),
    })
}

/// One call of the queue's own interface.
async fn call(server: &broker::Broker, action: &str, arguments: &Value) -> Value {
    let target = format!("AmazonSQS.{action}");
    let signed =
        b"AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0";
    let headers: [(&str, &[u8]); 3] = [
        ("x-amz-target", target.as_bytes()),
        ("content-type", b"application/x-amz-json-1.0"),
        ("authorization", signed),
    ];
    let to = SocketAddr::from(([127, 0, 0, 1], server.port));
    let answer = wait::until("moto to answer", async || {
        http::post(to, "/", &headers, arguments.to_string()).await.ok()
    })
    .await;
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("{action}: {}", answer.text()))
}

async fn fifo(server: &broker::Broker) {
    let attributes = json!({ "FifoQueue": "true" });
    call(server, "CreateQueue", &json!({ "QueueName": "hooks.fifo", "Attributes": attributes })).await;
}

async fn messages(server: &broker::Broker, queue: &str) -> Vec<Value> {
    let url = format!("http://127.0.0.1:{}/123456789012/{queue}", server.port);
    let order = json!({
        "QueueUrl": url, "MaxNumberOfMessages": 10, "AttributeNames": ["All"], "MessageAttributeNames": ["All"],
    });
    call(server, "ReceiveMessage", &order).await["Messages"].as_array().cloned().unwrap_or_default()
}

/// All headers, wherever they stand.
fn headers(message: &Value) -> BTreeMap<String, String> {
    let attributes = message["MessageAttributes"].as_object().expect("attributes");
    assert!(attributes.len() <= 10);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut headers: BTreeMap<String, String> =
        attributes.iter().map(|(name, value)| (name.clone(), text(&value["StringValue"]))).collect();
    let rest = headers.remove("x-hookgate-headers").expect("the rest");
    let rest: Value = serde_json::from_str(&rest).expect("JSON");
    headers
        .extend(rest.as_object().expect("an object").iter().map(|(name, value)| (name.clone(), text(value))));
    headers
}

#[tokio::test]
async fn a_message_arrives_byte_for_byte_with_its_headers_in_order_and_once() {
    let server = server(None);
    fifo(&server).await;
    let line = line(&server, "hooks.fifo");
    assert_eq!(line.ending(&message()).await, succeeded());
    assert_eq!(line.ending(&message()).await, succeeded(), "a second attempt under the same id");
    let messages = messages(&server, "hooks.fifo").await;
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let headers = headers(&messages[0]);
    assert_headers(&headers, "ce-");
    assert_eq!(headers["x-hookgate-body-encoding"], "base64");
    assert_eq!(STANDARD.decode(messages[0]["Body"].as_str().expect("text")).expect("base64"), BYTES);
    assert_eq!(messages[0]["Attributes"]["MessageGroupId"], "cus_1");
    assert_eq!(messages[0]["Attributes"]["MessageDeduplicationId"], "msg_2b1c");
}

#[tokio::test]
async fn a_body_that_is_text_arrives_as_it_is() {
    let server = server(None);
    call(&server, "CreateQueue", &json!({ "QueueName": "hooks" })).await;
    let text = "{\"name\": \"Zoë\\n\"}\r\n";
    let message = Message { content: Content::Body(Bytes::from_static(text.as_bytes())), ..message() };
    assert_eq!(line(&server, "hooks").ending(&message).await, succeeded());
    assert_eq!(messages(&server, "hooks").await[0]["Body"], text);
}

#[tokio::test]
async fn a_queue_that_is_not_there_is_a_failure() {
    let server = server(None);
    call(&server, "ListQueues", &json!({})).await;
    assert_eq!(line(&server, "hooks").ending(&message()).await, failed("broker.no_queue"));
}

#[tokio::test]
async fn a_body_that_no_queue_takes_is_rejected() {
    let server = server(None);
    for (size, code) in [(0, "broker.empty_body"), (1 << 20, "too_large")] {
        let message = Message { content: Content::Body(Bytes::from(vec![b'x'; size])), ..message() };
        assert_eq!(line(&server, "hooks").ending(&message).await, rejected(code));
    }
}

#[tokio::test]
async fn wrong_credentials_are_named() {
    let server = server(Some(1));
    call(&server, "CreateQueue", &json!({ "QueueName": "hooks" })).await;
    assert_eq!(line(&server, "hooks").ending(&message()).await, failed("broker.auth"));
}

#[tokio::test]
async fn a_service_that_was_down_gets_the_message_when_it_is_back() {
    let mut server = server(None);
    fifo(&server).await;
    let line = line(&server, "hooks.fifo");
    assert_eq!(line.ending(&message()).await, succeeded());
    server.stop();
    let next = Message { message_id: "msg_2".into(), ..message() };
    assert_eq!(line.ending(&next).await, failed("connect"));
    server.restart();
    fifo(&server).await; // moto keeps nothing
    line.send_until_taken(&next).await;
    let messages = messages(&server, "hooks.fifo").await;
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["Attributes"]["MessageDeduplicationId"], "msg_2");
}
