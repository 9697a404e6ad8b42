//! Retention.

use std::collections::BTreeSet;
use std::time::Duration;

use sqlx::Row as _;

use super::super::{Pruned, StoreError};
use super::{Sqlite, SqliteTx, error};
use crate::config::Retention;

const DELETE: &str = include_str!("delete_events.sql");
const EMPTY: &str = include_str!("empty_events.sql");
const DROP_REQUESTS: &str = include_str!("drop_requests.sql");

impl Sqlite {
    pub(super) async fn prune_batch(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError> {
        let mut tx = self.write().await?;
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
    tx: &mut SqliteTx,
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
async fn drop_requests(tx: &mut SqliteTx, ids: BTreeSet<String>) -> Result<(), StoreError> {
    for id in ids {
        sqlx::query(DROP_REQUESTS).bind(id).execute(&mut *tx.connection).await.map_err(error)?;
    }
    Ok(())
}
