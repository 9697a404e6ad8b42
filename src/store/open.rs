//! Opening a store.

use std::sync::Arc;

use super::{Inbox, Ledger, Outbox, Queue, StoreError};
use crate::config::Database;
use crate::model::EventKey;

/// The ports of one open database.
#[derive(Clone)]
pub struct Store {
    /// Where verified events become durable.
    pub inbox: Arc<dyn Inbox>,
    /// The inbox as a queue.
    pub events: Arc<dyn Queue<EventKey>>,
    /// Messages to destinations.
    pub outbox: Arc<dyn Outbox>,
    /// Questions of operators and of the metrics page.
    pub ledger: Arc<dyn Ledger>,
}

impl Store {
    /// Closes its connections; what is at work with one finishes first.
    pub async fn close(&self) {
        todo!()
    }
}

/// Connects to the database, which must have been migrated.
///
/// # Errors
/// [`StoreError::Unavailable`] if it does not answer.
pub async fn connect(database: &Database) -> Result<Store, StoreError> {
    let _ = database;
    todo!()
}
