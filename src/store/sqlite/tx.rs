//! The open transaction: of a unit of work, or of one write.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Executor, Row as _, SqlSafeStr, SqliteConnection};
use tokio::time::Instant;

use super::super::tx::storable;
use super::super::{Emitted, Locked, Existing, Finish, Insertion, Param, Row, StoreError};
use super::values::text;
use super::{Sqlite, commit_error, error, rows, values};
use crate::model::{Event, EventKey, Leased, NewEvent, NewMessage};

const ACCEPT: &str = include_str!("accept.sql");
const FIND_COPY: &str = include_str!("find_copies.sql");
const FIND: &str = include_str!("find_event.sql");
const LOCK: &str = include_str!("lock_event.sql");
const ENTER: &str = include_str!("enter_handler.sql");
const LEAVE: &str = include_str!("leave_handler.sql");
const EMIT: &str = include_str!("emit_message.sql");
const EMITTED: &str = include_str!("emitted_messages.sql");
const ADDRESS: &str = include_str!("address_message.sql");
const COPY: &str = include_str!("copy_message.sql");
const FORWARD: &str = include_str!("forward_event.sql");
const FINISH: &str = include_str!("finish_event.sql");

/// `SQLITE_ERROR`: all that RELEASE says of a savepoint that is gone.
const NO_SAVEPOINT: &str = "1";

/// Instructions of SQLite's machine between two looks at the clock.
const LOOK_EVERY: i32 = 1_000;

/// A transaction on SQLite: it holds the only writer. Dropped unfinished, it closes its connection.
pub(in super::super) struct SqliteTx {
    pub(super) connection: PoolConnection<sqlx::Sqlite>,
    deadline: Instant,
    /// Messages with a greater id are of this unit of work.
    newest: Option<i64>,
    inside: Option<Inside>,
    /// A statement failed. SQLite would let the handler go on; PostgreSQL would not, and neither do we.
    failed: bool,
    /// Neither committed nor rolled back.
    open: bool,
}

/// The event and the route whose handler runs.
struct Inside {
    newest: i64,
    key: EventKey,
    received_at: String,
    trace_context: Option<String>,
    route: String,
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
        #[expect(clippy::disallowed_methods, reason = "nothing has begun on the connection that is waited for")]
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

    pub(in super::super) async fn execute(
        &mut self,
        sql: impl SqlSafeStr,
        params: &[Param],
    ) -> Result<u64, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        let result = query.execute(&mut *self.connection).await;
        Ok(self.noted(result)?.rows_affected())
    }

    pub(in super::super) async fn fetch_optional(
        &mut self,
        sql: &'static str,
        params: &[Param],
    ) -> Result<Option<Row>, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        let result = query.fetch_optional(&mut *self.connection).await;
        self.noted(result)?.as_ref().map(values::read).transpose()
    }

    pub(in super::super) async fn prepare(&mut self, sql: &str) -> Result<(), StoreError> {
        self.connection.prepare(AssertSqlSafe(sql.to_owned()).into_sql_str()).await.map_err(error)?;
        Ok(())
    }

    pub(in super::super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }

    /// Nobody else writes, so that the row that is in the way stays as it is until the transaction ends.
    pub(in super::super) async fn insert(&mut self, event: &NewEvent) -> Result<Insertion, StoreError> {
        let inserted =
            bind_event(sqlx::query(ACCEPT), event).fetch_optional(&mut *self.connection).await.map_err(error)?;
        if let Some(row) = inserted {
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

    pub(in super::super) async fn stored(&mut self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        let row = by_key(sqlx::query(FIND), key).fetch_optional(&mut *self.connection).await.map_err(error)?;
        row.map(|row| rows::event(&row, key.clone())).transpose().map_err(error)
    }

    pub(in super::super) async fn lock(&mut self, leased: &Leased<EventKey>) -> Result<Locked, StoreError> {
        let row = by_key(sqlx::query(LOCK), &leased.item)
            .bind(leased.epoch)
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(error)?;
        match row {
            Some(row) => Ok(Locked::Event(rows::event(&row, leased.item.clone()).map_err(error)?)),
            None => Ok(Locked::Gone),
        }
    }

    pub(in super::super) async fn enter(
        &mut self,
        event: &Event,
        route: &str,
        limit: Duration,
    ) -> Result<(), StoreError> {
        let row = sqlx::query(ENTER).fetch_one(&mut *self.connection).await.map_err(error)?;
        let newest = row.try_get("newest").map_err(error)?;
        self.newest.get_or_insert(newest);
        self.inside = Some(Inside {
            newest,
            key: event.key.clone(),
            received_at: text(event.received_at),
            trace_context: event.trace_context.clone(),
            route: route.to_owned(),
        });
        self.interrupt_at(self.deadline.min(Instant::now() + limit)).await?;
        sqlx::raw_sql("SAVEPOINT hookgate_handler").execute(&mut *self.connection).await.map_err(error)?;
        Ok(())
    }

    /// RELEASE fails if the handler ended the transaction: no such savepoint.
    pub(in super::super) async fn leave(&mut self) -> Result<(), StoreError> {
        let Some(inside) = self.inside.take() else { return Err(StoreError::Fenced) };
        if self.failed {
            return Err(StoreError::Fenced);
        }
        self.interrupt_at(self.deadline).await?;
        by_key(sqlx::query(LEAVE).bind(inside.newest), &inside.key)
            .bind(inside.received_at)
            .bind(inside.trace_context)
            .bind(inside.route)
            .execute(&mut *self.connection)
            .await
            .map_err(|failed| match error(failed) {
                StoreError::Sql { code: Some(code), .. } if code == NO_SAVEPOINT => StoreError::Fenced,
                other => other,
            })?;
        Ok(())
    }

    pub(in super::super) async fn emit(&mut self, event: &Event, message: &NewMessage) -> Result<(), StoreError> {
        let route = self.inside.as_ref().map(|inside| inside.route.clone());
        let result = sqlx::query(EMIT)
            .bind(&message.aggregate_type)
            .bind(&message.aggregate_id)
            .bind(&message.event_type)
            .bind(&message.payload)
            .bind(&*event.key.provider)
            .bind(&*event.key.endpoint)
            .bind(&event.key.event_id)
            .bind(route)
            .bind(text(event.received_at))
            .bind(event.trace_context.as_deref())
            .execute(&mut *self.connection)
            .await;
        self.noted(result)?;
        Ok(())
    }

    pub(in super::super) async fn emitted(&mut self, key: &EventKey) -> Result<Vec<Emitted>, StoreError> {
        let Some(newest) = self.newest else { return Ok(Vec::new()) };
        let rows = by_key(sqlx::query(EMITTED).bind(newest), key)
            .fetch_all(&mut *self.connection)
            .await
            .map_err(error)?;
        let emitted = rows.iter().map(|row| {
            Ok(Emitted {
                id: row.try_get("id")?,
                route: row.try_get::<Option<String>, _>("route")?.unwrap_or_default(),
                aggregate_type: row.try_get("aggregate_type")?,
                aggregate_id: row.try_get("aggregate_id")?,
                event_type: row.try_get("event_type")?,
            })
        });
        emitted.collect::<Result<_, _>>().map_err(error)
    }

    pub(in super::super) async fn address(&mut self, id: i64, to: &[(&str, &str)]) -> Result<(), StoreError> {
        for (at, (destination, message_id)) in to.iter().enumerate() {
            let sql = if at == 0 { ADDRESS } else { COPY };
            let query = sqlx::query(sql).bind(id).bind(destination).bind(message_id);
            let written = query.execute(&mut *self.connection).await.map_err(error)?.rows_affected();
            if written != 1 {
                return Err(StoreError::Fenced);
            }
        }
        Ok(())
    }

    pub(in super::super) async fn forward(
        &mut self,
        event: &Event,
        route: &str,
        destination: &str,
        message_id: &str,
    ) -> Result<(), StoreError> {
        sqlx::query(FORWARD)
            .bind(&event.event_type)
            .bind(event.body.as_ref())
            .bind(&*event.key.provider)
            .bind(&*event.key.endpoint)
            .bind(&event.key.event_id)
            .bind(route)
            .bind(text(event.received_at))
            .bind(destination)
            .bind(message_id)
            .bind(event.content_type.as_deref())
            .bind(event.headers.to_json())
            .bind(event.trace_context.as_deref())
            .execute(&mut *self.connection)
            .await
            .map_err(error)?;
        Ok(())
    }

    pub(in super::super) async fn finish(
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

    pub(in super::super) async fn commit(mut self) -> Result<(), StoreError> {
        self.connection.lock_handle().await.map_err(error)?.remove_progress_handler();
        sqlx::raw_sql("COMMIT").execute(&mut *self.connection).await.map_err(commit_error)?;
        self.open = false;
        Ok(())
    }

    pub(in super::super) async fn rollback(mut self) {
        let Ok(mut handle) = self.connection.lock_handle().await else { return };
        handle.remove_progress_handler();
        drop(handle);
        if sqlx::raw_sql("ROLLBACK").execute(&mut *self.connection).await.is_ok() {
            self.open = false;
        } // else dropping it closes the connection
    }

    /// Statements that run beyond this moment are interrupted.
    async fn interrupt_at(&mut self, moment: Instant) -> Result<(), StoreError> {
        let mut handle = self.connection.lock_handle().await.map_err(error)?;
        handle.set_progress_handler(LOOK_EVERY, move || Instant::now() < moment);
        Ok(())
    }

    fn noted<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
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
}
