//! Redis: one entry of a stream for each message. Redis answers when it holds the entry in memory; how soon that is
//! on its disk is Redis' own setting.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError};

use super::link::{CONNECT, Link};
use super::parcel::delivered;
use super::transport::{Prepared, Reply, Transport};
use crate::config::BrokerUrl;

/// The longest value that Redis takes.
const MAX_VALUE: usize = 512 << 20;

/// One stream on one server.
pub(super) struct Redis {
    url: BrokerUrl,
    stream: String,
    max_len: u64,
    timeout: Duration,
    link: Link<Kept>,
}

/// A connection, and whether it was seen to break.
#[derive(Clone)]
struct Kept {
    connection: MultiplexedConnection,
    broken: Arc<AtomicBool>,
}

impl Redis {
    pub(super) fn new(url: &BrokerUrl, stream: &str, max_len: u64, timeout: Duration) -> Self {
        Self { url: url.clone(), stream: stream.to_owned(), max_len, timeout, link: Link::new() }
    }

    async fn deliver(&self, message: &Prepared<'_>) -> Result<(), Reply> {
        if message.body.len() > MAX_VALUE {
            return Err(Reply::rejected("too_large", "Redis takes at most 512 MiB"));
        }
        let alive = |kept: &Kept| !kept.broken.load(Ordering::Relaxed);
        let Kept { mut connection, broken } = self.link.get(alive, Box::pin(self.connect())).await?;
        // NOMKSTREAM: a stream that nobody made is one that nobody reads.
        let mut order = redis::cmd("XADD");
        order.arg(&self.stream).arg("NOMKSTREAM").arg("MAXLEN").arg("~").arg(self.max_len).arg("*");
        for (name, value) in message.fields_but(|name| name == "body") {
            order.arg(name).arg(value);
        }
        order.arg("body").arg(&message.body[..]);
        match order.query_async::<Option<String>>(&mut connection).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => {
                let help = "make the stream first: XGROUP CREATE STREAM GROUP $ MKSTREAM";
                Err(Reply::failed("broker.no_stream", help))
            }
            Err(error) => {
                // What a broken connection says next is not foreseen.
                let answered = error.code().is_some() || error.kind() == ErrorKind::AuthenticationFailed;
                broken.fetch_or(!answered, Ordering::Relaxed);
                Err(reply(&error, "closed"))
            }
        }
    }

    async fn connect(&self) -> Result<Kept, Reply> {
        let client = Client::open(self.url.expose()).map_err(|error| reply(&error, "connect"))?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(Some(self.timeout));
        let connection = client.get_multiplexed_async_connection_with_config(&config).await;
        let connection = connection.map_err(|error| reply(&error, "connect"))?;
        Ok(Kept { connection, broken: Arc::default() })
    }
}

#[async_trait]
impl Transport for Redis {
    async fn send(&self, message: &Prepared<'_>) -> Reply {
        delivered(self.timeout, Box::pin(self.deliver(message))).await
    }
}

/// `broken` is what it is called if Redis itself did not say a word.
fn reply(error: &RedisError, broken: &'static str) -> Reply {
    let detail = error.to_string();
    match error.code() {
        Some("WRONGPASS" | "NOAUTH" | "NOPERM") => Reply::failed("broker.auth", detail),
        // To who has not said a password, Redis reads ten words and says `ERR` to more.
        Some("ERR") if detail.contains("unauthenticated") => Reply::failed("broker.auth", detail),
        _ if error.kind() == ErrorKind::AuthenticationFailed => Reply::failed("broker.auth", detail),
        Some(code) => Reply::failed(format!("broker.{}", code.to_ascii_lowercase()), detail),
        None if error.is_timeout() => Reply::failed("timeout", detail),
        None => Reply::failed(broken, detail),
    }
}
