//! The kinds of destination: where each one's messages go, and which keys it has.

use http::Uri;

use super::{Context, brokers, tls};
use crate::config::key::Key;
use crate::config::raw::{RawDestination, RawDestinationType as Type};
use crate::config::{Broker, DestinationKind};

/// The kind with its own settings.
pub(super) fn kind(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<DestinationKind> {
    let fits = only_own_keys(key, raw, context);
    let kind = match raw.kind {
        Type::Http => {
            let url = needed("url", raw.url.as_ref(), key, context);
            let url = url.and_then(|text| url_of_http(&key.child("url"), text, context));
            let credentials = tls::credentials(key, raw, context);
            DestinationKind::Http { url: url?, allow_private: raw.allow_private, credentials: credentials? }
        }
        Type::Stdout => DestinationKind::Stdout,
        Type::Nats => broker(brokers::nats(key, raw, context), key, context)?,
        Type::Redis => broker(brokers::redis(key, raw, context), key, context)?,
        Type::Amqp => broker(brokers::amqp(key, raw, context), key, context)?,
        Type::Sqs => broker(brokers::sqs(key, raw, context), key, context)?,
        Type::Kafka => broker(brokers::kafka(key, raw, context), key, context)?,
    };
    fits.then_some(kind)
}

/// A key that says nothing for this kind would be believed to do something.
fn only_own_keys(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> bool {
    let rules: [(&str, bool, &[Type]); 18] = [
        ("url", raw.url.is_some(), &[Type::Http, Type::Nats, Type::Redis, Type::Amqp]),
        ("allow_private", raw.allow_private, &[Type::Http]),
        ("subject", raw.subject.is_some(), &[Type::Nats]),
        ("stream", raw.stream.is_some(), &[Type::Redis]),
        ("max_len", raw.max_len.is_some(), &[Type::Redis]),
        ("exchange", raw.exchange.is_some(), &[Type::Amqp]),
        ("routing_key", raw.routing_key.is_some(), &[Type::Amqp]),
        ("queue_url", raw.queue_url.is_some(), &[Type::Sqs]),
        ("region", raw.region.is_some(), &[Type::Sqs]),
        ("access_key_id", raw.access_key_id.is_some(), &[Type::Sqs]),
        ("secret_access_key", raw.secret_access_key.is_some(), &[Type::Sqs]),
        ("brokers", raw.brokers.is_some(), &[Type::Kafka]),
        ("topic", raw.topic.is_some(), &[Type::Kafka]),
        ("tls", raw.tls.is_some(), &[Type::Kafka]),
        ("sasl", raw.sasl.is_some(), &[Type::Kafka]),
        ("client_cert", raw.client_cert.is_some(), &[Type::Http]),
        ("client_key", raw.client_key.is_some(), &[Type::Http]),
        ("ca", raw.ca.is_some(), &[Type::Http]),
    ];
    let mut fits = true;
    for (name, _, _) in rules.iter().filter(|(_, written, kinds)| *written && !kinds.contains(&raw.kind)) {
        context.report.error_help(
            &key.child(name),
            "this kind of destination has no such key",
            "leave it out",
        );
        fits = false;
    }
    fits
}

fn broker(broker: Option<Broker>, key: &Key, context: &mut Context<'_>) -> Option<DestinationKind> {
    broker.filter(|broker| built_in(key, broker, context)).map(DestinationKind::Broker)
}

/// The default build is light; brokers are asked for.
fn built_in(key: &Key, broker: &Broker, context: &mut Context<'_>) -> bool {
    let name = broker.name();
    if !broker.is_built_in() {
        let what = format!("this hookgate was built without {name}");
        let help = format!(
            "take a release package, which has every kind, or build it with `cargo build --release --features {name}` \
             (or `full`)"
        );
        context.report.error_help(&key.child("type"), what, help);
    }
    broker.is_built_in()
}

pub(super) fn needed<'a, T>(
    name: &str,
    value: Option<&'a T>,
    key: &Key,
    context: &mut Context<'_>,
) -> Option<&'a T> {
    if value.is_none() {
        context.report.error_help(&key.child(name), "is missing", "this kind of destination needs it");
    }
    value
}

fn url_of_http(key: &Key, text: &str, context: &mut Context<'_>) -> Option<Uri> {
    // The text is never repeated: it may hold a password or a token.
    let what = match text.parse::<Uri>() {
        Err(error) => format!("expected a URL: {error}"),
        Ok(uri) if !matches!(uri.scheme_str(), Some("http" | "https")) => {
            "expected a URL that begins with https:// or http://".to_owned()
        }
        Ok(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            "expected no user or password in the URL; use headers".to_owned()
        }
        Ok(_) if text.contains('#') => "expected no fragment (`#`) in the URL".to_owned(),
        Ok(uri) => {
            let host = uri.host().unwrap_or_default();
            let local = host == "localhost" || host.starts_with("127.") || host == "[::1]";
            if uri.scheme_str() == Some("http") && !local {
                context.report.warn(key, "events travel unencrypted", "use https://");
            }
            return Some(uri);
        }
    };
    context.report.error_help(key, what, "for example \"https://crm.example.com/hooks\"");
    None
}
