//! The inbox as a queue.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::super::rows::{delay_seconds, review_reason, takers, wait};
use super::super::{Lane, Queue, Settled, StoreError};
use super::select::pattern;
use super::tx::by_key;
use super::{Postgres, error, rows};
use crate::model::{DueEvent, Failure, Leased, Next};

const CLAIM: &str = include_str!("claim_events.sql");
const EXTEND: &str = include_str!("extend_event.sql");
const GIVE_BACK: &str = include_str!("give_back_event.sql");
const FAIL: &str = include_str!("fail_event.sql");
const NEXT_DUE: &str = include_str!("next_event_due.sql");

#[async_trait]
impl Queue<DueEvent> for Postgres {
    async fn claim(&self, limit: u32, lanes: &[Lane]) -> Result<Vec<Leased<DueEvent>>, StoreError> {
        let (mut rows, begins_anew) = self.claim_round(limit, lanes).await?;
        if rows.is_empty() && begins_anew {
            // The walk over the keys began behind some of them, and has not seen those yet.
            (rows, _) = self.claim_round(limit, lanes).await?;
        }
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
        let query = sqlx::query(NEXT_DUE).bind(names(lanes)).bind(skips(lanes)).bind(takers(lanes, pattern));
        let row = query.fetch_one(&mut *self.connection().await?).await.map_err(error)?;
        Ok(wait(row.try_get("seconds").map_err(error)?))
    }
}

impl Postgres {
    /// The claimed rows, and whether some walk over keys came to its end.
    async fn claim_round(&self, limit: u32, lanes: &[Lane]) -> Result<(Vec<PgRow>, bool), StoreError> {
        let Some(lane) = lanes.first() else { return Ok((Vec::new(), false)) };
        let rows = sqlx::query(CLAIM)
            .bind(i64::from(limit))
            .bind(lane.lease.as_secs_f64())
            .bind(i64::from(lane.max_attempts))
            .bind(names(lanes))
            .bind(lanes.iter().map(|lane| i64::from(lane.limit)).collect::<Vec<_>>())
            .bind(skips(lanes))
            .bind(self.turns.of(lanes))
            .bind(takers(lanes, pattern))
            .fetch_all(&mut *self.connection().await?)
            .await
            .map_err(error)?;
        let (mut claimed, mut begins_anew) = (Vec::with_capacity(rows.len()), false);
        for row in rows {
            let endpoint: &str = row.try_get("endpoint").map_err(error)?;
            if row.try_get::<Option<&str>, _>("event_id").map_err(error)?.is_none() {
                self.turns.begin_anew(endpoint);
                begins_anew = true;
                continue;
            }
            if let Some(key) = row.try_get("ordering_key").map_err(error)? {
                self.turns.took(endpoint, key);
            }
            claimed.push(row);
        }
        Ok((claimed, begins_anew))
    }
}

fn names(lanes: &[Lane]) -> Vec<String> {
    lanes.iter().map(|lane| lane.name.to_string()).collect()
}

fn skips(lanes: &[Lane]) -> Vec<bool> {
    lanes.iter().map(|lane| lane.skips_dead).collect()
}
