//! The inbox as a queue.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use sqlx::Row;

use super::super::rows::{delay_seconds, review_reason, takers, wait};
use super::super::{Lane, Queue, Settled, StoreError};
use super::select::pattern;
use super::tx::by_key;
use super::{Sqlite, error, rows};
use crate::model::{DueEvent, Failure, Leased, Next};

const CLAIM: &str = include_str!("claim_events.sql");
const EXTEND: &str = include_str!("extend_event.sql");
const GIVE_BACK: &str = include_str!("give_back_event.sql");
const FAIL: &str = include_str!("fail_event.sql");
const NEXT_DUE: &str = include_str!("next_event_due.sql");

#[async_trait]
impl Queue<DueEvent> for Sqlite {
    async fn claim(&self, limit: u32, lanes: &[Lane]) -> Result<Vec<Leased<DueEvent>>, StoreError> {
        let Some(lane) = lanes.first() else { return Ok(Vec::new()) };
        let mut tx = self.write().await?;
        let mut rows = sqlx::query(CLAIM)
            .bind(i64::from(limit))
            .bind(lane.lease.as_secs_f64())
            .bind(i64::from(lane.max_attempts))
            .bind(endpoints(lanes))
            .bind(takers(lanes, pattern))
            .fetch_all(&mut *tx.connection)
            .await
            .map_err(error)?;
        tx.commit().await?;
        rows::sort(&mut rows, "seq"); // RETURNING has no order of its own
        rows.iter()
            .filter_map(|row| rows::claimed_event(row).transpose())
            .collect::<Result<_, _>>()
            .map_err(error)
    }

    async fn extend(&self, leased: &Leased<DueEvent>, lease: Duration) -> Result<Settled, StoreError> {
        let query = by_key(sqlx::query(EXTEND), &leased.item).bind(leased.epoch).bind(lease.as_secs_f64());
        self.settle(query).await
    }

    async fn give_back(&self, leased: Leased<DueEvent>) -> Result<Settled, StoreError> {
        self.settle(by_key(sqlx::query(GIVE_BACK), &leased.item).bind(leased.epoch)).await
    }

    async fn fail(
        &self,
        leased: Leased<DueEvent>,
        failure: &Failure,
        next: &Next,
    ) -> Result<Settled, StoreError> {
        let query = by_key(sqlx::query(FAIL), &leased.item)
            .bind(leased.epoch)
            .bind(&failure.code)
            .bind(delay_seconds(next))
            .bind(review_reason(next));
        self.settle(query).await
    }

    async fn next_due(&self, lanes: &[Lane]) -> Result<Option<Duration>, StoreError> {
        let query = sqlx::query(NEXT_DUE).bind(endpoints(lanes)).bind(takers(lanes, pattern));
        let row = query.fetch_one(&self.readers).await.map_err(error)?;
        Ok(wait(row.try_get("seconds").map_err(error)?))
    }
}

fn endpoints(lanes: &[Lane]) -> String {
    let of = |lane: &Lane| json!({ "name": &*lane.name, "room": lane.limit, "skips": lane.skips_dead });
    lanes.iter().map(of).collect::<Value>().to_string()
}
