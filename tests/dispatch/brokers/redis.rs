//! Streams of Redis.

use std::collections::BTreeMap;
use std::process::Command;

use hookgate::config::Broker;
use hookgate::model::Message;
use redis::aio::MultiplexedConnection;

use super::{BYTES, Line, assert_headers, failed, message, succeeded, url};
use crate::support::broker::{self, from_debian};

fn server() -> broker::Broker {
    broker::Broker::start(|folder, port| {
        let mut command = Command::new(from_debian("/usr/bin/redis-server", "redis-server"));
        command.args(["--bind", "127.0.0.1", "--requirepass", "p@ss", "--appendonly", "yes"]);
        command.args(["--appendfsync", "always", "--port", &port.to_string()]).arg("--dir").arg(folder);
        command
    })
}

fn line(server: &broker::Broker, max_len: u64) -> Line {
    let url = url(&format!("redis://:p%40ss@127.0.0.1:{}/0", server.port));
    Line::new(Broker::Redis { url, stream: "hooks".into(), max_len })
}

/// A connection, and a stream with a group that reads it.
async fn reader(server: &broker::Broker) -> MultiplexedConnection {
    let client = redis::Client::open(format!("redis://:p%40ss@127.0.0.1:{}/0", server.port)).expect("a URL");
    let mut connection = client.get_multiplexed_async_connection().await.expect("connect");
    let make = "XGROUP CREATE hooks readers $ MKSTREAM";
    let make = make.split(' ').fold(redis::Cmd::new(), |mut order, word| {
        order.arg(word);
        order
    });
    let _ = make.query_async::<()>(&mut connection).await; // it may be there
    connection
}

type Entry = (String, Vec<(String, Vec<u8>)>);

async fn entries(connection: &mut MultiplexedConnection) -> Vec<Entry> {
    let mut order = redis::cmd("XRANGE");
    order.arg("hooks").arg("-").arg("+").query_async(connection).await.expect("entries")
}

#[tokio::test]
async fn a_message_arrives_byte_for_byte_with_its_headers() {
    let server = server();
    let mut reader = reader(&server).await;
    assert_eq!(line(&server, 1000).ending(&message()).await, succeeded());
    let (_, fields) = entries(&mut reader).await.remove(0);
    assert_eq!(fields.iter().find(|(name, _)| name == "body").expect("a body").1, BYTES);
    let headers: BTreeMap<String, String> = fields
        .into_iter()
        .filter(|(name, _)| name != "body")
        .map(|(name, value)| (name, String::from_utf8(value).expect("text")))
        .collect();
    assert_headers(&headers, "ce-");
    assert_eq!(headers["content-type"], "application/json; charset=utf-8");
}

#[tokio::test]
async fn the_stream_is_trimmed_to_about_its_length() {
    let server = server();
    let mut reader = reader(&server).await;
    let line = line(&server, 1);
    for number in 0..250 {
        line.send(&Message { message_id: format!("msg_{number}"), ..message() }).await;
    }
    let kept = entries(&mut reader).await.len();
    assert!((1..=200).contains(&kept), "{kept}");
}

#[tokio::test]
async fn a_server_that_was_down_gets_the_message_under_the_same_id_when_it_is_back() {
    let mut server = server();
    reader(&server).await;
    let line = line(&server, 1000);
    assert_eq!(line.ending(&message()).await, succeeded());
    server.stop();
    let next = Message { message_id: "msg_2".into(), ..message() };
    let (outcome, code) = line.ending(&next).await;
    assert_eq!(outcome, "failed");
    assert!(["connect", "closed"].contains(&code.as_deref().unwrap_or_default()), "{code:?}");
    assert_eq!(line.ending(&next).await, failed("connect"));
    server.restart();
    line.send_until_taken(&next).await;
    let stored = entries(&mut reader(&server).await).await;
    let ids = stored.iter().map(|(_, fields)| {
        let (_, id) = fields.iter().find(|(name, _)| name == "webhook-id").expect("an id");
        String::from_utf8_lossy(id).into_owned()
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["msg_2b1c", "msg_2"]);
}

#[tokio::test]
async fn a_stream_that_nobody_made_is_not_made() {
    let server = server();
    assert_eq!(line(&server, 1000).ending(&message()).await, failed("broker.no_stream"));
}

#[tokio::test]
async fn wrong_credentials_are_named() {
    let server = server();
    for user in [":wrong@", ""] {
        let url = url(&format!("redis://{user}127.0.0.1:{}", server.port));
        let line = Line::new(Broker::Redis { url, stream: "hooks".into(), max_len: 1000 });
        assert_eq!(line.ending(&message()).await, failed("broker.auth"), "{user}");
    }
}

#[tokio::test]
async fn a_key_that_is_no_stream_is_a_failure() {
    let server = server();
    let mut reader = reader(&server).await;
    redis::cmd("SET").arg("hooks").arg("text").query_async::<()>(&mut reader).await.expect("set");
    assert_eq!(line(&server, 1000).ending(&message()).await, failed("broker.wrongtype"));
}
