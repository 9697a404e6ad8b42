//! How messages are claimed, and when the next ones are due.

use std::time::Duration;

use serde_json::Value;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::super::rows::wait;
use super::super::{InOrder, Lane, StoreError};
use super::tx::SqliteQuery;
use super::{Sqlite, SqliteTx, error, rows};

const CLAIM: &str = include_str!("claim_messages.sql");
const CLAIM_IN_ORDER: &str = include_str!("claim_in_order.sql");
const NEXT_DUE: &str = include_str!("next_message_due.sql");
const NEXT_IN_ORDER_DUE: &str = include_str!("next_in_order_due.sql");

impl Sqlite {
    pub(super) async fn claim_messages(
        &self,
        limit: u32,
        lanes: &[Lane],
    ) -> Result<Vec<SqliteRow>, StoreError> {
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
        Ok(rows)
    }

    pub(super) async fn next_message_due(&self, lanes: &[Lane]) -> Result<Option<Duration>, StoreError> {
        let free = lanes.iter().filter(|lane| lane.order.is_none());
        let names = free.map(|lane| &*lane.name).collect::<Value>().to_string();
        let row = sqlx::query(NEXT_DUE).bind(names).fetch_one(&self.readers).await.map_err(error)?;
        let mut next = wait(row.try_get("seconds").map_err(error)?);
        for (lane, order) in lanes.iter().filter_map(|lane| Some((lane, lane.order.as_ref()?))) {
            let query = sqlx::query(NEXT_IN_ORDER_DUE).bind(&*lane.name).bind(order.skip_dead);
            let row = query.fetch_one(&self.readers).await.map_err(error)?;
            next = next.into_iter().chain(wait(row.try_get("seconds").map_err(error)?)).min();
        }
        Ok(next)
    }
}

async fn claim(tx: &mut SqliteTx, lane: &Lane, limit: u32) -> Result<Vec<SqliteRow>, StoreError> {
    if let Some(order) = &lane.order {
        return claim_in_turn(tx, lane, order, limit).await;
    }
    let query = of_lane(sqlx::query(CLAIM), lane, limit);
    let mut rows = query.fetch_all(&mut *tx.connection).await.map_err(error)?;
    rows::sort(&mut rows, "id"); // RETURNING has no order of its own
    Ok(rows)
}

/// From the key whose turn it is to the end, then from the first one.
async fn claim_in_turn(
    tx: &mut SqliteTx,
    lane: &Lane,
    order: &InOrder,
    limit: u32,
) -> Result<Vec<SqliteRow>, StoreError> {
    let after = order.after.as_deref().unwrap_or_default();
    let mut claimed = claim_behind(tx, lane, order, after, limit).await?;
    let left = limit - count(claimed.len());
    if left > 0 && !after.is_empty() && !claimed.iter().any(rows::is_suspect) {
        claimed.extend(claim_behind(tx, lane, order, "", left).await?);
    }
    Ok(claimed)
}

async fn claim_behind(
    tx: &mut SqliteTx,
    lane: &Lane,
    order: &InOrder,
    after: &str,
    limit: u32,
) -> Result<Vec<SqliteRow>, StoreError> {
    let query =
        of_lane(sqlx::query(CLAIM_IN_ORDER), lane, limit).bind(after.to_owned()).bind(order.skip_dead);
    let mut rows = query.fetch_all(&mut *tx.connection).await.map_err(error)?;
    rows::sort_by_key(&mut rows);
    Ok(rows)
}

fn of_lane<'q>(query: SqliteQuery<'q>, lane: &Lane, limit: u32) -> SqliteQuery<'q> {
    query
        .bind(i64::from(limit))
        .bind(lane.name.to_string())
        .bind(lane.lease.as_secs_f64())
        .bind(i64::from(lane.max_attempts))
        .bind(lane.breaker)
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
