//! Where verified events become durable.

use std::time::Duration;

use async_trait::async_trait;

use super::super::twins::{self, Found};
use super::super::{Inbox, Insertion, Quarantined, StoreError, Unit};
use super::accept::{self, FIND};
use super::{PgTx, Postgres, commit_error, error};
use crate::model::NewEvent;

const QUARANTINE: &str = include_str!("quarantine.sql");

/// How long a batch waits for another transaction that is just writing one of its keys.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

#[async_trait]
impl Inbox for Postgres {
    async fn accept(&self, events: &[NewEvent]) -> Result<Vec<Insertion>, StoreError> {
        let firsts = twins::firsts(events);
        let mut connection = self.connection().await?;
        let mut found = accept::insert(&mut connection, &firsts, LOCK_TIMEOUT).await.map_err(commit_error)?;
        while found.len() < firsts.len() {
            let missing = without(&firsts, &found);
            found.extend(accept::find(&mut connection, &missing, FIND).await.map_err(error)?);
            // Between the two statements a row can only go, by retention: then it is inserted after all.
            let gone = without(&missing, &found);
            if !gone.is_empty() {
                found.extend(
                    accept::insert(&mut connection, &gone, LOCK_TIMEOUT).await.map_err(commit_error)?,
                );
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
