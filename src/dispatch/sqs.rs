//! Amazon SQS: a message is published when the queue has given it an id. A FIFO queue drops a second copy within five
//! minutes, by `MessageDeduplicationId`.

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use aws_config::BehaviorVersion;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::retry::RetryConfig;
use aws_sdk_sqs::config::{Credentials, Region};
use aws_sdk_sqs::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::operation::send_message::SendMessageError;
use aws_sdk_sqs::types::MessageAttributeValue;
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use tokio::runtime::Runtime;
use tokio_util::task::AbortOnDropHandle;

use super::link::{CONNECT, Link};
use super::parcel::delivered;
use super::transport::{Prepared, Reply, Transport};
use crate::model::Secret;

/// The SDK's futures are deep: unoptimised they do not fit into the stack that threads have unless said.
const STACK: usize = 32 << 20;

/// What a queue takes at most, body and attributes together.
const MAX_BYTES: usize = 1 << 20;

/// SQS takes ten attributes: nine by importance, and one with all that is left.
const ATTRIBUTES: usize = 9;
const REST: &str = "x-hookgate-headers";

/// The headers that come first.
const IMPORTANT: [&str; 13] = [
    "x-hookgate-body-encoding",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "ce-specversion",
    "ce-id",
    "ce-source",
    "ce-type",
    "content-type",
    "x-hookgate-event-type",
    "x-hookgate-endpoint",
    "x-hookgate-event-id",
    "traceparent",
];

/// One queue.
pub(super) struct Sqs {
    queue_url: String,
    region: String,
    access_key: Option<(Secret, Secret)>,
    timeout: Duration,
    link: Link<Client>,
}

impl Sqs {
    pub(super) fn new(
        queue_url: &str,
        region: &str,
        access_key: Option<&(Secret, Secret)>,
        timeout: Duration,
    ) -> Self {
        let (queue_url, region) = (queue_url.to_owned(), region.to_owned());
        Self { queue_url, region, access_key: access_key.cloned(), timeout, link: Link::new() }
    }

    async fn deliver(&self, message: &Prepared<'_>) -> Result<(), Reply> {
        let (body, attributes) = packed(message)?;
        let client = self.link.get(|_| true, Box::pin(self.client())).await?;
        let mut order = client.send_message().queue_url(&self.queue_url).message_body(body);
        for (name, value) in attributes {
            let value = MessageAttributeValue::builder().data_type("String").string_value(value).build();
            order = order.message_attributes(
                name,
                value.map_err(|error| Reply::failed("broker.error", error.to_string()))?,
            );
        }
        if self.queue_url.rsplit('.').next() == Some("fifo") {
            order = order
                .message_deduplication_id(&message.message.message_id)
                .message_group_id(group(&message.key()));
        }
        let sent = AbortOnDropHandle::new(runtime()?.spawn(order.send()));
        let answer = sent.await.map_err(|error| Reply::failed("closed", error.to_string()))?;
        answer.map(drop).map_err(|error| reply(&error))
    }

    async fn client(&self) -> Result<Client, Reply> {
        let endpoint = self.queue_url.find("://").and_then(|scheme| {
            let path = self.queue_url[scheme + 3..].find('/')?;
            self.queue_url.get(..scheme + 3 + path)
        });
        let limits =
            TimeoutConfig::builder().connect_timeout(CONNECT).operation_timeout(self.timeout).build();
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .http_client(Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https())
            .region(Region::new(self.region.clone()))
            .endpoint_url(endpoint.unwrap_or_default())
            .timeout_config(limits)
            // The outbox does that, and remembers it.
            .retry_config(RetryConfig::disabled());
        if let Some((id, secret)) = &self.access_key {
            let [id, secret] = [id, secret].map(|text| String::from_utf8_lossy(text.expose()).into_owned());
            loader = loader.credentials_provider(Credentials::new(id, secret, None, None, "hookgate"));
        }
        let loading = AbortOnDropHandle::new(runtime()?.spawn(loader.load()));
        let config = loading.await.map_err(|error| Reply::failed("broker.config", error.to_string()))?;
        Ok(Client::new(&config))
    }
}

/// Threads with enough stack for the SDK, for all queues. It is never dropped: that would block.
fn runtime() -> Result<&'static Runtime, Reply> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("sqs").thread_stack_size(STACK).enable_all();
        builder.build().map_err(|error| error.to_string())
    });
    made.as_ref().map_err(|error| Reply::failed("broker.config", error.clone()))
}

#[async_trait]
impl Transport for Sqs {
    async fn send(&self, message: &Prepared<'_>) -> Reply {
        delivered(self.timeout, Box::pin(self.deliver(message))).await
    }
}

/// Body and attributes.
fn packed(message: &Prepared<'_>) -> Result<(String, Vec<(String, String)>), Reply> {
    let mut fields = message.fields();
    let body = match std::str::from_utf8(&message.body) {
        Ok("") => return Err(Reply::rejected("broker.empty_body", "SQS takes no empty message")),
        Ok(text) if text.chars().all(is_allowed) => text.to_owned(),
        _ => {
            fields.push(("x-hookgate-body-encoding".to_owned(), "base64".to_owned()));
            STANDARD.encode(&message.body)
        }
    };
    fields.retain(|(_, value)| !value.is_empty());
    let rank = |name: &str| IMPORTANT.iter().position(|important| *important == name);
    let whole = |(name, value): &(String, String)| rank(name).is_some() && value.chars().all(is_allowed);
    let (mut first, mut rest): (Vec<_>, Vec<_>) = fields.into_iter().partition(whole);
    first.sort_by_key(|(name, _)| rank(name));
    rest.extend(first.drain(ATTRIBUTES.min(first.len())..));
    let rest: Map<String, Value> = rest.into_iter().map(|(name, value)| (name, value.into())).collect();
    if !rest.is_empty() {
        first.push((REST.to_owned(), Value::Object(rest).to_string()));
    }
    let bytes = first.iter().map(|(name, value)| name.len() + value.len() + "String".len()).sum::<usize>();
    if body.len() + bytes > MAX_BYTES {
        return Err(Reply::rejected("too_large", "SQS takes at most 1 MiB, body and attributes together"));
    }
    Ok((body, first))
}

/// The characters of XML 1.0, which are those that SQS takes.
fn is_allowed(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// A group's name has 128 printable characters of ASCII at most; any other key is hashed.
fn group(key: &str) -> String {
    use sha2::{Digest as _, Sha256};
    if key.len() <= 128 && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        key.to_owned()
    } else {
        hex::encode(Sha256::digest(key))
    }
}

fn reply(error: &SdkError<SendMessageError>) -> Reply {
    let detail = DisplayErrorContext(error).to_string();
    let status = error.raw_response().map(|answer| answer.status().as_u16());
    match error {
        _ if matches!(status, Some(401 | 403)) => Reply::failed("broker.auth", detail),
        SdkError::TimeoutError(_) => Reply::failed("timeout", detail),
        SdkError::DispatchFailure(failure) if failure.is_timeout() || failure.is_io() => {
            Reply::failed("connect", detail)
        }
        // Nothing was sent: above all, there were no credentials.
        SdkError::DispatchFailure(_) | SdkError::ConstructionFailure(_) => {
            Reply::failed("broker.auth", detail)
        }
        SdkError::ServiceError(told) => refused(told.err()),
        _ => Reply::failed("broker.error", detail),
    }
}

fn refused(error: &SendMessageError) -> Reply {
    let code = error.code().unwrap_or("error");
    let code = code.rsplit(['#', '.']).next().unwrap_or(code);
    let told = error.message().unwrap_or_default();
    let detail = format!("{code}: {told}");
    match code {
        "QueueDoesNotExist" | "NonExistentQueue" => Reply::failed("broker.no_queue", detail),
        "AccessDenied"
        | "AccessDeniedException"
        | "InvalidClientTokenId"
        | "UnrecognizedClientException"
        | "SignatureDoesNotMatch"
        | "InvalidAccessKeyId"
        | "InvalidSecurity"
        | "MissingAuthenticationToken"
        | "ExpiredToken" => Reply::failed("broker.auth", detail),
        "InvalidParameterValue" if told.contains("shorter than") => Reply::rejected("too_large", detail),
        "InvalidMessageContents" => Reply::rejected("broker.invalid_body", detail),
        code => Reply::failed(format!("broker.{}", code.to_ascii_lowercase()), detail),
    }
}
