//! Messages to destinations.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::super::rows::{delay_seconds, review_reason};
use super::super::{Lane, Outbox, Queue, Settled, StoreError};
use super::tx::PgQuery;
use super::{Postgres, error, rows};
use crate::model::{Attempt, Circuit, Failure, Leased, Message, Next};

const EXTEND: &str = include_str!("extend_message.sql");
const GIVE_BACK: &str = include_str!("give_back_message.sql");
const FAIL: &str = include_str!("fail_message.sql");
const PUBLISH: &str = include_str!("publish_message.sql");
const FAIL_ATTEMPT: &str = include_str!("fail_attempt.sql");

#[async_trait]
impl Queue<Message> for Postgres {
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
impl Outbox for Postgres {
    async fn publish(&self, leased: Leased<Message>, attempt: &Attempt) -> Result<Settled, StoreError> {
        let row = self.recorded(attempted(PUBLISH, &leased, attempt)).await?;
        if row.try_get("was_unwell").map_err(error)? {
            // The message is published whatever happens here; the next one that is tells it too.
            self.answered(&leased.item.destination).await.ok();
        }
        settled(&row)
    }

    async fn fail_attempt(
        &self,
        leased: Leased<Message>,
        attempt: &Attempt,
        next: &Next,
    ) -> Result<Settled, StoreError> {
        let query = attempted(FAIL_ATTEMPT, &leased, attempt);
        settled(&self.recorded(query.bind(delay_seconds(next)).bind(review_reason(next))).await?)
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

impl Postgres {
    /// Runs a statement that writes one row if the claim still stands.
    pub(super) async fn settle(&self, query: PgQuery<'_>) -> Result<Settled, StoreError> {
        match query.execute(&mut *self.connection().await?).await.map_err(error)?.rows_affected() {
            0 => Ok(Settled::LeaseLost),
            _ => Ok(Settled::Written),
        }
    }

    async fn recorded(&self, query: PgQuery<'_>) -> Result<PgRow, StoreError> {
        query.fetch_one(&mut *self.connection().await?).await.map_err(error)
    }
}

fn settled(row: &PgRow) -> Result<Settled, StoreError> {
    let lost = row.try_get("lease_lost").map_err(error)?;
    Ok(if lost { Settled::LeaseLost } else { Settled::Written })
}

fn fenced<'q>(sql: &'static str, leased: &Leased<Message>) -> PgQuery<'q> {
    sqlx::query(sql).bind(leased.item.id).bind(leased.epoch)
}

fn attempted<'q>(sql: &'static str, leased: &'q Leased<Message>, attempt: &'q Attempt) -> PgQuery<'q> {
    fenced(sql, leased)
        .bind(&*leased.item.destination)
        .bind(&leased.item.message_id)
        .bind(leased.attempts)
        .bind(attempt.outcome.as_str())
        .bind(attempt.status.map(i32::from))
        .bind(attempt.error.as_deref())
        .bind(i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX))
}
