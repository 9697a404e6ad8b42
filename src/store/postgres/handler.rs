//! What handlers do in the open transaction, and the guard around each.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Executor as _, PgConnection, Row as _, SqlSafeStr as _};

use super::super::tx::rfc3339;
use super::super::{Param, Row, StoreError};
use super::tx::milliseconds;
use super::{PgTx, error, values};
use crate::model::{Event, NewMessage};

const ENTER: &str = include_str!("enter_handler.sql");
const LEAVE: &str = include_str!("leave_handler.sql");
const EMIT: &str = include_str!("emit_message.sql");

impl PgTx {
    pub(in crate::store) async fn execute(
        &mut self,
        sql: &'static str,
        params: &[Param],
    ) -> Result<u64, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        Ok(query.execute(&mut *self.connection).await.map_err(error)?.rows_affected())
    }

    /// A statement of the operator's own. The driver asks the server about types that it does not know, between parsing
    /// a statement and running it; a nameless one is gone then. The second time it knows them.
    pub(in crate::store) async fn execute_text(
        &mut self,
        sql: &str,
        params: &[Param],
    ) -> Result<u64, StoreError> {
        let run = |params| Ok(sqlx::query_with(AssertSqlSafe(sql.to_owned()), values::arguments(params)?));
        let connection = &mut *self.connection;
        if connection.is_named() || !values::may_have_rows(sql) {
            return Ok(run(params)?.execute(connection).await.map_err(error)?.rows_affected());
        }
        sqlx::raw_sql("SAVEPOINT hookgate_statement").execute(&mut *connection).await.map_err(error)?;
        let mut done = run(params)?.execute(&mut *connection).await;
        if done.as_ref().is_err_and(is_unknown_statement) {
            let back = sqlx::raw_sql("ROLLBACK TO SAVEPOINT hookgate_statement");
            back.execute(&mut *connection).await.map_err(error)?;
            done = run(params)?.execute(&mut *connection).await;
        }
        let done = done.map_err(error)?;
        sqlx::raw_sql("RELEASE SAVEPOINT hookgate_statement").execute(connection).await.map_err(error)?;
        Ok(done.rows_affected())
    }

    pub(in crate::store) async fn fetch_optional(
        &mut self,
        sql: &'static str,
        params: &[Param],
    ) -> Result<Option<Row>, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        let row = query.fetch_optional(&mut *self.connection).await.map_err(error)?;
        row.as_ref().map(values::read).transpose()
    }

    pub(in crate::store) async fn fetch_all(
        &mut self,
        sql: &'static str,
        params: &[Param],
    ) -> Result<Vec<Row>, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        let rows = query.fetch_all(&mut *self.connection).await.map_err(error)?;
        rows.iter().map(values::read).collect()
    }

    pub(in crate::store) async fn prepare(&mut self, sql: &str, params: &[Param]) -> Result<(), StoreError> {
        if self.connection.is_named() {
            let sql = AssertSqlSafe(sql.to_owned()).into_sql_str();
            self.connection.prepare_with(sql, &values::types(params)).await.map_err(error)?;
            return Ok(());
        }
        let Some(sql) = values::preparing(sql, params) else { return Ok(()) };
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *self.connection).await.map_err(error)?;
        Ok(())
    }

    pub(in crate::store) fn connection(&mut self) -> &mut PgConnection {
        self.connection.bare()
    }

    pub(in crate::store) async fn enter(
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
            .bind(event.ordering_key.as_deref().unwrap_or_default())
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
    pub(in crate::store) async fn leave(&mut self) -> Result<(), StoreError> {
        let released = sqlx::raw_sql(LEAVE).execute(&mut *self.connection).await;
        match released {
            Ok(_) => Ok(()),
            Err(sqlx::Error::Database(_)) => Err(StoreError::Fenced),
            Err(failed) => Err(error(failed)),
        }
    }

    pub(in crate::store) async fn emit(
        &mut self,
        event: &Event,
        message: &NewMessage,
    ) -> Result<(), StoreError> {
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
            .bind(event.ordering_key.as_deref())
            .execute(&mut *self.connection)
            .await
            .map_err(error)?;
        Ok(())
    }
}

/// `invalid_sql_statement_name`
fn is_unknown_statement(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).as_deref() == Some("26000")
}
