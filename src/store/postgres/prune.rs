//! Retention.

use std::collections::BTreeSet;
use std::time::Duration;

use sqlx::Row as _;

use super::super::{Pruned, StoreError};
use super::{PgTx, Postgres, error};
use crate::config::Retention;

const DELETE: &str = include_str!("delete_events.sql");
const EMPTY: &str = include_str!("empty_events.sql");
const LOCK_REQUESTS: &str = concat!(include_str!("find_requests.sql"), "FOR UPDATE");
const DROP_REQUESTS: &str = include_str!("drop_requests.sql");

/// How long one batch may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Whatever the statistics say, a batch is found by walking an index and written by its keys.
const BY_INDEX: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_hashjoin = off; \
                        SET LOCAL enable_mergejoin = off; SET LOCAL jit = off";

impl Postgres {
    pub(super) async fn prune_batch(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError> {
        let mut tx = PgTx::begin(self, LIMIT).await?;
        sqlx::raw_sql(BY_INDEX).execute(&mut *tx.connection).await.map_err(error)?;
        let mut requests = BTreeSet::new();
        let deleted = run(&mut tx, DELETE, retention.keys, batch, &mut requests).await?;
        let emptied = run(&mut tx, EMPTY, retention.payload, batch, &mut requests).await?;
        drop_requests(&mut tx, requests).await?;
        tx.commit().await?;
        Ok(Pruned { deleted, emptied })
    }
}

/// How many events it was about; the batches that they came in are added to `requests`.
async fn run(
    tx: &mut PgTx,
    sql: &'static str,
    age: Duration,
    batch: u32,
    requests: &mut BTreeSet<String>,
) -> Result<u64, StoreError> {
    let query = sqlx::query(sql).bind(age.as_secs_f64()).bind(i64::from(batch));
    let rows = query.fetch_all(&mut *tx.connection).await.map_err(error)?;
    for row in &rows {
        requests.extend(row.try_get::<Option<String>, _>("request_id").map_err(error)?);
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
