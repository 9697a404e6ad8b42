//! What handlers do in the open transaction, and the guard around each.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Executor, Row as _, SqlSafeStr, SqliteConnection};
use tokio::time::Instant;

use super::super::{Param, Row, StoreError};
use super::tx::{Inside, by_key};
use super::values::text;
use super::{SqliteTx, error, values};
use crate::model::{Event, NewMessage};

const ENTER: &str = include_str!("enter_handler.sql");
const LEAVE: &str = include_str!("leave_handler.sql");
const EMIT: &str = include_str!("emit_message.sql");

/// `SQLITE_ERROR`: all that RELEASE says of a savepoint that is gone.
const NO_SAVEPOINT: &str = "1";

impl SqliteTx {
    pub(in crate::store) async fn execute(
        &mut self,
        sql: impl SqlSafeStr,
        params: &[Param],
    ) -> Result<u64, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        let result = query.execute(&mut *self.connection).await;
        Ok(self.noted(result)?.rows_affected())
    }

    pub(in crate::store) async fn fetch_optional(
        &mut self,
        sql: &'static str,
        params: &[Param],
    ) -> Result<Option<Row>, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        let result = query.fetch_optional(&mut *self.connection).await;
        self.noted(result)?.as_ref().map(values::read).transpose()
    }

    pub(in crate::store) async fn fetch_all(
        &mut self,
        sql: &'static str,
        params: &[Param],
    ) -> Result<Vec<Row>, StoreError> {
        let query = sqlx::query_with(sql, values::arguments(params)?);
        let result = query.fetch_all(&mut *self.connection).await;
        self.noted(result)?.iter().map(values::read).collect()
    }

    pub(in crate::store) async fn prepare(&mut self, sql: &str) -> Result<(), StoreError> {
        self.connection.prepare(AssertSqlSafe(sql.to_owned()).into_sql_str()).await.map_err(error)?;
        Ok(())
    }

    pub(in crate::store) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }

    pub(in crate::store) async fn enter(
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
            ordering_key: event.ordering_key.clone(),
        });
        self.interrupt_at(self.deadline.min(Instant::now() + limit)).await?;
        sqlx::raw_sql("SAVEPOINT hookgate_handler").execute(&mut *self.connection).await.map_err(error)?;
        Ok(())
    }

    /// RELEASE fails if the handler ended the transaction: no such savepoint.
    pub(in crate::store) async fn leave(&mut self) -> Result<(), StoreError> {
        let Some(inside) = self.inside.take() else { return Err(StoreError::Fenced) };
        if self.failed {
            return Err(StoreError::Fenced);
        }
        self.interrupt_at(self.deadline).await?;
        by_key(sqlx::query(LEAVE).bind(inside.newest), &inside.key)
            .bind(inside.received_at)
            .bind(inside.trace_context)
            .bind(inside.route)
            .bind(inside.ordering_key)
            .execute(&mut *self.connection)
            .await
            .map_err(|failed| match error(failed) {
                StoreError::Sql { code: Some(code), .. } if code == NO_SAVEPOINT => StoreError::Fenced,
                other => other,
            })?;
        Ok(())
    }

    pub(in crate::store) async fn emit(
        &mut self,
        event: &Event,
        message: &NewMessage,
    ) -> Result<(), StoreError> {
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
            .bind(event.ordering_key.as_deref())
            .execute(&mut *self.connection)
            .await;
        self.noted(result)?;
        Ok(())
    }
}
