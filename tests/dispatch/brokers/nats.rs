//! NATS JetStream.

use std::collections::BTreeMap;
use std::process::Command;

use async_nats::ConnectOptions;
use async_nats::jetstream::{self, stream};
use bytes::Bytes;
use hookgate::config::Broker;
use hookgate::model::{Content, Message};

use super::{BYTES, Line, assert_headers, failed, message, rejected, succeeded, url};
use crate::dispatch::fixture;
use crate::support::broker::{self, from_pypi};

const SUBJECT: &str = "webhooks.stripe";

fn server() -> broker::Broker {
    broker::Broker::start(|folder, port| {
        let mut command = Command::new(from_pypi("nats-server"));
        command.args(["-a", "127.0.0.1", "-js", "--user", "hook", "--pass", "p@ss", "-p", &port.to_string()]);
        command.arg("-sd").arg(folder);
        command
    })
}

fn line(server: &broker::Broker) -> Line {
    Line::new(Broker::Nats {
        url: url(&format!("nats://hook:p%40ss@127.0.0.1:{}", server.port)),
        subject: SUBJECT.to_owned(),
    })
}

/// A stream on disk that listens to the subject.
async fn stream(server: &broker::Broker) -> stream::Stream {
    let options = ConnectOptions::with_user_and_password("hook".into(), "p@ss".into());
    let client = options.connect(format!("127.0.0.1:{}", server.port)).await.expect("connect");
    let config = stream::Config {
        name: "HOOKS".into(),
        subjects: vec!["webhooks.>".into()],
        max_message_size: 10_000,
        ..stream::Config::default()
    };
    jetstream::new(client).get_or_create_stream(config).await.expect("a stream")
}

#[tokio::test]
async fn a_message_arrives_byte_for_byte_with_its_headers_and_once() {
    let server = server();
    let stream = stream(&server).await;
    let line = line(&server);
    assert_eq!(line.ending(&message()).await, succeeded());
    assert_eq!(line.ending(&message()).await, succeeded(), "a second attempt under the same id");
    assert_eq!(stream.get_info().await.expect("info").state.messages, 1);
    let stored = stream.get_raw_message(1).await.expect("the message");
    assert_eq!(stored.payload, BYTES);
    assert_eq!(stored.subject.as_str(), SUBJECT);
    let headers: BTreeMap<String, String> =
        stored.headers.iter().map(|(name, values)| (name.to_string(), values[0].to_string())).collect();
    assert_headers(&headers, "ce-");
    assert_eq!(headers["Nats-Msg-Id"], "msg_2b1c");
    assert_eq!(headers["ce-datacontenttype"], "application/json;%20charset=utf-8");
}

#[tokio::test]
async fn a_provider_gives_no_orders_to_the_server() {
    let server = server();
    let stream = stream(&server).await;
    let line = line(&server);
    line.send(&message()).await;
    let headers = [("nats-rollup", "all"), ("nats-expected-stream", "OTHER"), ("nats-msg-id", "theirs")];
    let next = Message { message_id: "msg_2".into(), ..fixture::forward("{}", &headers) };
    assert_eq!(line.ending(&next).await, succeeded());
    assert_eq!(stream.get_info().await.expect("info").state.messages, 2, "nothing was rolled up");
    let stored = stream.get_raw_message(2).await.expect("the message");
    assert_eq!(stored.headers.get("x-hookgate-original-nats-rollup").map(AsRef::as_ref), Some("all"));
}

#[tokio::test]
async fn a_server_that_was_down_gets_the_message_under_the_same_id_when_it_is_back() {
    let mut server = server();
    stream(&server).await;
    let line = line(&server);
    assert_eq!(line.ending(&message()).await, succeeded());
    server.stop();
    let next = Message { message_id: "msg_2".into(), ..message() };
    let (outcome, code) = line.ending(&next).await;
    assert_eq!(outcome, "failed");
    assert!(["connect", "closed", "timeout"].contains(&code.as_deref().unwrap_or_default()), "{code:?}");
    assert_eq!(line.ending(&next).await, failed("connect"));
    server.restart();
    line.send_until_taken(&next).await;
    let stream = stream(&server).await;
    assert_eq!(stream.get_info().await.expect("info").state.messages, 2);
    let stored = stream.get_raw_message(2).await.expect("the message");
    assert_eq!(stored.headers.get("Nats-Msg-Id").map(AsRef::as_ref), Some("msg_2"));
}

#[tokio::test]
async fn without_a_stream_nothing_is_published() {
    let server = server();
    assert_eq!(line(&server).ending(&message()).await, failed("broker.no_stream"));
}

#[tokio::test]
async fn a_body_over_the_streams_limit_is_rejected() {
    let server = server();
    stream(&server).await;
    for size in [20_000, 2_000_000] {
        let large = Message { content: Content::Body(Bytes::from(vec![b'x'; size])), ..message() };
        assert_eq!(line(&server).ending(&large).await, rejected("too_large"), "{size}");
    }
}

#[tokio::test]
async fn wrong_credentials_are_named() {
    let server = server();
    for user in ["hook:wrong@", "", "token@"] {
        let url = url(&format!("nats://{user}127.0.0.1:{}", server.port));
        let line = Line::new(Broker::Nats { url, subject: SUBJECT.into() });
        assert_eq!(line.ending(&message()).await, failed("broker.auth"), "{user}");
    }
}
