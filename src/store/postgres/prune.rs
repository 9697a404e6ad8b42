//! Retention.

use std::collections::BTreeSet;
use std::time::Duration;

use sqlx::Row as _;

use super::super::{Pruned, StoreError};
use super::{PgTx, Postgres, error, rows};
use crate::config::Retention;
use crate::model::EventKey;

const DELETE: &str = include_str!("delete_events.sql");
const EMPTY: &str = include_str!("empty_events.sql");
const LOCK_REQUESTS: &str = concat!(include_str!("find_requests.sql"), "FOR UPDATE");
const DROP_ANSWERS: &str = include_str!("drop_answers.sql");
const DROP_REQUESTS: &str = include_str!("drop_requests.sql");
const PUBLISHED: &str = include_str!("delete_published.sql");
const RELAYED: &str = include_str!("delete_relayed.sql");
const ATTEMPTS: &str = include_str!("delete_attempts.sql");
const QUARANTINE: &str = include_str!("delete_quarantine.sql");
const AUDIT: &str = include_str!("delete_audit.sql");
const REPLAY_FAILURES: &str = include_str!("delete_replay_failures.sql");
const REPLAYS: &str = include_str!("delete_replays.sql");

/// How long one batch may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Whatever the statistics say, a batch is found by walking an index and written by its keys.
const BY_INDEX: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_hashjoin = off; \
                        SET LOCAL enable_mergejoin = off; SET LOCAL jit = off";

impl Postgres {
    pub(super) async fn prune_batch(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError> {
        let mut tx = PgTx::begin(self, LIMIT).await?;
        sqlx::raw_sql(BY_INDEX).execute(&mut *tx.connection).await.map_err(error)?;
        let mut gone = Gone::default();
        let deleted = run(&mut tx, DELETE, retention.keys, batch, &mut gone).await?;
        let emptied = run(&mut tx, EMPTY, retention.payload, batch, &mut gone).await?;
        drop_answers(&mut tx, &gone.keys).await?;
        drop_requests(&mut tx, gone.requests).await?;
        tx.commit().await?;
        let rest = self.prune_rest(retention, batch).await?;
        Ok(Pruned { deleted, emptied, ..rest })
    }

    /// All tables but the inbox. A transaction of its own, so that neither is long.
    async fn prune_rest(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError> {
        let mut tx = PgTx::begin(self, LIMIT).await?;
        sqlx::raw_sql(BY_INDEX).execute(&mut *tx.connection).await.map_err(error)?;
        let published = delete(&mut tx, PUBLISHED, retention.outbox, batch).await?;
        let (relayed, unsent) = delete_relayed(&mut tx, retention.outbox, batch).await?;
        let rest = Pruned {
            outbox: published + relayed,
            unsent,
            attempts: delete(&mut tx, ATTEMPTS, retention.attempts, batch).await?,
            quarantine: delete(&mut tx, QUARANTINE, retention.quarantine, batch).await?,
            audit: delete(&mut tx, AUDIT, retention.audit, batch).await?,
            // Failures first: a replay goes when it has none, so that no statement is larger than a batch.
            replays: delete(&mut tx, REPLAY_FAILURES, retention.replays, batch).await?
                + delete(&mut tx, REPLAYS, retention.replays, batch).await?,
            ..Pruned::default()
        };
        tx.commit().await?;
        Ok(rest)
    }
}

/// How many rows of one table went.
async fn delete(tx: &mut PgTx, sql: &'static str, age: Duration, batch: u32) -> Result<u64, StoreError> {
    let query = sqlx::query(sql).bind(age.as_secs_f64()).bind(i64::from(batch));
    let done = query.execute(&mut *tx.connection).await.map_err(error)?;
    Ok(done.rows_affected())
}

/// How many messages without destination went, and how many of them nobody had published.
async fn delete_relayed(tx: &mut PgTx, age: Duration, batch: u32) -> Result<(u64, u64), StoreError> {
    let query = sqlx::query(RELAYED).bind(age.as_secs_f64()).bind(i64::from(batch));
    let rows = query.fetch_all(&mut *tx.connection).await.map_err(error)?;
    let mut unsent = 0;
    for row in &rows {
        unsent += u64::from(row.try_get::<bool, _>("unsent").map_err(error)?);
    }
    Ok((rows.len() as u64, unsent))
}

/// The events of a batch, and the requests that they came in.
#[derive(Default)]
struct Gone {
    keys: Vec<EventKey>,
    requests: BTreeSet<String>,
}

/// How many events it was about; they are added to `gone`.
async fn run(
    tx: &mut PgTx,
    sql: &'static str,
    age: Duration,
    batch: u32,
    gone: &mut Gone,
) -> Result<u64, StoreError> {
    let query = sqlx::query(sql).bind(age.as_secs_f64()).bind(i64::from(batch));
    let rows = query.fetch_all(&mut *tx.connection).await.map_err(error)?;
    for row in &rows {
        gone.requests.extend(row.try_get::<Option<String>, _>("request_id").map_err(error)?);
        gone.keys.push(rows::key(row).map_err(error)?);
    }
    Ok(rows.len() as u64)
}

/// Deletes the requests of which no event has its payload any more.
async fn drop_requests(tx: &mut PgTx, ids: BTreeSet<String>) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = ids.into_iter().collect();
    for sql in [LOCK_REQUESTS, DROP_REQUESTS] {
        sqlx::query(sql).bind(&ids).execute(&mut *tx.connection).await.map_err(error)?;
    }
    Ok(())
}

/// Deletes what destinations answered to these events.
async fn drop_answers(tx: &mut PgTx, keys: &[EventKey]) -> Result<(), StoreError> {
    let column = |of: fn(&EventKey) -> &str| keys.iter().map(|key| of(key).to_owned()).collect::<Vec<_>>();
    let query = sqlx::query(DROP_ANSWERS)
        .bind(column(|key| &key.provider))
        .bind(column(|key| &key.endpoint))
        .bind(column(|key| &key.event_id));
    query.execute(&mut *tx.connection).await.map(drop).map_err(error)
}
