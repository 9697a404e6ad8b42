//! Retention.

use std::time::Duration;

use super::super::{Pruned, StoreError};
use super::{Sqlite, SqliteTx, error};
use crate::config::Retention;

const DELETE: &str = include_str!("delete_events.sql");
const EMPTY: &str = include_str!("empty_events.sql");

impl Sqlite {
    pub(super) async fn prune_batch(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError> {
        let mut tx = self.write().await?;
        let deleted = run(&mut tx, DELETE, retention.keys, batch).await?;
        let emptied = run(&mut tx, EMPTY, retention.payload, batch).await?;
        tx.commit().await?;
        Ok(Pruned { deleted, emptied })
    }
}

async fn run(tx: &mut SqliteTx, sql: &'static str, age: Duration, batch: u32) -> Result<u64, StoreError> {
    let query = sqlx::query(sql).bind(age.as_secs_f64()).bind(i64::from(batch));
    Ok(query.execute(&mut *tx.connection).await.map_err(error)?.rows_affected())
}
