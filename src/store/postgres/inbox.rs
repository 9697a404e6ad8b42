//! Where verified events become durable.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::{PgConnection, Row};

use super::super::tx::storable;
use super::super::twins::{self, Found};
use super::super::{Inbox, Insertion, Quarantined, StoreError, Unit};
use super::{PgTx, Postgres, commit_error, error, rows};
use crate::model::NewEvent;

const ACCEPT: &str = include_str!("accept.sql");
const ACCEPTED_BEFORE: &str = include_str!("accepted_before.sql");
const QUARANTINE: &str = include_str!("quarantine.sql");

/// How long a batch waits for another transaction that is just writing one of its keys.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

#[async_trait]
impl Inbox for Postgres {
    async fn accept(&self, events: &[NewEvent]) -> Result<Vec<Insertion>, StoreError> {
        let firsts = twins::firsts(events);
        let mut connection = self.connection().await?;
        let mut found = insert(&mut connection, &firsts).await?;
        while found.len() < firsts.len() {
            let missing = without(&firsts, &found);
            found.extend(find(&mut connection, &missing).await?);
            // Between the two statements a row can only go, by retention: then it is inserted after all.
            let gone = without(&missing, &found);
            if !gone.is_empty() {
                found.extend(insert(&mut connection, &gone).await?);
            }
        }
        Ok(twins::answer(events, &found))
    }

    async fn begin(&self, limit: Duration) -> Result<Unit, StoreError> {
        Ok(PgTx::begin(self, limit).await?.into())
    }

    async fn quarantine(&self, kept: &Quarantined) -> Result<(), StoreError> {
        let mut connection = self.connection().await?;
        sqlx::query(QUARANTINE)
            .bind(&*kept.provider)
            .bind(&*kept.endpoint)
            .bind(kept.reason)
            .bind(&kept.hint)
            .bind(kept.event_id.as_deref().map(|id| id.replace('\0', "\u{fffd}")))
            .bind(kept.headers.to_json())
            .bind(kept.body.as_ref())
            .bind(kept.body_sha256.as_slice())
            .bind(kept.verified)
            .bind(kept.request_id.to_string())
            .execute(&mut *connection)
            .await
            .map_err(commit_error)?;
        Ok(())
    }
}

fn without<'a>(events: &[&'a NewEvent], found: &Found) -> Vec<&'a NewEvent> {
    events.iter().copied().filter(|event| !found.contains_key(&event.key)).collect()
}

/// One statement that commits by itself.
async fn insert(connection: &mut PgConnection, events: &[&NewEvent]) -> Result<Found, StoreError> {
    fn column<'a, T>(events: &[&'a NewEvent], of: impl Fn(&'a NewEvent) -> T) -> Vec<T> {
        events.iter().map(|event| of(event)).collect()
    }
    let rows = sqlx::query(ACCEPT)
        .bind(super::tx::milliseconds(LOCK_TIMEOUT).to_string())
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
        .fetch_all(connection)
        .await
        .map_err(commit_error)?;
    rows.iter()
        .map(|row| Ok((rows::key(row)?, Insertion::Inserted { received_at: row.try_get("received_at")? })))
        .collect::<Result<_, _>>()
        .map_err(error)
}

async fn find(connection: &mut PgConnection, events: &[&NewEvent]) -> Result<Found, StoreError> {
    let rows = sqlx::query(ACCEPTED_BEFORE)
        .bind(events.iter().map(|event| &*event.key.provider).collect::<Vec<_>>())
        .bind(events.iter().map(|event| &*event.key.endpoint).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.key.event_id.as_str()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.body_sha256.as_slice()).collect::<Vec<_>>())
        .fetch_all(connection)
        .await
        .map_err(error)?;
    rows.iter()
        .map(|row| Ok((rows::key(row)?, Insertion::Existing(rows::existing(row)?))))
        .collect::<Result<_, _>>()
        .map_err(error)
}
