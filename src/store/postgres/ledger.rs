//! Questions of operators and of the metrics page.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::super::operations::{self, pauses};
use super::super::{
    BACKLOG_CAP, Backlog, CircuitRecord, Condition, Connections, Ledger, Pause, Pruned, SecretMatches,
    SecretUse, StoreError,
};
use super::tx::by_key;
use super::{PgTx, Postgres, error, rows};
use crate::clock::Timestamp;
use crate::config::Retention;
use crate::model::{Event, EventKey};

const INBOX_BACKLOG: &str = include_str!("inbox_backlog.sql");
const OUTBOX_BACKLOG: &str = include_str!("outbox_backlog.sql");
const COUNT_EVENTS: &str = include_str!("count_events.sql");
const EVENT_COUNTS: &str = include_str!("event_counts.sql");
const LAST_VERIFIED: &str = include_str!("last_verified.sql");
const EVENT_TYPES: &str = include_str!("event_types.sql");
const FIND: &str = include_str!("find_event.sql");
const CONDITION: &str = include_str!("condition.sql");
const SCHEMA_VERSION: &str = include_str!("schema_version.sql");

/// How long counting may take.
const BACKLOG_LIMIT: Duration = Duration::from_secs(10);

#[async_trait]
impl Ledger for Postgres {
    async fn backlog(&self) -> Result<(Vec<Backlog>, Vec<Backlog>), StoreError> {
        let mut tx = PgTx::begin(self, BACKLOG_LIMIT).await?;
        // With the statistics of an empty table the planner would sort all rows of each endpoint, instead of walking
        // the index as far as the cap.
        let settings = sqlx::raw_sql("SET LOCAL enable_sort = off; SET LOCAL jit = off");
        settings.execute(&mut *tx.connection).await.map_err(error)?;
        let inbox = sqlx::query(INBOX_BACKLOG)
            .bind(BACKLOG_CAP)
            .fetch_all(&mut *tx.connection)
            .await
            .map_err(error)?;
        let outbox = sqlx::query(OUTBOX_BACKLOG)
            .bind(BACKLOG_CAP)
            .fetch_all(&mut *tx.connection)
            .await
            .map_err(error)?;
        tx.rollback().await;
        Ok((read(&inbox, backlog)?, read(&outbox, backlog)?))
    }

    async fn circuits(&self) -> Result<Vec<CircuitRecord>, StoreError> {
        self.unwell().await
    }

    async fn count_events(&self, endpoint: &str, events: u64, duplicates: u64) -> Result<(), StoreError> {
        sqlx::query(COUNT_EVENTS)
            .bind(endpoint)
            .bind(events.cast_signed())
            .bind(duplicates.cast_signed())
            .execute(&mut *self.connection().await?)
            .await
            .map_err(error)?;
        Ok(())
    }

    async fn count_matches(&self, used: &[SecretUse]) -> Result<(), StoreError> {
        operations::count_matches(self, used).await
    }

    async fn secret_matches(&self) -> Result<Vec<SecretMatches>, StoreError> {
        operations::secret_matches(self).await
    }

    async fn quarantine_rows(&self, endpoints: &[Arc<str>]) -> Result<Vec<(Arc<str>, i64)>, StoreError> {
        operations::quarantine_rows(self, endpoints).await
    }

    async fn last_verified(&self) -> Result<Vec<(String, Timestamp)>, StoreError> {
        let rows =
            sqlx::query(LAST_VERIFIED).fetch_all(&mut *self.connection().await?).await.map_err(error)?;
        read(&rows, |row| Ok((row.try_get("endpoint")?, row.try_get("counted_at")?)))
    }

    async fn event_counts(&self, hours: u32) -> Result<Vec<(String, u64, u64)>, StoreError> {
        let hours = i32::try_from(hours).unwrap_or(i32::MAX);
        let rows = sqlx::query(EVENT_COUNTS)
            .bind(hours)
            .fetch_all(&mut *self.connection().await?)
            .await
            .map_err(error)?;
        read(&rows, |row| {
            let (events, duplicates): (i64, i64) = (row.try_get("events")?, row.try_get("duplicates")?);
            Ok((row.try_get("endpoint")?, events.cast_unsigned(), duplicates.cast_unsigned()))
        })
    }

    async fn event_types(&self) -> Result<Vec<(String, String, i64)>, StoreError> {
        let rows = sqlx::query(EVENT_TYPES).fetch_all(&mut *self.connection().await?).await.map_err(error)?;
        read(&rows, |row| Ok((row.try_get("endpoint")?, row.try_get("event_type")?, row.try_get("events")?)))
    }

    async fn find(&self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        let row = by_key(sqlx::query(FIND), key)
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(error)?;
        row.map(|row| rows::event(&row, key.clone())).transpose().map_err(error)
    }

    async fn pauses(&self) -> Result<Vec<Pause>, StoreError> {
        pauses::list(self).await
    }

    async fn prune(&self, retention: &Retention, batch: u32) -> Result<Pruned, StoreError> {
        self.prune_batch(retention, batch).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        match sqlx::query(SCHEMA_VERSION).fetch_one(&mut *self.connection().await?).await {
            Ok(row) => StoreError::unless_current(row.try_get("version").map_err(error)?, self.version),
            // undefined_table: never migrated
            Err(sqlx::Error::Database(refusal)) if refusal.code().as_deref() == Some("42P01") => {
                StoreError::unless_current(0, self.version)
            }
            Err(failed) => Err(error(failed)),
        }
    }

    async fn condition(&self) -> Result<Condition, StoreError> {
        let row = sqlx::query(CONDITION).fetch_one(&mut *self.connection().await?).await.map_err(error)?;
        let read = || Ok(Condition { now: row.try_get("now")?, durable: row.try_get("durable")? });
        read().map_err(error)
    }

    fn connections(&self) -> Connections {
        Connections::of(self.pool.size(), self.pool.num_idle())
    }
}

fn backlog(row: &PgRow) -> Result<Backlog, sqlx::Error> {
    Ok(Backlog {
        provider: row.try_get("provider")?,
        name: row.try_get("name")?,
        backlog: row.try_get("backlog")?,
        oldest: Duration::try_from_secs_f64(row.try_get("oldest")?).unwrap_or_default(),
        needs_review: row.try_get("needs_review")?,
        dead: row.try_get("dead")?,
    })
}

fn read<T>(rows: &[PgRow], one: impl Fn(&PgRow) -> Result<T, sqlx::Error>) -> Result<Vec<T>, StoreError> {
    rows.iter().map(one).collect::<Result<_, _>>().map_err(error)
}
