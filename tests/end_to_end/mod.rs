//! The whole gateway from outside: real processes, real HTTP, real databases.

mod bodies;
#[cfg(feature = "nats")]
mod brokers;
mod chaos;
mod copies;
mod crashes;
mod deliveries;
mod documents;
mod flow;
mod hints;
mod hostile;
mod impatience;
mod interop;
mod keys;
mod leases;
mod pooler;
mod proxy;
mod order;
mod pauses;
mod prune;
mod quarantine;
mod random_kills;
mod replays;
mod rotation;
mod routes;
mod serving;
mod stdout;

use crate::support::database::Database;

/// Rows of the inbox.
const INBOX: &str = "SELECT count(*) FROM webhook_inbox";
/// Rows of the inbox whose work is done.
const PROCESSED: &str = "SELECT count(*) FROM webhook_inbox WHERE processed_at IS NOT NULL";
/// Notes that handlers of a test have left.
const EFFECTS: &str = "SELECT count(*) FROM effects";
/// The module that leaves them.
const NOTE_EFFECT: &str = "INSERT INTO effects (event_id) VALUES (:event_id);";

/// Nothing of a request has reached the tables.
async fn assert_untouched(database: &Database) {
    assert_eq!(database.count(INBOX).await, 0, "no row of the inbox");
    assert_eq!(database.count("SELECT count(*) FROM outbox").await, 0, "no row of the outbox");
    assert_eq!(database.count(EFFECTS).await, 0, "no handler has run");
}
