//! A broker that is not there when the event comes.

use std::process::Command;

use async_nats::jetstream::{self, stream};
use serde_json::json;

use crate::support::broker::{Broker, from_pypi};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::GatewayConfig;
use crate::support::stripe;

async fn a_message_waits_for_its_broker_and_hinders_neither_start_nor_drain(engine: Engine) {
    let database = Database::new(engine).await;
    let mut broker = Broker::stopped(|folder, port| {
        let mut command = Command::new(from_pypi("nats-server"));
        command.args(["-a", "127.0.0.1", "-js", "-p", &port.to_string()]).arg("-sd").arg(folder);
        command
    });
    let address = format!("nats://127.0.0.1:{}", broker.port);
    let config = GatewayConfig::new(&database.url, "sync")
        .with(&format!("[destinations.bus]\ntype = \"nats\"\nurl = \"{address}\"\nsubject = \"hooks\"\n"))
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"bus\"]\n")
        .with("[outbox]\npoll_interval = \"50ms\"\nbackoff_cap = \"1s\"\n");
    let gateway = config.start().await;
    let body = stripe::event("evt_1", "customer.created", &json!({}));
    gateway.deliver(body.clone()).await.expect("an answer");
    database.wait_for("SELECT count(*) FROM outbox WHERE last_error = 'connect'", 1).await;
    assert!(gateway.terminate().await.status.success());

    broker.restart();
    let context = jetstream::new(async_nats::connect(&address).await.expect("connect"));
    let hooks =
        stream::Config { name: "HOOKS".into(), subjects: vec!["hooks".into()], ..stream::Config::default() };
    let stream = context.create_stream(hooks).await.expect("a stream");
    let _gateway = config.start().await;
    database.wait_for("SELECT count(*) FROM outbox WHERE published_at IS NOT NULL", 1).await;
    let stored = stream.get_raw_message(1).await.expect("the message");
    assert_eq!(stored.payload, body);
    assert_eq!(stream.get_info().await.expect("info").state.messages, 1);
}

both_engines!(a_message_waits_for_its_broker_and_hinders_neither_start_nor_drain);
