//! Messages to destinations.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::super::rows::{delay_seconds, review_reason, wait};
use super::super::{Lane, Outbox, Queue, Settled, StoreError};
use super::tx::SqliteQuery;
use super::{Sqlite, SqliteTx, error, rows};
use crate::model::{Attempt, Failure, Leased, Message, Next};

const CLAIM: &str = include_str!("claim_messages.sql");
const EXTEND: &str = include_str!("extend_message.sql");
const GIVE_BACK: &str = include_str!("give_back_message.sql");
const FAIL: &str = include_str!("fail_message.sql");
const NEXT_DUE: &str = include_str!("next_message_due.sql");
const PUBLISH: &str = include_str!("publish_message.sql");
const FAIL_ATTEMPT: &str = include_str!("fail_attempt.sql");

#[async_trait]
impl Queue<Message> for Sqlite {
    async fn claim(&self, limit: u32, lanes: &[Lane]) -> Result<Vec<Leased<Message>>, StoreError> {
        let mut tx = self.write().await?;
        let mut rows = Vec::new();
        let mut left = limit;
        let mut hungry = Vec::new();
        for (at, lane) in lanes.iter().enumerate() {
            // First an equal share, so that no destination stands in another's way; then what is left.
            let share = left.div_ceil(count(lanes.len() - at)).min(lane.limit);
            let claimed = claim(&mut tx, lane, share).await?;
            left -= count(claimed.len());
            if count(claimed.len()) == share && share < lane.limit && !claimed.iter().any(rows::is_suspect) {
                hungry.push((lane, lane.limit - share));
            }
            rows.extend(claimed);
        }
        for (lane, room) in hungry {
            let claimed = claim(&mut tx, lane, room.min(left)).await?;
            left -= count(claimed.len());
            rows.extend(claimed);
        }
        tx.commit().await?;
        rows.iter()
            .filter_map(|row| rows::claimed_message(row).transpose())
            .collect::<Result<_, _>>()
            .map_err(error)
    }

    async fn extend(&self, leased: &Leased<Message>, lease: Duration) -> Result<Settled, StoreError> {
        self.settle(fenced(EXTEND, leased).bind(lease.as_secs_f64())).await
    }

    async fn give_back(&self, leased: Leased<Message>) -> Result<Settled, StoreError> {
        self.settle(fenced(GIVE_BACK, &leased)).await
    }

    async fn fail(
        &self,
        leased: Leased<Message>,
        failure: &Failure,
        next: &Next,
    ) -> Result<Settled, StoreError> {
        let query =
            fenced(FAIL, &leased).bind(&failure.code).bind(delay_seconds(next)).bind(review_reason(next));
        self.settle(query).await
    }

    async fn next_due(&self, lanes: &[Lane]) -> Result<Option<Duration>, StoreError> {
        let names = lanes.iter().map(|lane| &*lane.name).collect::<Value>().to_string();
        let row = sqlx::query(NEXT_DUE).bind(names).fetch_one(&self.readers).await.map_err(error)?;
        Ok(wait(row.try_get("seconds").map_err(error)?))
    }
}

#[async_trait]
impl Outbox for Sqlite {
    async fn publish(&self, leased: Leased<Message>, attempt: &Attempt) -> Result<Settled, StoreError> {
        self.record(attempted(PUBLISH, &leased, attempt)).await
    }

    async fn fail_attempt(
        &self,
        leased: Leased<Message>,
        attempt: &Attempt,
        next: &Next,
    ) -> Result<Settled, StoreError> {
        let query = attempted(FAIL_ATTEMPT, &leased, attempt);
        self.record(query.bind(delay_seconds(next)).bind(review_reason(next))).await
    }
}

impl Sqlite {
    /// Runs a statement that writes one row if the claim still stands.
    pub(super) async fn settle(&self, query: SqliteQuery<'_>) -> Result<Settled, StoreError> {
        let mut tx = self.write().await?;
        let written = query.execute(&mut *tx.connection).await.map_err(error)?.rows_affected();
        tx.commit().await?;
        Ok(if written == 0 { Settled::LeaseLost } else { Settled::Written })
    }

    async fn record(&self, query: SqliteQuery<'_>) -> Result<Settled, StoreError> {
        let mut tx = self.write().await?;
        let row = query.fetch_one(&mut *tx.connection).await.map_err(error)?;
        let lost: bool = row.try_get("lease_lost").map_err(error)?;
        tx.commit().await?;
        Ok(if lost { Settled::LeaseLost } else { Settled::Written })
    }
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

async fn claim(tx: &mut SqliteTx, lane: &Lane, limit: u32) -> Result<Vec<SqliteRow>, StoreError> {
    let mut rows = sqlx::query(CLAIM)
        .bind(i64::from(limit))
        .bind(&*lane.name)
        .bind(lane.lease.as_secs_f64())
        .bind(i64::from(lane.max_attempts))
        .fetch_all(&mut *tx.connection)
        .await
        .map_err(error)?;
    rows::sort(&mut rows, "id"); // RETURNING has no order of its own
    Ok(rows)
}

fn fenced<'q>(sql: &'static str, leased: &Leased<Message>) -> SqliteQuery<'q> {
    sqlx::query(sql).bind(leased.item.id).bind(leased.epoch)
}

fn attempted<'q>(sql: &'static str, leased: &'q Leased<Message>, attempt: &'q Attempt) -> SqliteQuery<'q> {
    fenced(sql, leased)
        .bind(&*leased.item.destination)
        .bind(&leased.item.message_id)
        .bind(leased.attempts)
        .bind(attempt.outcome.as_str())
        .bind(attempt.status.map(i32::from))
        .bind(attempt.error.as_deref())
        .bind(i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX))
}
