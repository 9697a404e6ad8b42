//! Opening a store.

use std::sync::Arc;

use super::migrate::VERSION;
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::{Inbox, Learned, Ledger, Operations, Outbox, Queue, Replays, StoreError};
use crate::config::{Database, DatabaseUrl};
use crate::model::DueEvent;

/// The ports of one open database.
#[derive(Clone)]
pub struct Store {
    /// Where verified events become durable.
    pub inbox: Arc<dyn Inbox>,
    /// The inbox as a queue.
    pub events: Arc<dyn Queue<DueEvent>>,
    /// Messages to destinations.
    pub outbox: Arc<dyn Outbox>,
    /// Questions of operators and of the metrics page.
    pub ledger: Arc<dyn Ledger>,
    /// Operators' commands.
    pub operations: Arc<dyn Operations>,
    /// Their replays as a queue.
    pub replays: Arc<dyn Replays>,
    /// Secrets that providers hand over in band.
    pub learned: Arc<dyn Learned>,
    engine: Engine,
}

#[derive(Clone)]
enum Engine {
    Postgres(Postgres),
    Sqlite(Sqlite),
}

impl Store {
    /// Whether a transaction pooler stands between this process and the database. Then no statement has a name on the
    /// server, and nothing is kept in a session.
    pub fn is_pooled(&self) -> bool {
        match &self.engine {
            Engine::Postgres(database) => database.is_pooled(),
            Engine::Sqlite(_) => false,
        }
    }

    /// Closes its connections. Waits for those that are at work, so call it when the work is done.
    pub async fn close(&self) {
        match &self.engine {
            Engine::Postgres(database) => database.close().await,
            Engine::Sqlite(database) => database.close().await,
        }
    }
}

/// Connects to the database, which must have been migrated.
///
/// # Errors
/// [`StoreError::Unavailable`] if it does not answer.
pub async fn connect(database: &Database) -> Result<Store, StoreError> {
    let connections = database.max_connections;
    Ok(match &database.url {
        DatabaseUrl::Postgres(url) => {
            let database = Postgres::connect(url, connections, VERSION).await?;
            store(&Arc::new(database.clone()), Engine::Postgres(database))
        }
        DatabaseUrl::Sqlite(path) => {
            let database = Sqlite::connect(path, connections, VERSION).await?;
            store(&Arc::new(database.clone()), Engine::Sqlite(database))
        }
    })
}

fn store<D>(database: &Arc<D>, engine: Engine) -> Store
where
    D: Inbox + Queue<DueEvent> + Outbox + Ledger + Learned + Operations + Replays + 'static,
{
    Store {
        inbox: Arc::clone(database) as Arc<dyn Inbox>,
        events: Arc::clone(database) as Arc<dyn Queue<DueEvent>>,
        outbox: Arc::clone(database) as Arc<dyn Outbox>,
        ledger: Arc::clone(database) as Arc<dyn Ledger>,
        operations: Arc::clone(database) as Arc<dyn Operations>,
        replays: Arc::clone(database) as Arc<dyn Replays>,
        learned: Arc::clone(database) as Arc<dyn Learned>,
        engine,
    }
}
