//! The outbox's job: one claimed message, one delivery, one recorded attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use tracing::{error, warn};

use super::Job;
use crate::clock::Clock;
use crate::config::Destination;
use crate::dispatch::Dispatcher;
use crate::failpoint;
use crate::model::{Attempt, AttemptOutcome, Leased, Message};
use crate::retry;
use crate::store::{Outbox, Settled, StoreError};

/// Delivers messages.
pub struct OutboxJob {
    outbox: Arc<dyn Outbox>,
    dispatcher: Dispatcher,
    destinations: BTreeMap<String, Arc<Destination>>,
    clock: Arc<dyn Clock>,
}

/// What came of one claimed message.
#[derive(Debug)]
pub struct Delivered {
    /// Where it was to go.
    pub destination: Arc<str>,
    /// How the try ended.
    pub attempt: Attempt,
    /// Somebody else had taken the row over.
    pub lease_lost: bool,
}
