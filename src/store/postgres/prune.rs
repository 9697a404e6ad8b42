//! Retention.

use std::time::Duration;

use super::super::{Pruned, StoreError};
use super::{PgTx, Postgres, error};
use crate::config::Retention;

const DELETE: &str = include_str!("delete_events.sql");
const EMPTY: &str = include_str!("empty_events.sql");

/// How long one batch may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Whatever the statistics say, a batch is found by walking an index and written by its keys.
const BY_INDEX: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_hashjoin = off; \
                        SET LOCAL enable_mergejoin = off; SET LOCAL jit = off";

impl Postgres {
    pub(super) async fn prune_batch(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError> {
        let mut tx = PgTx::begin(self, LIMIT).await?;
        sqlx::raw_sql(BY_INDEX).execute(&mut *tx.connection).await.map_err(error)?;
        let deleted = run(&mut tx, DELETE, retention.keys, batch).await?;
        let emptied = run(&mut tx, EMPTY, retention.payload, batch).await?;
        tx.commit().await?;
        Ok(Pruned { deleted, emptied })
    }
}

async fn run(tx: &mut PgTx, sql: &'static str, age: Duration, batch: u32) -> Result<u64, StoreError> {
    let query = sqlx::query(sql).bind(age.as_secs_f64()).bind(i64::from(batch));
    Ok(query.execute(&mut *tx.connection).await.map_err(error)?.rows_affected())
}
