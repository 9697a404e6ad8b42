//! Events for handlers, and databases to handle them in.

use std::sync::Arc;
use std::time::Duration;

use crate::support::wait;
use hookgate::clock::Timestamp;
use hookgate::config::{Database, DatabaseUrl};
use hookgate::handler::sql::Dialect;
use hookgate::handler::{Handler, HandlerError, Outcome};
use hookgate::model::{Event, EventKey, Headers};
use hookgate::store::{Param, Row, Sql, Store, Tx, Unit, connect, migrate};

/// A stored event of the endpoint `billing`.
pub fn event(event_type: &str, id: &str, body: &str) -> Event {
    Event {
        key: EventKey { provider: "stripe".into(), endpoint: "billing".into(), event_id: id.into() },
        event_type: event_type.into(),
        occurred_at: Timestamp::from_timestamp(1_700_000_000, 0),
        received_at: Timestamp::from_timestamp(1_700_000_100, 0).unwrap(),
        account: None,
        ordering_key: None,
        version: None,
        content_type: Some("application/json".into()),
        headers: Arc::new(Headers::new()),
        body: body.to_owned().into(),
        document: None,
        trace_context: None,
    }
}

/// A migrated database of its own.
pub struct Db {
    pub store: Store,
    pub dialect: Dialect,
    _kept: Box<dyn std::any::Any + Send>,
}

/// One of each engine.
pub async fn databases() -> Vec<Db> {
    vec![sqlite().await, postgres().await]
}

async fn postgres() -> Db {
    open(DatabaseUrl::Postgres(crate::support::postgres::database().await), ()).await
}

async fn sqlite() -> Db {
    let folder = tempfile::tempdir().expect("a folder");
    let url = DatabaseUrl::Sqlite(folder.path().join("hookgate.db"));
    open(url, folder).await
}

async fn open(url: DatabaseUrl, kept: impl Send + 'static) -> Db {
    let dialect = Dialect::from(&url);
    let database = Database { url, max_connections: 5, migrate: true };
    migrate(&database).await.expect("migrations");
    Db { store: connect(&database).await.expect("a store"), dialect, _kept: Box::new(kept) }
}

impl Db {
    /// A transaction with time to spare; dropped, it is rolled back.
    pub async fn begin(&self) -> Unit {
        self.store.inbox.begin(Duration::from_mins(1)).await.expect("a transaction")
    }

    /// Waits until another transaction waits for this one. (On SQLite they stand in line before they begin.)
    pub async fn until_one_waits(&self, tx: &mut Tx) {
        // The view of activity would not change within a transaction; locks are seen as they are.
        const WAITING: Sql = Sql::same(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))",
        );
        if self.dialect == Dialect::Postgres {
            let waits = async || (number(tx, WAITING, &[]).await > 0).then_some(());
            wait::until("another transaction to wait for this one", waits).await;
        }
    }
}

/// The first row.
pub async fn row(tx: &mut Tx, sql: Sql, params: &[Param]) -> Option<Row> {
    tx.fetch_optional(sql, params).await.expect("a query that the schema knows")
}

/// The first column of the first row, which is a number.
pub async fn number(tx: &mut Tx, sql: Sql, params: &[Param]) -> i64 {
    match row(tx, sql, params).await.as_deref() {
        Some([Param::Bigint(Some(number)), ..]) => *number,
        other => panic!("{sql:?} gave {other:?}"),
    }
}

/// A text as a parameter.
pub fn text(value: &str) -> Param {
    Param::Text(Some(value.into()))
}

/// Runs a handler on one event after the other, in one transaction.
pub async fn handle_all(
    tx: &mut Tx,
    handler: &dyn Handler,
    events: &[Event],
) -> Vec<Result<Outcome, HandlerError>> {
    let mut outcomes = Vec::new();
    for event in events {
        outcomes.push(handler.handle(tx, event).await);
    }
    outcomes
}
