//! Where verified events become durable.

use std::time::Duration;

use async_trait::async_trait;

use super::super::twins::{self, Found};
use super::super::{Confirm, Inbox, Insertion, Kept, Quarantined, StoreError, Unit, operations};
use super::accept::{self, FIND};
use super::{PgTx, Postgres, Session, commit_error, error};
use crate::config;
use crate::model::{CONFIRMATIONS, NewEvent};

const CONFIRM: &str = include_str!("confirm.sql");

/// How long a batch waits for another transaction that is just writing one of its keys.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the transaction of a batch with its request may take.
const BATCH_TIMEOUT: Duration = Duration::from_secs(30);

#[async_trait]
impl Inbox for Postgres {
    async fn accept(&self, events: &[NewEvent]) -> Result<Vec<Insertion>, StoreError> {
        let firsts = twins::firsts(events);
        if firsts.iter().any(|event| event.request.is_some()) {
            return self.accept_batches(events, &firsts).await;
        }
        let mut connection = self.connection().await?;
        let found = insert_all(&mut connection, &firsts, commit_error).await?;
        Ok(twins::answer(events, &found))
    }

    async fn begin(&self, limit: Duration) -> Result<Unit, StoreError> {
        Ok(PgTx::begin(self, limit).await?.into())
    }

    async fn quarantine(&self, kept: &Quarantined) -> Result<(), StoreError> {
        operations::keep(self, kept).await
    }

    async fn quarantine_rejected(
        &self,
        requests: &[Quarantined],
        bounds: &config::Quarantine,
    ) -> Result<Vec<Kept>, StoreError> {
        operations::keep_rejected(self, requests, bounds).await
    }

    async fn confirm(&self, confirmation: &Confirm) -> Result<(), StoreError> {
        let mut connection = self.connection().await?;
        sqlx::query(CONFIRM)
            .bind(&*confirmation.provider)
            .bind(&*confirmation.endpoint)
            .bind(&confirmation.message_id)
            .bind(CONFIRMATIONS)
            .bind(&confirmation.payload)
            .execute(&mut *connection)
            .await
            .map_err(commit_error)?;
        Ok(())
    }
}

impl Postgres {
    /// Like `accept`, where requests are to be kept with their events: in a transaction of several statements.
    async fn accept_batches(
        &self,
        events: &[NewEvent],
        firsts: &[&NewEvent],
    ) -> Result<Vec<Insertion>, StoreError> {
        let mut tx = PgTx::begin(self, BATCH_TIMEOUT).await?;
        match keep_all(&mut tx.connection, firsts).await {
            Ok(found) => {
                tx.commit().await?;
                Ok(twins::answer(events, &found))
            }
            Err(failed) => {
                tx.rollback().await;
                Err(failed)
            }
        }
    }
}

async fn keep_all(connection: &mut Session, firsts: &[&NewEvent]) -> Result<Found, StoreError> {
    let found = insert_all(connection, firsts, error).await?;
    for request in twins::requests(firsts, &found) {
        accept::keep(connection, request).await.map_err(error)?;
    }
    Ok(found)
}

/// Inserts events, and reads the rows of those that are there.
async fn insert_all(
    connection: &mut Session,
    firsts: &[&NewEvent],
    failed: fn(sqlx::Error) -> StoreError,
) -> Result<Found, StoreError> {
    let mut found = accept::insert(connection, firsts, LOCK_TIMEOUT).await.map_err(failed)?;
    while found.len() < firsts.len() {
        let missing = without(firsts, &found);
        found.extend(accept::find(connection, &missing, FIND).await.map_err(error)?);
        // Between the two statements a row can only go, by retention: then it is inserted after all.
        let gone = without(&missing, &found);
        if !gone.is_empty() {
            found.extend(accept::insert(connection, &gone, LOCK_TIMEOUT).await.map_err(failed)?);
        }
    }
    Ok(found)
}

fn without<'a>(events: &[&'a NewEvent], found: &Found) -> Vec<&'a NewEvent> {
    events.iter().copied().filter(|event| !found.contains_key(&event.key)).collect()
}
