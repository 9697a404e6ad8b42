//! How messages are claimed, and when the next ones are due.

use std::time::Duration;

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::super::rows::wait;
use super::super::{InOrder, Lane, StoreError};
use super::{Postgres, error, rows};

const CLAIM: &str = include_str!("claim_messages.sql");
const CLAIM_IN_ORDER: &str = include_str!("claim_in_order.sql");
const NEXT_DUE: &str = include_str!("next_message_due.sql");
const NEXT_IN_ORDER_DUE: &str = include_str!("next_in_order_due.sql");

impl Postgres {
    /// Ordered lanes have a statement each, and first an equal share; one statement serves all others.
    pub(super) async fn claim_messages(&self, limit: u32, lanes: &[Lane]) -> Result<Vec<PgRow>, StoreError> {
        let (ordered, free): (Vec<&Lane>, Vec<&Lane>) = lanes.iter().partition(|lane| lane.order.is_some());
        let (mut claimed, mut left) = (Vec::new(), limit);
        for (at, lane) in ordered.iter().enumerate() {
            let Some(order) = &lane.order else { continue };
            let share = left.div_ceil(count(ordered.len() - at + free.len())).min(lane.limit);
            let rows = self.claim_in_turn(lane, order, share).await;
            match rows {
                Ok(rows) => {
                    left -= count(rows.len());
                    claimed.extend(rows);
                }
                // What was claimed before must be worked on.
                Err(_) if !claimed.is_empty() => return Ok(claimed),
                Err(failed) => return Err(failed),
            }
        }
        if free.is_empty() || left == 0 {
            return Ok(claimed);
        }
        match self.claim_unordered(left, &free).await {
            Ok(rows) => claimed.extend(rows),
            Err(failed) if claimed.is_empty() => return Err(failed),
            Err(_) => {}
        }
        Ok(claimed)
    }

    async fn claim_unordered(&self, limit: u32, lanes: &[&Lane]) -> Result<Vec<PgRow>, StoreError> {
        sqlx::query(CLAIM)
            .bind(i64::from(limit))
            .bind(lanes.iter().map(|lane| &*lane.name).collect::<Vec<_>>())
            .bind(lanes.iter().map(|lane| i64::from(lane.limit)).collect::<Vec<_>>())
            .bind(lanes.iter().map(|lane| lane.lease.as_secs_f64()).collect::<Vec<_>>())
            .bind(lanes.iter().map(|lane| i64::from(lane.max_attempts)).collect::<Vec<_>>())
            .bind(lanes.iter().map(|lane| lane.breaker).collect::<Vec<_>>())
            .fetch_all(&mut *self.connection().await?)
            .await
            .map_err(error)
    }

    /// From the key whose turn it is to the end, then from the first one.
    async fn claim_in_turn(
        &self,
        lane: &Lane,
        order: &InOrder,
        limit: u32,
    ) -> Result<Vec<PgRow>, StoreError> {
        let after = order.after.as_deref().unwrap_or_default();
        let mut claimed = self.claim_behind(lane, order, after, limit).await?;
        let left = limit - count(claimed.len());
        if left > 0 && !after.is_empty() && !claimed.iter().any(rows::is_suspect) {
            // Also if this fails, what was claimed must be worked on.
            claimed.extend(self.claim_behind(lane, order, "", left).await.unwrap_or_default());
        }
        Ok(claimed)
    }

    async fn claim_behind(
        &self,
        lane: &Lane,
        order: &InOrder,
        after: &str,
        limit: u32,
    ) -> Result<Vec<PgRow>, StoreError> {
        sqlx::query(CLAIM_IN_ORDER)
            .bind(i64::from(limit))
            .bind(&*lane.name)
            .bind(lane.lease.as_secs_f64())
            .bind(i64::from(lane.max_attempts))
            .bind(lane.breaker)
            .bind(after)
            .bind(order.skip_dead)
            .fetch_all(&mut *self.connection().await?)
            .await
            .map_err(error)
    }

    pub(super) async fn next_message_due(&self, lanes: &[Lane]) -> Result<Option<Duration>, StoreError> {
        let free: Vec<&str> =
            lanes.iter().filter(|lane| lane.order.is_none()).map(|lane| &*lane.name).collect();
        let mut next = None;
        if !free.is_empty() {
            let row = sqlx::query(NEXT_DUE).bind(free).fetch_one(&mut *self.connection().await?).await;
            next = wait(row.and_then(|row| row.try_get("seconds")).map_err(error)?);
        }
        for (lane, order) in lanes.iter().filter_map(|lane| Some((lane, lane.order.as_ref()?))) {
            let query = sqlx::query(NEXT_IN_ORDER_DUE).bind(&*lane.name).bind(order.skip_dead);
            let row = query.fetch_one(&mut *self.connection().await?).await;
            let due = wait(row.and_then(|row| row.try_get("seconds")).map_err(error)?);
            next = next.into_iter().chain(due).min();
        }
        Ok(next)
    }
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
