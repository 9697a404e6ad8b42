//! Rows that wait for a person: listed, redriven, resolved.

use super::super::select::{Backend, Bound, Columns, Conditions, Dialect};
use super::super::{Cursor, DeadRecord, Filter, Listed, Page, QueueName, State, StoreError, Unit};
use super::LIMIT;

/// Rows that one transaction gives a new life.
const BATCH: u32 = 500;

/// The rows of one queue that a filter means.
fn conditions(bound: &mut Bound, dialect: Dialect, queue: QueueName, filter: &Filter) -> Conditions {
    let mut all = Conditions::new();
    all.and("i.review_at IS NOT NULL");
    match queue {
        QueueName::Inbox => {
            all.state(dialect, filter.state, "i", "processed_at");
            all.time(bound, filter, "i.received_at");
            if filter.destination.is_some() {
                all.and("1 = 0"); // an event has none
            }
        }
        QueueName::Outbox => {
            all.and("i.destination IS NOT NULL");
            all.state(dialect, filter.state, "i", "published_at");
            all.time(bound, filter, "i.created_at");
            if let Some(destination) = &filter.destination {
                all.and(format!("i.destination = {}", bound.text(destination)));
            }
        }
    }
    all.event(bound, dialect, filter, "i");
    all
}

/// Both queues or one, who waits longest last.
pub(super) async fn list<B: Backend>(
    backend: &B,
    queue: Option<QueueName>,
    filter: &Filter,
    page: &Page,
) -> Result<Listed<DeadRecord>, StoreError> {
    let mut found = Vec::new();
    for one in [QueueName::Inbox, QueueName::Outbox] {
        if queue.is_none_or(|wanted| wanted == one) {
            found.extend(list_queue(backend, one, filter, page).await?);
        }
    }
    found.sort_by_key(|(cursor, _)| std::cmp::Reverse((cursor.at, cursor.rank, cursor.number)));
    let more = found.len() > page.limit as usize;
    found.truncate(page.limit as usize);
    let next = found.last().filter(|_| more).map(|(cursor, _)| *cursor);
    Ok(Listed { rows: found.into_iter().map(|(_, record)| record).collect(), next })
}

async fn list_queue<B: Backend>(
    backend: &B,
    queue: QueueName,
    filter: &Filter,
    page: &Page,
) -> Result<Vec<(Cursor, DeadRecord)>, StoreError> {
    let mut bound = Bound::default();
    let mut all = conditions(&mut bound, backend.dialect(), queue, filter);
    let source = source(backend.dialect(), queue);
    let (number, rank, columns) = match queue {
        QueueName::Inbox => {
            ("seq", 1, "NULL, CASE WHEN i.processed_at IS NULL THEN 'dead' ELSE 'flagged' END, i.received_at")
        }
        QueueName::Outbox => ("id", 0, "i.destination, 'dead', i.created_at"),
    };
    if let Some(after) = page.after {
        let (at, last) = (bound.time(after.time()), bound.number(after.number));
        let last_rank = bound.number(after.rank);
        all.and(format!(
            "(i.review_at < {at} OR i.review_at = {at} AND ({rank} < {last_rank} \
             OR {rank} = {last_rank} AND i.{number} < {last}))"
        ));
    }
    let limit = bound.number(i64::from(page.limit) + 1);
    let sql = format!(
        "SELECT i.review_at, i.{number}, {columns}, i.provider, i.endpoint, i.event_id, i.event_type, \
         i.review_reason, i.attempts, i.last_error FROM {source} WHERE {all} \
         ORDER BY i.review_at DESC, i.{number} DESC LIMIT {limit}"
    );
    backend.rows(&sql, &bound.0).await?.into_iter().map(|row| record(queue, rank, row)).collect()
}

fn record(queue: QueueName, rank: i64, row: super::super::Row) -> Result<(Cursor, DeadRecord), StoreError> {
    let mut row = Columns::of(row);
    let (review_at, number) = (row.time()?, row.number()?);
    let (destination, state, received_at) = (row.optional_text()?, row.text()?, row.time()?);
    let record = DeadRecord {
        queue,
        message: (queue == QueueName::Outbox).then_some(number),
        destination,
        provider: row.text()?,
        endpoint: row.text()?,
        event_id: row.text()?,
        event_type: row.text()?,
        state,
        received_at,
        review_at,
        review_reason: row.text()?,
        attempts: row.number()?,
        last_error: row.optional_text()?,
    };
    Ok((Cursor::new(review_at, rank, number), record))
}

pub(super) async fn count<B: Backend>(
    backend: &B,
    queue: QueueName,
    filter: &Filter,
) -> Result<i64, StoreError> {
    let mut bound = Bound::default();
    let all = conditions(&mut bound, backend.dialect(), queue, filter);
    let source = source(backend.dialect(), queue);
    let sql = format!("SELECT count(*) FROM {source} WHERE {all}");
    match backend.rows(&sql, &bound.0).await?.into_iter().next() {
        Some(row) => Columns::of(row).number(),
        None => Ok(0),
    }
}

fn source(dialect: Dialect, queue: QueueName) -> &'static str {
    match queue {
        QueueName::Inbox => dialect.inbox_review,
        QueueName::Outbox => dialect.outbox_review,
    }
}

/// One batch of what was dead when the order was written down. The epoch moves on, so that a worker that still holds
/// an old claim changes nothing.
pub(super) async fn redrive<B: Backend>(
    backend: &B,
    queue: QueueName,
    filter: &Filter,
    audit: i64,
) -> Result<u64, StoreError> {
    let filter = Filter { state: Some(State::Dead), ..filter.clone() };
    let now = backend.dialect().now;
    let set = format!(
        "attempts = 0, crash_attempts = 0, lease_epoch = lease_epoch + 1, review_at = NULL, review_reason = NULL, \
         available_at = {now}{}",
        if queue == QueueName::Outbox { format!(", redriven_at = {now}") } else { String::new() }
    );
    let undone = match queue {
        QueueName::Inbox => "processed_at IS NULL",
        QueueName::Outbox => "published_at IS NULL",
    };
    update(backend, queue, &filter, audit, &set, undone).await
}

/// One batch of what was flagged when the order was written down.
pub(super) async fn resolve<B: Backend>(backend: &B, filter: &Filter, audit: i64) -> Result<u64, StoreError> {
    let filter = Filter { state: Some(State::Flagged), ..filter.clone() };
    let set = "review_at = NULL, review_reason = NULL";
    update(backend, QueueName::Inbox, &filter, audit, set, "processed_at IS NOT NULL").await
}

async fn update<B: Backend>(
    backend: &B,
    queue: QueueName,
    filter: &Filter,
    audit: i64,
    set: &str,
    still: &str,
) -> Result<u64, StoreError> {
    let mut bound = Bound::default();
    let all = conditions(&mut bound, backend.dialect(), queue, filter);
    let (table, key) = match queue {
        QueueName::Inbox => ("webhook_inbox", "provider, endpoint, event_id"),
        QueueName::Outbox => ("outbox", "id"),
    };
    let (order, source) = (bound.number(audit), source(backend.dialect(), queue));
    let sql = format!(
        "WITH chosen AS MATERIALIZED (SELECT {key} FROM {source} WHERE {all} \
         AND i.review_at <= (SELECT at FROM audit_log WHERE id = {order}) ORDER BY i.review_at LIMIT {BATCH}) \
         UPDATE {table} SET {set} WHERE ({key}) IN (SELECT {key} FROM chosen) AND review_at IS NOT NULL AND {still}"
    );
    let mut unit = backend.begin(LIMIT).await?;
    let changed = match touched(&mut unit, &sql, &bound, audit).await {
        Ok(changed) => changed,
        Err(error) => {
            unit.rollback().await;
            return Err(error);
        }
    };
    unit.commit().await?;
    Ok(changed)
}

/// What was done and how much of it, in one transaction.
async fn touched(unit: &mut Unit, sql: &str, bound: &Bound, audit: i64) -> Result<u64, StoreError> {
    let changed = unit.execute_text(sql, &bound.0).await?;
    super::audit_affected(unit, audit, changed).await?;
    Ok(changed)
}
