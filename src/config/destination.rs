//! `[destinations.NAME]`, as the gateway uses it.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;

use super::{Broker, OnDead, Queue};
use crate::egress::Credentials;
use crate::model::{CONFIRMATIONS, Circuit, Secret};

/// Where messages go.
#[derive(Debug)]
pub struct Destination {
    /// Its name.
    pub name: Arc<str>,
    /// The kind and its own settings.
    pub kind: DestinationKind,
    /// Secrets that sign each delivery (Standard Webhooks), all of them while rotating.
    pub sign: Vec<Secret>,
    /// Own headers sent with each delivery; all of them are marked as sensitive.
    pub headers: HeaderMap,
    /// How long one delivery may take.
    pub timeout: Duration,
    /// Deliveries at once by this process.
    pub concurrency: usize,
    /// Whether the provider's signature headers are left out.
    pub drop_signature: bool,
    /// Whether deliveries are CloudEvents 1.0 in binary mode.
    pub cloudevents: bool,
    /// `[outbox]`, with what the destination overrides.
    pub queue: Queue,
    /// How fast, in which order, and when not at all.
    pub flow: Flow,
}

/// How the messages of a destination flow.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Deliveries begun by this process, failed ones included.
    pub rate: Option<Rate>,
    /// When the destination is taken for broken; `None`: never.
    pub circuit: Option<Circuit>,
    /// Whether messages with the same ordering key are delivered one at a time, in the order of their numbers.
    pub order: Option<OnDead>,
}

/// At most `count` in each `per`, evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// At least 1.
    pub count: u32,
    /// A second, a minute or an hour.
    pub per: Duration,
}

/// The kinds of destination.
#[derive(Clone, Debug)]
pub enum DestinationKind {
    /// An HTTP POST.
    Http {
        /// `http` or `https`.
        url: http::Uri,
        /// Whether names may resolve to private addresses (literal addresses in `url` are the operator's own word).
        allow_private: bool,
        /// Own authorities and certificate, if there are any.
        credentials: Option<Arc<Credentials>>,
    },
    /// One line of JSON for each message on standard output.
    Stdout,
    /// A broker. This program was built with what talks to it.
    Broker(Broker),
    /// Calls that confirm subscriptions, to hosts that the providers' definitions name.
    Confirmations,
}

impl DestinationKind {
    /// Its word in the configuration; the gateway's own has none there.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Http { .. } => "http",
            Self::Stdout => "stdout",
            Self::Broker(broker) => broker.name(),
            Self::Confirmations => "confirmations",
        }
    }
}

impl Destination {
    /// Where confirmations are sent from: always there, in no file.
    #[must_use]
    pub fn confirmations(queue: &Queue) -> Self {
        Self {
            name: CONFIRMATIONS.into(),
            kind: DestinationKind::Confirmations,
            sign: Vec::new(),
            headers: HeaderMap::new(),
            timeout: queue.work_timeout,
            concurrency: 1,
            drop_signature: false,
            cloudevents: false,
            queue: queue.clone(),
            flow: Flow::default(),
        }
    }
}
