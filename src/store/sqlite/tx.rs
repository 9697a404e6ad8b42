//! The open transaction: of a unit of work, or of one write.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Row as _};
use tokio::time::Instant;

use super::super::tx::storable;
use super::super::{Existing, Finish, Insertion, Locked, StoreError};
use super::values::text;
use super::{Sqlite, commit_error, error, rows};
use crate::model::{BatchRequest, DueEvent, Event, EventKey, Leased, NewEvent};

const ACCEPT: &str = include_str!("accept.sql");
const KEEP: &str = include_str!("keep_request.sql");
const FIND_REQUESTS: &str = include_str!("find_requests.sql");
const FIND_COPY: &str = include_str!("find_copies.sql");
const FIND: &str = include_str!("find_event.sql");
const LOCK: &str = include_str!("lock_event.sql");
const FINISH: &str = include_str!("finish_event.sql");

/// Instructions of SQLite's machine between two looks at the clock.
const LOOK_EVERY: i32 = 1_000;

/// A transaction on SQLite: it holds the only writer. Dropped unfinished, it closes its connection.
pub(in crate::store) struct SqliteTx {
    pub(super) connection: PoolConnection<sqlx::Sqlite>,
    pub(super) deadline: Instant,
    /// Messages with a greater id are of this unit of work.
    pub(super) newest: Option<i64>,
    pub(super) inside: Option<Inside>,
    /// A statement failed. SQLite would let the handler go on; PostgreSQL would not, and neither do we.
    pub(super) failed: bool,
    /// Neither committed nor rolled back.
    open: bool,
}

/// The event and the route whose handler runs.
pub(super) struct Inside {
    pub(super) newest: i64,
    pub(super) key: EventKey,
    pub(super) received_at: String,
    pub(super) trace_context: Option<String>,
    pub(super) route: String,
    pub(super) ordering_key: Option<String>,
}

impl Drop for SqliteTx {
    fn drop(&mut self) {
        if self.open {
            self.connection.close_on_drop();
        }
    }
}

impl SqliteTx {
    /// BEGIN IMMEDIATE. Should this future be cut, the connection is closed.
    pub(super) async fn begin(database: &Sqlite, limit: Duration) -> Result<Self, StoreError> {
        let deadline = Instant::now() + limit;
        #[expect(
            clippy::disallowed_methods,
            reason = "nothing has begun on the connection that is waited for"
        )]
        let connection = tokio::time::timeout(limit, database.writer.acquire())
            .await
            .map_err(|_| StoreError::Timeout)?
            .map_err(|failed| match failed {
                sqlx::Error::PoolTimedOut => StoreError::Timeout,
                other => error(other),
            })?;
        let mut tx = Self { connection, deadline, newest: None, inside: None, failed: false, open: true };
        // Another process may hold the file's lock: a command of ours, or a backup.
        let left = deadline.saturating_duration_since(Instant::now()).as_millis();
        let begin = format!("PRAGMA busy_timeout = {left}; BEGIN IMMEDIATE");
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *tx.connection).await.map_err(error)?;
        tx.interrupt_at(deadline).await?;
        Ok(tx)
    }

    /// Nobody else writes, so that the row that is in the way stays as it is until the transaction ends.
    pub(in crate::store) async fn insert(&mut self, event: &NewEvent) -> Result<Insertion, StoreError> {
        let inserted = bind_event(sqlx::query(ACCEPT), event)
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(error)?;
        if let Some(row) = inserted {
            if let Some(request) = &event.request {
                self.keep_once(request).await?;
            }
            return Ok(Insertion::Inserted { received_at: row.try_get("received_at").map_err(error)? });
        }
        let row = by_key(sqlx::query(FIND_COPY), &event.key)
            .bind(event.body_sha256.as_slice())
            .fetch_one(&mut *self.connection)
            .await
            .map_err(error)?;
        let existing: Existing = rows::existing(&row).map_err(error)?;
        Ok(Insertion::Existing(existing))
    }

    /// Keeps a request with the first of its events.
    async fn keep_once(&mut self, request: &BatchRequest) -> Result<(), StoreError> {
        let id = request.id.to_string();
        let find = sqlx::query(FIND_REQUESTS).bind(&id).fetch_optional(&mut *self.connection);
        if find.await.map_err(error)?.is_some() {
            return Ok(());
        }
        let keep = sqlx::query(KEEP)
            .bind(&id)
            .bind(&*request.endpoint)
            .bind(request.body.as_ref())
            .bind(request.headers.to_json());
        keep.execute(&mut *self.connection).await.map(drop).map_err(error)
    }

    pub(in crate::store) async fn stored(&mut self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        let row =
            by_key(sqlx::query(FIND), key).fetch_optional(&mut *self.connection).await.map_err(error)?;
        row.map(|row| rows::event(&row, key.clone())).transpose().map_err(error)
    }

    pub(in crate::store) async fn lock(&mut self, leased: &Leased<DueEvent>) -> Result<Locked, StoreError> {
        let row = by_key(sqlx::query(LOCK), &leased.item)
            .bind(leased.epoch)
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(error)?;
        match row {
            Some(row) => {
                let event = rows::event(&row, leased.item.key.clone()).map_err(error)?;
                Ok(Locked::Event(Box::new(event)))
            }
            None => Ok(Locked::Gone),
        }
    }

    pub(in crate::store) async fn finish(
        &mut self,
        key: &EventKey,
        finish: &Finish,
    ) -> Result<Duration, StoreError> {
        let row = by_key(sqlx::query(FINISH), key)
            .bind(finish.outcome)
            .bind(finish.review_reason.as_deref())
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(error)?
            .ok_or(StoreError::Fenced)?;
        let lag: f64 = row.try_get("lag").map_err(error)?;
        Ok(Duration::try_from_secs_f64(lag).unwrap_or_default())
    }

    pub(in crate::store) async fn commit(mut self) -> Result<(), StoreError> {
        self.connection.lock_handle().await.map_err(error)?.remove_progress_handler();
        sqlx::raw_sql("COMMIT").execute(&mut *self.connection).await.map_err(commit_error)?;
        self.open = false;
        Ok(())
    }

    pub(in crate::store) async fn rollback(mut self) {
        let Ok(mut handle) = self.connection.lock_handle().await else { return };
        handle.remove_progress_handler();
        drop(handle);
        if sqlx::raw_sql("ROLLBACK").execute(&mut *self.connection).await.is_ok() {
            self.open = false;
        } // else dropping it closes the connection
    }

    /// Statements that run beyond this moment are interrupted.
    pub(super) async fn interrupt_at(&mut self, moment: Instant) -> Result<(), StoreError> {
        let mut handle = self.connection.lock_handle().await.map_err(error)?;
        handle.set_progress_handler(LOOK_EVERY, move || Instant::now() < moment);
        Ok(())
    }

    pub(super) fn noted<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        self.failed |= result.is_err();
        result.map_err(error)
    }
}

pub(super) type SqliteQuery<'q> = Query<'q, sqlx::Sqlite, SqliteArguments>;

pub(super) fn by_key<'q>(query: SqliteQuery<'q>, key: &EventKey) -> SqliteQuery<'q> {
    query.bind(key.provider.to_string()).bind(key.endpoint.to_string()).bind(key.event_id.clone())
}

fn bind_event<'q>(query: SqliteQuery<'q>, event: &'q NewEvent) -> SqliteQuery<'q> {
    by_key(query, &event.key)
        .bind(&event.event_type)
        .bind(event.body.as_ref())
        .bind(event.body_sha256.as_slice())
        .bind(event.content_type.as_deref())
        .bind(event.headers.to_json())
        .bind(event.request_id.to_string())
        .bind(event.item_index)
        .bind(event.account.as_deref())
        .bind(event.ordering_key.as_deref())
        .bind(event.trace_context.as_deref())
        .bind(storable(event.occurred_at).map(text))
        .bind(event.ordered)
        .bind(event.version)
}
