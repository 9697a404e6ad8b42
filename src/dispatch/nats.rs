//! NATS JetStream: a message is published when its stream has stored it. Within the stream's own window the server
//! drops a second copy, by `Nats-Msg-Id`.

use std::error::Error as _;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::context::{Context, PublishError, PublishErrorKind};
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{ConnectError, ConnectErrorKind, ConnectOptions, HeaderMap, HeaderName, HeaderValue};
use async_trait::async_trait;

use super::cloudevents;
use super::link::{CONNECT, Link};
use super::parcel::delivered;
use super::transport::{Prepared, Reply, Transport};
use crate::config::BrokerUrl;

/// One subject on one server.
pub(super) struct Nats {
    url: BrokerUrl,
    subject: String,
    timeout: Duration,
    link: Link<Context>,
}

impl Nats {
    pub(super) fn new(url: &BrokerUrl, subject: &str, timeout: Duration) -> Self {
        Self { url: url.clone(), subject: subject.to_owned(), timeout, link: Link::new() }
    }

    async fn deliver(&self, message: &Prepared<'_>) -> Result<(), Reply> {
        // The client would connect again by itself, but not say why it cannot.
        let alive = |context: &Context| context.client().connection_state() == State::Connected;
        let context = self.link.get(alive, Box::pin(self.connect())).await?;
        let subject = self.subject.clone();
        let stored = context.publish_with_headers(subject, headers(message), message.body.clone());
        stored.await.map_err(|error| refused(&error))?.await.map_err(|error| refused(&error))?;
        Ok(())
    }

    async fn connect(&self) -> Result<Context, Reply> {
        let options = ConnectOptions::new().name("hookgate").connection_timeout(CONNECT);
        let options = match (self.url.user(), self.url.password()) {
            (Some(user), Some(password)) => options.user_and_password(user, password),
            (Some(token), None) => options.token(token),
            _ => options,
        };
        let client = options.connect(self.url.without_user()).await.map_err(|error| unreachable(&error))?;
        let mut context = jetstream::new(client);
        context.set_timeout(self.timeout);
        Ok(context)
    }
}

#[async_trait]
impl Transport for Nats {
    async fn send(&self, message: &Prepared<'_>) -> Reply {
        delivered(self.timeout, Box::pin(self.deliver(message))).await
    }
}

fn headers(message: &Prepared<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    // Names that begin so are orders to the server, down to "empty the stream".
    for (name, value) in message.fields_but(|name| name.starts_with("nats-")) {
        insert(&mut headers, &name, &value);
    }
    if let Some(media) = message.content_type().filter(|_| !message.cloudevents.is_empty()) {
        // In this binding `content-type` says nothing about the data.
        insert(&mut headers, "ce-datacontenttype", &cloudevents::percent_encoded(&media));
    }
    insert(&mut headers, "Nats-Msg-Id", &message.message.message_id);
    headers
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
        headers.insert(name, value);
    }
}

fn unreachable(error: &ConnectError) -> Reply {
    let code = match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => "broker.auth",
        ConnectErrorKind::Dns => "dns",
        ConnectErrorKind::Tls => "tls",
        _ => "connect",
    };
    Reply::failed(code, error.to_string())
}

fn refused(error: &PublishError) -> Reply {
    let told = error.source().and_then(|source| source.downcast_ref::<jetstream::Error>());
    let told = told.map(jetstream::Error::error_code);
    match error.kind() {
        PublishErrorKind::MaxPayloadExceeded => Reply::rejected("too_large", error.to_string()),
        _ if told == Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM) => {
            Reply::rejected("too_large", error.to_string())
        }
        PublishErrorKind::StreamNotFound => Reply::failed("broker.no_stream", error.to_string()),
        PublishErrorKind::TimedOut => Reply::failed("timeout", error.to_string()),
        PublishErrorKind::BrokenPipe => Reply::failed("closed", error.to_string()),
        _ => {
            let code = told.map_or("broker.error".to_owned(), |code| format!("broker.{}", code.0));
            Reply::failed(code, error.to_string())
        }
    }
}
