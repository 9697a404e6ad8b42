//! RabbitMQ.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use hookgate::config::Broker;
use hookgate::model::{Content, Message};
use lapin::options::{BasicGetOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::{Channel, Connection, ConnectionProperties};

use super::{BYTES, Line, assert_headers, failed, message, rejected, succeeded, url};
use crate::support::broker::{self, free_port, from_debian};
use crate::support::{process, wait};

/// A node of its own, with a port mapper of its own: Erlang's would stay behind.
fn server() -> broker::Broker {
    let (distribution, mapper) = (free_port(), mapper());
    broker::Broker::start(move |folder, port| {
        let program = from_debian("/usr/lib/rabbitmq/bin/rabbitmq-server", "rabbitmq-server");
        configure(folder);
        let mut command = Command::new(program);
        command
            .env("RUNNING_UNDER_SYSTEMD", "1") // no shell between us and the node
            .env("HOME", folder)
            .env("ERL_EPMD_PORT", mapper.to_string())
            .env("RABBITMQ_NODENAME", format!("hookgate{port}@localhost"))
            .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODE_PORT", port.to_string())
            .env("RABBITMQ_DIST_PORT", distribution.to_string())
            .env("RABBITMQ_CONF_ENV_FILE", folder.join("no-such-file"))
            .env("RABBITMQ_CONFIG_FILE", folder.join("rabbitmq.conf"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
            .env("RABBITMQ_PID_FILE", folder.join("pid"))
            .env("RABBITMQ_MNESIA_BASE", folder.join("mnesia"))
            .env("RABBITMQ_LOG_BASE", folder.join("logs"))
            .env("RABBITMQ_LOGS", "-");
        command
    })
}

fn configure(folder: &Path) {
    fs::write(folder.join("rabbitmq.conf"), "max_message_size = 100000\n").expect("write the configuration");
    fs::write(folder.join("plugins"), "[].\n").expect("write the plugins");
}

/// The port of one port mapper for all nodes of this process.
fn mapper() -> u16 {
    static MAPPER: OnceLock<(u16, Mutex<Child>)> = OnceLock::new();
    let (port, _) = MAPPER.get_or_init(|| {
        from_debian("/usr/lib/rabbitmq/bin/rabbitmq-server", "rabbitmq-server");
        let port = free_port();
        let mut command = Command::new("epmd");
        command.args(["-address", "127.0.0.1", "-port", &port.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        (port, Mutex::new(process::spawn(&mut command).expect("run epmd")))
    });
    *port
}

/// One server for the tests that leave it alone.
fn shared() -> u16 {
    static SERVER: OnceLock<Mutex<broker::Broker>> = OnceLock::new();
    SERVER.get_or_init(|| Mutex::new(server())).lock().unwrap_or_else(PoisonError::into_inner).port
}

fn line(port: u16, user: &str, exchange: &str, routing_key: &str) -> Line {
    let url = url(&format!("amqp://{user}@127.0.0.1:{port}/%2f"));
    Line::new(Broker::Amqp { url, exchange: exchange.into(), routing_key: routing_key.into() })
}

async fn queue(port: u16, name: &str) -> (Connection, Channel) {
    let url = format!("amqp://guest:guest@127.0.0.1:{port}/%2f");
    let connection = wait::until("RabbitMQ to take connections", async || {
        Connection::connect(&url, ConnectionProperties::default()).await.ok()
    })
    .await;
    let channel = connection.create_channel().await.expect("a channel");
    let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(name.into(), durable, FieldTable::default()).await.expect("a queue");
    (connection, channel)
}

#[tokio::test]
async fn a_message_arrives_byte_for_byte_with_its_headers() {
    let port = shared();
    let (_connection, channel) = queue(port, "hooks").await;
    assert_eq!(line(port, "guest:guest", "", "hooks").ending(&message()).await, succeeded());
    let got = channel.basic_get("hooks".into(), BasicGetOptions { no_ack: true }).await.expect("an answer");
    let delivery = got.expect("a message").delivery;
    assert_eq!(delivery.data, BYTES);
    let properties = &delivery.properties;
    assert_eq!(properties.delivery_mode(), &Some(2));
    assert_eq!(properties.message_id().as_ref().map(ShortString::as_str), Some("msg_2b1c"));
    assert_eq!(properties.kind().as_ref().map(ShortString::as_str), Some("invoice.paid"));
    let media = properties.content_type().as_ref().map(ShortString::as_str);
    assert_eq!(media, Some("application/json; charset=utf-8"));
    let table = properties.headers().as_ref().expect("headers").inner();
    let headers: BTreeMap<String, String> = table
        .iter()
        .map(|(name, value)| {
            let AMQPValue::LongString(value) = value else { panic!("{name} is no text") };
            (name.to_string(), value.to_string())
        })
        .collect();
    assert_headers(&headers, "cloudEvents:");
}

#[tokio::test]
async fn what_no_queue_takes_is_a_failure_though_the_broker_confirms_it() {
    let port = shared();
    let (_connection, _channel) = queue(port, "ready").await;
    assert_eq!(line(port, "guest:guest", "", "nobody").ending(&message()).await, failed("broker.no_route"));
    assert_eq!(line(port, "guest:guest", "none", "").ending(&message()).await, failed("broker.not_found"));
}

#[tokio::test]
async fn each_of_many_messages_at_once_gets_its_own_answer() {
    let port = shared();
    let (_connection, channel) = queue(port, "many").await;
    let line = line(port, "guest:guest", "", "many");
    let messages: Vec<Message> =
        (0..50).map(|number| Message { message_id: format!("msg_{number}"), ..message() }).collect();
    let endings = futures_util::future::join_all(messages.iter().map(|message| line.ending(message))).await;
    assert!(endings.iter().all(|ending| *ending == succeeded()), "{endings:?}");
    let mut ids = Vec::new();
    while let Some(got) =
        channel.basic_get("many".into(), BasicGetOptions { no_ack: true }).await.expect("an answer")
    {
        ids.push(got.delivery.properties.message_id().as_ref().expect("an id").to_string());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 50);
}

#[tokio::test]
async fn a_body_over_the_brokers_limit_is_rejected_and_the_next_one_is_taken() {
    let port = shared();
    let (_connection, _channel) = queue(port, "small").await;
    let line = line(port, "guest:guest", "", "small");
    let large = Message { content: Content::Body(Bytes::from(vec![b'x'; 200_000])), ..message() };
    assert_eq!(line.ending(&large).await, rejected("too_large"));
    assert_eq!(line.ending(&message()).await, succeeded());
}

#[tokio::test]
async fn wrong_credentials_are_named() {
    let port = shared();
    let (_connection, _channel) = queue(port, "ready").await;
    assert_eq!(line(port, "guest:wrong", "", "ready").ending(&message()).await, failed("broker.auth"));
}

#[tokio::test]
async fn a_broker_that_was_down_gets_the_message_under_the_same_id_when_it_is_back() {
    let mut server = server();
    drop(queue(server.port, "hooks").await);
    let line = line(server.port, "guest:guest", "", "hooks");
    assert_eq!(line.ending(&message()).await, succeeded());
    server.stop();
    let next = Message { message_id: "msg_2".into(), ..message() };
    // How it is seen that nobody is there depends on what the connection knows of it yet.
    for _ in 0..2 {
        let (outcome, code) = line.ending(&next).await;
        assert_eq!(outcome, "failed");
        assert!(["connect", "closed", "timeout"].contains(&code.as_deref().unwrap_or_default()), "{code:?}");
    }
    server.restart();
    line.send_until_taken(&next).await;
    let (_connection, channel) = queue(server.port, "hooks").await;
    let mut ids = Vec::new();
    while let Some(got) =
        channel.basic_get("hooks".into(), BasicGetOptions { no_ack: true }).await.expect("an answer")
    {
        ids.push(got.delivery.properties.message_id().as_ref().expect("an id").to_string());
    }
    assert_eq!(ids, ["msg_2b1c", "msg_2"]);
}
