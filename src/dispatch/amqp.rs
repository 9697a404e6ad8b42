//! AMQP 0.9.1: a message is published when the broker has confirmed it. `mandatory`, since a broker confirms what it
//! could bring to no queue as well: it only gives that back first.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};
use lapin::{BasicProperties, Channel, Confirmation, Connection, ConnectionProperties, Error, ErrorKind};

use super::link::Link;
use super::parcel::delivered;
use super::transport::{Prepared, Reply, Transport};
use crate::config::BrokerUrl;

/// One routing key on one exchange.
pub(super) struct Amqp {
    url: BrokerUrl,
    exchange: ShortString,
    routing_key: ShortString,
    timeout: Duration,
    link: Link<Arc<Connection>>,
    /// Channels that wait for work. Each has one message under way at most: nothing on the wire says which message
    /// of several a return belongs to.
    idle: Mutex<Vec<Channel>>,
}

impl Amqp {
    pub(super) fn new(url: &BrokerUrl, exchange: &str, routing_key: &str, timeout: Duration) -> Self {
        Self {
            url: url.clone(),
            exchange: exchange.into(),
            routing_key: routing_key.into(),
            timeout,
            link: Link::new(),
            idle: Mutex::default(),
        }
    }

    async fn deliver(&self, message: &Prepared<'_>) -> Result<(), Reply> {
        let channel = self.channel().await?;
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let (exchange, routing_key) = (self.exchange.clone(), self.routing_key.clone());
        let sent = channel.basic_publish(exchange, routing_key, options, &message.body, properties(message));
        let confirmation = sent.await.map_err(|error| reply(&error))?.await.map_err(|error| reply(&error))?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(channel);
        match confirmation {
            Confirmation::Ack(None) => Ok(()),
            Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)) => {
                Err(Reply::failed("broker.no_route", "no queue takes this exchange and routing key"))
            }
            Confirmation::Nack(None) => Err(Reply::failed("broker.nack", "the broker could not keep it")),
            Confirmation::NotRequested => Err(Reply::failed("broker.nack", "the broker confirms nothing")),
        }
    }

    async fn channel(&self) -> Result<Channel, Reply> {
        loop {
            let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match kept {
                Some(channel) if channel.status().connected() => return Ok(channel),
                Some(_) => {}
                None => break,
            }
        }
        let alive = |connection: &Arc<Connection>| connection.status().connected();
        let connection = self.link.get(alive, Box::pin(self.connect())).await?;
        let channel = connection.create_channel().await.map_err(|error| reply(&error))?;
        channel.confirm_select(ConfirmSelectOptions::default()).await.map_err(|error| reply(&error))?;
        Ok(channel)
    }

    async fn connect(&self) -> Result<Arc<Connection>, Reply> {
        let named = ConnectionProperties::default().with_connection_name("hookgate".into());
        let connection = Connection::connect(&self.url.expose(), named).await;
        connection.map(Arc::new).map_err(|error| match error.kind() {
            ErrorKind::ProtocolError(_) => reply(&error),
            // Others may repeat the URL.
            ErrorKind::IOError(io) if io.kind() != std::io::ErrorKind::Other => {
                Reply::failed("connect", io.to_string())
            }
            _ => Reply::failed("connect", "no connection"),
        })
    }
}

#[async_trait]
impl Transport for Amqp {
    async fn send(&self, message: &Prepared<'_>) -> Reply {
        let reply = delivered(self.timeout, Box::pin(self.deliver(message))).await;
        // A connection that has just broken may not know it yet, and would let the next message wait in vain.
        if matches!(reply.code.as_deref(), Some("closed" | "timeout")) {
            self.link.forget().await;
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        reply
    }
}

fn properties(message: &Prepared<'_>) -> BasicProperties {
    let row = message.message;
    let mut table = FieldTable::default();
    let mut insert = |name: String, value: String| {
        if name.len() <= 255 {
            table.insert(name.into(), AMQPValue::LongString(LongString::from(value)));
        }
    };
    for (name, value) in message.fields_without_cloudevents() {
        // `cc` and the like tell the broker where else to bring a message, or when.
        let order = ["cc", "bcc", "x-delay", "x-death", "content-encoding"].contains(&name.as_str());
        if name != "content-type" {
            insert(if order { format!("x-hookgate-original-{name}") } else { name }, value);
        }
    }
    for (name, value) in &message.cloudevents {
        insert(format!("cloudEvents:{name}"), value.clone());
    }
    let mut properties = BasicProperties::default()
        .with_delivery_mode(2)
        .with_message_id(short(&row.message_id))
        .with_type(short(&row.event_type))
        .with_timestamp(row.received_at.timestamp().unsigned_abs())
        .with_app_id("hookgate".into())
        .with_headers(table);
    if let Some(media) = message.content_type() {
        properties = properties.with_content_type(short(&media));
    }
    properties
}

/// Properties have 255 bytes; a type that is longer stands whole in `x-hookgate-event-type`.
fn short(text: &str) -> ShortString {
    text[..text.floor_char_boundary(255)].into()
}

fn reply(error: &Error) -> Reply {
    let detail = error.to_string();
    match error.kind() {
        ErrorKind::ProtocolError(told) => match told.get_id() {
            403 => Reply::failed("broker.auth", detail),
            404 => Reply::failed("broker.not_found", detail),
            // RabbitMQ's limit has no code of its own.
            406 if told.get_message().as_str().contains("larger than") => {
                Reply::rejected("too_large", detail)
            }
            311 => Reply::rejected("too_large", detail),
            code => Reply::failed(format!("broker.{code}"), detail),
        },
        _ => Reply::failed("closed", detail),
    }
}
