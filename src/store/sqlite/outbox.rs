//! Messages to destinations.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::super::rows::{delay_seconds, review_reason};
use super::super::{Lane, Outbox, Queue, Settled, StoreError};
use super::tx::SqliteQuery;
use super::{Sqlite, SqliteTx, circuits, error, rows};
use crate::model::{Attempt, Circuit, Failure, Leased, Message, Next};

const EXTEND: &str = include_str!("extend_message.sql");
const GIVE_BACK: &str = include_str!("give_back_message.sql");
const FAIL: &str = include_str!("fail_message.sql");
const PUBLISH: &str = include_str!("publish_message.sql");
const FAIL_ATTEMPT: &str = include_str!("fail_attempt.sql");

#[async_trait]
impl Queue<Message> for Sqlite {
    async fn claim(&self, limit: u32, lanes: &[Lane]) -> Result<Vec<Leased<Message>>, StoreError> {
        let rows = self.claim_messages(limit, lanes).await?;
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
        self.next_message_due(lanes).await
    }
}

#[async_trait]
impl Outbox for Sqlite {
    async fn publish(&self, leased: Leased<Message>, attempt: &Attempt) -> Result<Settled, StoreError> {
        let mut tx = self.write().await?;
        let row = recorded(&mut tx, attempted(PUBLISH, &leased, attempt)).await?;
        if row.try_get("was_unwell").map_err(error)? {
            circuits::answered(&mut tx, &leased.item.destination).await?;
        }
        tx.commit().await?;
        settled(&row)
    }

    async fn fail_attempt(
        &self,
        leased: Leased<Message>,
        attempt: &Attempt,
        next: &Next,
    ) -> Result<Settled, StoreError> {
        let query = attempted(FAIL_ATTEMPT, &leased, attempt);
        let mut tx = self.write().await?;
        let row = recorded(&mut tx, query.bind(delay_seconds(next)).bind(review_reason(next))).await?;
        tx.commit().await?;
        settled(&row)
    }

    async fn note_failure(
        &self,
        destination: &str,
        attempt: &Attempt,
        circuit: &Circuit,
        probe: bool,
    ) -> Result<(), StoreError> {
        self.judge(destination, attempt, circuit, probe).await
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
}

async fn recorded(tx: &mut SqliteTx, query: SqliteQuery<'_>) -> Result<SqliteRow, StoreError> {
    query.fetch_one(&mut *tx.connection).await.map_err(error)
}

fn settled(row: &SqliteRow) -> Result<Settled, StoreError> {
    let lost: bool = row.try_get("lease_lost").map_err(error)?;
    Ok(if lost { Settled::LeaseLost } else { Settled::Written })
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
