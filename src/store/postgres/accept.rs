//! New events, and the rows that stand in their way: for a batch that commits by itself, and in a unit of work.

use std::time::Duration;

use sqlx::Row;

use super::super::Insertion;
use super::super::twins::Found;
use super::super::tx::storable;
use super::rows;
use super::session::Session;
use super::tx::milliseconds;
use crate::model::{BatchRequest, NewEvent};

const ACCEPT: &str = include_str!("accept.sql");
const KEEP: &str = include_str!("keep_request.sql");
const FIND_REQUESTS: &str = include_str!("find_requests.sql");
/// Reads the rows as they stand.
pub(super) const FIND: &str = include_str!("find_copies.sql");
/// Waits until they are ours.
pub(super) const LOCK: &str = concat!(include_str!("find_copies.sql"), "FOR UPDATE OF i");

/// Inserts events with distinct keys; those that are there already, or are just being written by another transaction
/// (waited for up to `wait`), are left out of the answer.
pub(super) async fn insert(
    connection: &mut Session,
    events: &[&NewEvent],
    wait: Duration,
) -> Result<Found, sqlx::Error> {
    fn column<'a, T>(events: &[&'a NewEvent], of: impl Fn(&'a NewEvent) -> T) -> Vec<T> {
        events.iter().map(|event| of(event)).collect()
    }
    let rows = sqlx::query(ACCEPT)
        .bind(milliseconds(wait).to_string())
        .bind(column(events, |event| &*event.key.provider))
        .bind(column(events, |event| &*event.key.endpoint))
        .bind(column(events, |event| event.key.event_id.as_str()))
        .bind(column(events, |event| event.event_type.as_str()))
        .bind(column(events, |event| event.body.as_ref()))
        .bind(column(events, |event| event.body_sha256.as_slice()))
        .bind(column(events, |event| event.content_type.as_deref()))
        .bind(column(events, |event| event.headers.to_json()))
        .bind(column(events, |event| event.request_id.to_string()))
        .bind(column(events, |event| event.item_index))
        .bind(column(events, |event| event.account.as_deref()))
        .bind(column(events, |event| event.ordering_key.as_deref()))
        .bind(column(events, |event| event.trace_context.as_deref()))
        .bind(column(events, |event| storable(event.occurred_at)))
        .bind(column(events, |event| event.ordered))
        .bind(column(events, |event| event.version))
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| Ok((rows::key(row)?, Insertion::Inserted { received_at: row.try_get("received_at")? })))
        .collect()
}

/// Keeps a request, if it is not kept.
pub(super) async fn keep(connection: &mut Session, request: &BatchRequest) -> Result<(), sqlx::Error> {
    let keep = sqlx::query(KEEP)
        .bind(request.id.to_string())
        .bind(&*request.endpoint)
        .bind(request.body.as_ref())
        .bind(request.headers.to_json());
    keep.execute(connection).await.map(drop)
}

/// The same, without sending all of it where it is kept already.
pub(super) async fn keep_once(connection: &mut Session, request: &BatchRequest) -> Result<(), sqlx::Error> {
    let ids = vec![request.id.to_string()];
    let found = sqlx::query(FIND_REQUESTS).bind(ids).fetch_optional(&mut *connection).await?;
    if found.is_none() { keep(connection, request).await } else { Ok(()) }
}

/// Reads the rows of these events by [`FIND`] or [`LOCK`].
pub(super) async fn find(
    connection: &mut Session,
    events: &[&NewEvent],
    sql: &'static str,
) -> Result<Found, sqlx::Error> {
    let rows = sqlx::query(sql)
        .bind(events.iter().map(|event| &*event.key.provider).collect::<Vec<_>>())
        .bind(events.iter().map(|event| &*event.key.endpoint).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.key.event_id.as_str()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.body_sha256.as_slice()).collect::<Vec<_>>())
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| Ok((rows::key(row)?, Insertion::Existing(rows::existing(row)?)))).collect()
}
