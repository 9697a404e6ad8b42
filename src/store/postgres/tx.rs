//! The open transaction of one unit of work.

use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Executor, PgConnection, Row as _, SqlSafeStr};
use tokio::time::Instant;

use super::super::tx::rfc3339;
use super::super::{Emitted, Locked, Finish, Insertion, Param, Row, RowState, StoreError};
use super::{Postgres, accept, commit_error, error, rows, values};
use crate::model::{Event, EventKey, Leased, NewEvent, NewMessage};

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

/// A transaction on PostgreSQL. Dropped unfinished, it closes its connection.
pub(in super::super) struct PgTx {
    connection: PoolConnection<sqlx::Postgres>,
    deadline: Instant,
    /// Messages with a greater id are of this unit of work, if they have its key.
    newest: Option<i64>,
    route: String,
    /// Neither committed nor rolled back.
    open: bool,
}

impl Drop for PgTx {
    fn drop(&mut self) {
        if self.open {
            self.connection.close_on_drop();
        }
    }
}

impl PgTx {
    /// BEGIN. Should this future be cut, the connection is closed.
    pub(super) async fn begin(database: &Postgres, limit: Duration) -> Result<Self, StoreError> {
        let deadline = Instant::now() + limit;
        #[expect(clippy::disallowed_methods, reason = "nothing has begun on the connection that is waited for")]
        let connection = tokio::time::timeout(limit, database.connection())
            .await
            .map_err(|_| StoreError::Unavailable("no connection came free in the time allowed".into()))??;
        let mut tx = Self { connection, deadline, newest: None, route: String::new(), open: true };
        let left = milliseconds(tx.left());
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = {left}; \
             SET LOCAL lock_timeout = {left}; SET LOCAL idle_in_transaction_session_timeout = {left}"
        );
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *tx.connection).await.map_err(error)?;
        Ok(tx)
    }

    pub(in super::super) async fn execute(
        &mut self,
        sql: impl SqlSafeStr,
        params: &[Param],
    ) -> Result<u64, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        Ok(query.execute(&mut *self.connection).await.map_err(error)?.rows_affected())
    }

    pub(in super::super) async fn fetch_optional(
        &mut self,
        sql: &'static str,
        params: &[Param],
    ) -> Result<Option<Row>, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        let row = query.fetch_optional(&mut *self.connection).await.map_err(error)?;
        row.as_ref().map(values::read).transpose()
    }

    pub(in super::super) async fn prepare(&mut self, sql: &str, params: &[Param]) -> Result<(), StoreError> {
        let sql = AssertSqlSafe(sql.to_owned()).into_sql_str();
        self.connection.prepare_with(sql, &values::types(params)).await.map_err(error)?;
        Ok(())
    }

    pub(in super::super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    pub(in super::super) async fn insert(&mut self, event: &NewEvent) -> Result<Insertion, StoreError> {
        loop {
            let left = self.left();
            let mut found = accept::insert(&mut self.connection, &[event], left).await.map_err(error)?;
            if found.is_empty() {
                found = accept::find(&mut self.connection, &[event], accept::FIND).await.map_err(error)?;
            }
            match found.remove(&event.key) {
                Some(Insertion::Existing(row)) if row.state != RowState::Processed => {}
                Some(insertion) => return Ok(insertion),
                // Between two statements the row can only go, by retention: then it is inserted after all.
                None => continue,
            }
            let mut locked = accept::find(&mut self.connection, &[event], accept::LOCK).await.map_err(error)?;
            if let Some(insertion) = locked.remove(&event.key) {
                return Ok(insertion);
            }
        }
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
        let row = sqlx::query(ENTER)
            .bind(milliseconds(limit.min(self.left())).to_string())
            .bind(&*event.key.provider)
            .bind(&*event.key.endpoint)
            .bind(&event.key.event_id)
            .bind(rfc3339(event.received_at))
            .bind(event.trace_context.as_deref().unwrap_or_default())
            .bind(route)
            .fetch_one(&mut *self.connection)
            .await
            .map_err(error)?;
        let newest = row.try_get("newest").map_err(error)?;
        self.newest.get_or_insert(newest);
        route.clone_into(&mut self.route);
        sqlx::raw_sql("SAVEPOINT hookgate_handler").execute(&mut *self.connection).await.map_err(error)?;
        Ok(())
    }

    /// RELEASE fails if the handler ended the transaction (no such savepoint) or went on after an error (aborted).
    pub(in super::super) async fn leave(&mut self) -> Result<(), StoreError> {
        let released = sqlx::raw_sql(LEAVE).execute(&mut *self.connection).await;
        match released {
            Ok(_) => Ok(()),
            Err(sqlx::Error::Database(_)) => Err(StoreError::Fenced),
            Err(failed) => Err(error(failed)),
        }
    }

    pub(in super::super) async fn emit(&mut self, event: &Event, message: &NewMessage) -> Result<(), StoreError> {
        sqlx::query(EMIT)
            .bind(&message.aggregate_type)
            .bind(&message.aggregate_id)
            .bind(&message.event_type)
            .bind(&message.payload)
            .bind(&*event.key.provider)
            .bind(&*event.key.endpoint)
            .bind(&event.key.event_id)
            .bind(&self.route)
            .bind(event.received_at)
            .bind(event.trace_context.as_deref())
            .execute(&mut *self.connection)
            .await
            .map_err(error)?;
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
            .bind(event.received_at)
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
        sqlx::raw_sql("COMMIT").execute(&mut *self.connection).await.map_err(commit_error)?;
        self.open = false;
        Ok(())
    }

    pub(in super::super) async fn rollback(mut self) {
        if sqlx::raw_sql("ROLLBACK").execute(&mut *self.connection).await.is_ok() {
            self.open = false;
        } // else dropping it closes the connection
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

pub(super) type PgQuery<'q> = Query<'q, sqlx::Postgres, PgArguments>;

pub(super) fn by_key<'q>(query: PgQuery<'q>, key: &EventKey) -> PgQuery<'q> {
    query.bind(key.provider.to_string()).bind(key.endpoint.to_string()).bind(key.event_id.clone())
}

/// For a timeout of the server's: 0 would mean none.
pub(super) fn milliseconds(limit: Duration) -> i32 {
    i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).max(1)
}
