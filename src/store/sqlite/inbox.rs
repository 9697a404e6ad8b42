//! Where verified events become durable.

use std::time::Duration;

use async_trait::async_trait;

use super::super::twins::{self, Found};
use super::super::{Confirm, Inbox, Insertion, Kept, Quarantined, StoreError, Unit, operations};
use super::{Sqlite, SqliteTx, error};
use crate::config;
use crate::model::{CONFIRMATIONS, NewEvent};

const CONFIRM: &str = include_str!("confirm.sql");

#[async_trait]
impl Inbox for Sqlite {
    async fn accept(&self, events: &[NewEvent]) -> Result<Vec<Insertion>, StoreError> {
        let mut tx = self.write().await?;
        let mut found = Found::new();
        for event in twins::firsts(events) {
            match tx.insert(event).await {
                Ok(insertion) => found.insert(event.key.clone(), insertion),
                Err(failed) => {
                    tx.rollback().await;
                    return Err(failed);
                }
            };
        }
        tx.commit().await?;
        Ok(twins::answer(events, &found))
    }

    async fn begin(&self, limit: Duration) -> Result<Unit, StoreError> {
        Ok(SqliteTx::begin(self, limit).await?.into())
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
        let mut tx = self.write().await?;
        sqlx::query(CONFIRM)
            .bind(&*confirmation.provider)
            .bind(&*confirmation.endpoint)
            .bind(&confirmation.message_id)
            .bind(CONFIRMATIONS)
            .bind(&confirmation.payload)
            .execute(&mut *tx.connection)
            .await
            .map_err(error)?;
        tx.commit().await
    }
}
