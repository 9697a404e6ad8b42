//! Retention.

use std::collections::BTreeSet;
use std::time::Duration;

use sqlx::Row as _;

use super::super::{Pruned, StoreError};
use super::tx::by_key;
use super::{Sqlite, SqliteTx, error, rows};
use crate::config::Retention;
use crate::model::EventKey;

const DELETE: &str = include_str!("delete_events.sql");
const EMPTY: &str = include_str!("empty_events.sql");
const DROP_ANSWERS: &str = include_str!("drop_answers.sql");
const DROP_REQUESTS: &str = include_str!("drop_requests.sql");

impl Sqlite {
    pub(super) async fn prune_batch(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError> {
        let mut tx = self.write().await?;
        let mut gone = Gone::default();
        let deleted = run(&mut tx, DELETE, retention.keys, batch, &mut gone).await?;
        let emptied = run(&mut tx, EMPTY, retention.payload, batch, &mut gone).await?;
        drop_answers(&mut tx, &gone.keys).await?;
        drop_requests(&mut tx, gone.requests).await?;
        tx.commit().await?;
        Ok(Pruned { deleted, emptied })
    }
}

/// The events of a batch, and the requests that they came in.
#[derive(Default)]
struct Gone {
    keys: Vec<EventKey>,
    requests: BTreeSet<String>,
}

/// How many events it was about; they are added to `gone`.
async fn run(
    tx: &mut SqliteTx,
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
async fn drop_requests(tx: &mut SqliteTx, ids: BTreeSet<String>) -> Result<(), StoreError> {
    for id in ids {
        sqlx::query(DROP_REQUESTS).bind(id).execute(&mut *tx.connection).await.map_err(error)?;
    }
    Ok(())
}

/// Deletes what destinations answered to these events.
async fn drop_answers(tx: &mut SqliteTx, keys: &[EventKey]) -> Result<(), StoreError> {
    for key in keys {
        by_key(sqlx::query(DROP_ANSWERS), key).execute(&mut *tx.connection).await.map_err(error)?;
    }
    Ok(())
}
