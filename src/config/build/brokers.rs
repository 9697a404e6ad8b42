//! Brokers: addresses, places, credentials.

use http::Uri;

use super::Context;
use super::kinds::needed;
use crate::config::key::Key;
use crate::config::raw::{RawDestination, RawSasl, RawSaslMechanism, SecretText};
use crate::config::{Broker, BrokerUrl, Sasl};
use crate::model::Secret;

/// How long a Redis stream grows unless said.
const MAX_LEN: u64 = 1_000_000;

const PLAIN: &str = "events travel unencrypted";

pub(super) fn nats(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<Broker> {
    let url = url(key, raw, ["nats", "tls"], context);
    let subject = needed("subject", raw.subject.as_ref(), key, context);
    let subject = subject.filter(|subject| {
        let good = !subject.is_empty()
            && !subject.contains(|c: char| c.is_whitespace() || c == '*' || c == '>')
            && subject.split('.').all(|token| !token.is_empty());
        if !good {
            let what = "expected a subject without wildcards, such as \"webhooks.stripe\"";
            context.report.error(&key.child("subject"), what);
        }
        good
    });
    Some(Broker::Nats { url: url?, subject: subject?.clone() })
}

pub(super) fn redis(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<Broker> {
    let url = url(key, raw, ["redis", "rediss"], context);
    let stream = named("stream", raw.stream.as_ref(), key, context);
    Some(Broker::Redis { url: url?, stream: stream?, max_len: raw.max_len.unwrap_or(MAX_LEN) })
}

pub(super) fn amqp(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<Broker> {
    let url = url(key, raw, ["amqp", "amqps"], context);
    let routing_key = needed("routing_key", raw.routing_key.as_ref(), key, context);
    let exchange = raw.exchange.clone().unwrap_or_default();
    for (name, text) in [("exchange", Some(&exchange)), ("routing_key", routing_key)] {
        if text.is_some_and(|text| text.len() > 255) {
            context.report.error(&key.child(name), "expected at most 255 bytes");
        }
    }
    Some(Broker::Amqp { url: url?, exchange, routing_key: routing_key?.clone() })
}

pub(super) fn sqs(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<Broker> {
    let text = needed("queue_url", raw.queue_url.as_ref(), key, context)?;
    let below = key.child("queue_url");
    let uri = text.parse::<Uri>().ok().filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    let Some(uri) = uri.filter(|uri| uri.path().len() > 1 && !text.contains('@')) else {
        let help = "for example \"https://sqs.eu-central-1.amazonaws.com/123456789012/webhooks.fifo\"";
        context.report.error_help(&below, "expected the URL of a queue", help);
        return None;
    };
    let host = uri.host().unwrap_or_default();
    if uri.scheme_str() == Some("http") && !BrokerUrl::stays_here(host) {
        context.report.warn(&below, PLAIN, "use https://");
    }
    let of_host = host.strip_prefix("sqs.").and_then(|rest| Some(rest.split_once(".amazonaws.")?.0));
    let region = raw.region.as_deref().or(of_host).map(str::to_owned);
    if region.is_none() {
        let help = "for example \"eu-central-1\"; it cannot be read from `queue_url`";
        context.report.error_help(&key.child("region"), "is missing", help);
    }
    let mut credential = |name, text: &Option<SecretText>| -> Option<Secret> {
        let text = text.as_ref()?;
        context.resolve(&key.child(name), &text.0).map(|(secret, _)| secret)
    };
    let id = credential("access_key_id", &raw.access_key_id);
    let secret = credential("secret_access_key", &raw.secret_access_key);
    if raw.access_key_id.is_some() != raw.secret_access_key.is_some() {
        let what = "`access_key_id` and `secret_access_key` go together";
        context.report.error_help(
            key,
            what,
            "leave out both for the AWS SDK's own ways: variables, roles, files",
        );
    }
    Some(Broker::Sqs { queue_url: text.clone(), region: region?, access_key: id.zip(secret) })
}

pub(super) fn kafka(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<Broker> {
    let brokers = needed("brokers", raw.brokers.as_ref(), key, context);
    let topic = named("topic", raw.topic.as_ref(), key, context);
    let sasl = raw.sasl.as_ref().map(|raw| sasl(&key.child("sasl"), raw, context));
    let tls = raw.tls.unwrap_or(true);
    let brokers = brokers?;
    for (at, broker) in brokers.iter().enumerate() {
        let host =
            broker.rsplit_once(':').filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
        let below = key.child("brokers").index(at);
        match host {
            None => context.report.error(&below, "expected host:port, such as \"kafka1.example.com:9092\""),
            Some((host, _)) if !tls && !BrokerUrl::stays_here(host) => {
                context.report.warn(&key.child("tls"), PLAIN, "leave out `tls = false`");
            }
            Some(_) => {}
        }
    }
    if brokers.is_empty() {
        context.report.error(&key.child("brokers"), "the list is empty");
    }
    let sasl = match sasl {
        Some(sasl) => Some(sasl?),
        None => None,
    };
    Some(Broker::Kafka { brokers: brokers.join(","), topic: topic?, tls, sasl })
}

fn sasl(key: &Key, raw: &RawSasl, context: &mut Context<'_>) -> Option<Sasl> {
    let mechanism = match raw.mechanism {
        RawSaslMechanism::Plain => "PLAIN",
        RawSaslMechanism::ScramSha256 => "SCRAM-SHA-256",
        RawSaslMechanism::ScramSha512 => "SCRAM-SHA-512",
    };
    let username = context.resolve(&key.child("username"), &raw.username.0);
    let password = context.resolve(&key.child("password"), &raw.password.0);
    Some(Sasl { mechanism, username: username?.0, password: password?.0 })
}

/// A URL, or a reference to one. `schemes` are the plain one and the encrypted one.
fn url(key: &Key, raw: &RawDestination, schemes: [&str; 2], context: &mut Context<'_>) -> Option<BrokerUrl> {
    let written = needed("url", raw.url.as_ref(), key, context)?;
    let key = key.child("url");
    let is_reference = ["env:", "file:", "literal:"].iter().any(|prefix| written.starts_with(prefix));
    let text = if is_reference {
        let (secret, _) = context.resolve(&key, written)?;
        String::from_utf8_lossy(secret.expose()).trim().to_owned()
    } else {
        written.clone()
    };
    let [plain, encrypted] = schemes;
    // The text is never repeated: it may hold a password.
    let url = match BrokerUrl::parse(&text) {
        Ok(url) if schemes.contains(&url.scheme()) => url,
        Ok(_) => {
            context
                .report
                .error(&key, format!("expected a URL that begins with {plain}:// or {encrypted}://"));
            return None;
        }
        Err(why) => {
            let help = format!("for example \"{encrypted}://broker.example.com\", or env:NAME that holds it");
            context.report.error_help(&key, format!("expected a URL: {why}"), help);
            return None;
        }
    };
    if !is_reference && url.user().is_some() {
        let what = "the broker's credentials are written here";
        context.report.warn(
            &key,
            what,
            "put the whole URL into env:NAME or file:PATH, and take a new password",
        );
    }
    if url.scheme() == plain && !url.is_local() {
        context.report.warn(&key, PLAIN, format!("use {encrypted}://"));
    }
    Some(url)
}

fn named(name: &str, value: Option<&String>, key: &Key, context: &mut Context<'_>) -> Option<String> {
    let value = needed(name, value, key, context)?;
    if value.is_empty() {
        context.report.error(&key.child(name), "is empty");
    }
    Some(value.clone())
}
