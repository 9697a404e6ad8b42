//! The open transaction of one unit of work.

use std::time::Duration;

use sqlx::Row as _;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use tokio::time::Instant;

use super::super::{Finish, Insertion, Locked, RowState, StoreError};
use super::{Postgres, Session, accept, commit_error, error, rows};
use crate::model::{DueEvent, Event, EventKey, Leased, NewEvent};

const FIND: &str = include_str!("find_event.sql");
const LOCK: &str = include_str!("lock_event.sql");
const FINISH: &str = include_str!("finish_event.sql");

/// A transaction on PostgreSQL. Dropped unfinished, it closes its connection.
pub(in crate::store) struct PgTx {
    pub(super) connection: Box<Session>,
    deadline: Instant,
    /// Messages with a greater id are of this unit of work, if they have its key.
    pub(super) newest: Option<i64>,
    pub(super) route: String,
}

impl PgTx {
    /// BEGIN. Should this future be cut, the connection is closed.
    pub(super) async fn begin(database: &Postgres, limit: Duration) -> Result<Self, StoreError> {
        let deadline = Instant::now() + limit;
        let connection = database.connection_within(limit).await?;
        let mut tx = Self { connection, deadline, newest: None, route: String::new() };
        let left = milliseconds(tx.left());
        let settings = format!(
            "SET LOCAL statement_timeout = {left}; SET LOCAL lock_timeout = {left}; \
             SET LOCAL idle_in_transaction_session_timeout = {left};"
        );
        tx.connection.begin(&settings).await.map_err(error)?;
        Ok(tx)
    }

    pub(in crate::store) async fn insert(&mut self, event: &NewEvent) -> Result<Insertion, StoreError> {
        loop {
            let left = self.left();
            let mut found = accept::insert(&mut self.connection, &[event], left).await.map_err(error)?;
            if found.is_empty() {
                found = accept::find(&mut self.connection, &[event], accept::FIND).await.map_err(error)?;
            }
            if let (Some(request), Some(Insertion::Inserted { .. })) = (&event.request, found.get(&event.key))
            {
                accept::keep_once(&mut self.connection, request).await.map_err(error)?;
            }
            match found.remove(&event.key) {
                Some(Insertion::Existing(row)) if row.state != RowState::Processed => {}
                Some(insertion) => return Ok(insertion),
                // Between two statements the row can only go, by retention: then it is inserted after all.
                None => continue,
            }
            let mut locked =
                accept::find(&mut self.connection, &[event], accept::LOCK).await.map_err(error)?;
            if let Some(insertion) = locked.remove(&event.key) {
                return Ok(insertion);
            }
        }
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
        self.connection.commit().await.map_err(commit_error)
    }

    pub(in crate::store) async fn rollback(mut self) {
        self.connection.rollback().await;
    }

    pub(super) fn left(&self) -> Duration {
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
