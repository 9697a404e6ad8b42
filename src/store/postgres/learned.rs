//! Secrets that providers hand over in band.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::Row as _;

use super::super::{Learned, Learner, Lesson, StoreError};
use super::{PgTx, Postgres, error};
use crate::clock::Timestamp;
use crate::model::Secret;

const ARM: &str = include_str!("arm_endpoint.sql");
const DISARM: &str = include_str!("disarm_endpoint.sql");
const LEARN: &str = include_str!("learn_secret.sql");
const LEARNED: &str = include_str!("learned_secret.sql");
const FORGET: &str = include_str!("forget_secret.sql");
const LEARNERS: &str = include_str!("learners.sql");

/// How long the few statements of one change may take.
const LIMIT: Duration = Duration::from_secs(5);

#[async_trait]
impl Learned for Postgres {
    async fn arm(&self, endpoint: &str, wait: Duration) -> Result<Option<Timestamp>, StoreError> {
        let mut tx = PgTx::begin(self, LIMIT).await?;
        let row = sqlx::query(ARM)
            .bind(endpoint)
            .bind(wait.as_secs_f64())
            .fetch_optional(&mut *tx.connection)
            .await
            .map_err(error)?;
        tx.commit().await?;
        row.map(|row| row.try_get("armed_until")).transpose().map_err(error)
    }

    async fn learn(&self, endpoint: &str, secret: &Secret) -> Result<Lesson, StoreError> {
        let mut tx = PgTx::begin(self, LIMIT).await?;
        let learned = sqlx::query(LEARN)
            .bind(endpoint)
            .bind(secret.expose())
            .execute(&mut *tx.connection)
            .await
            .map_err(error)?
            .rows_affected();
        if learned > 0 {
            sqlx::query(DISARM).bind(endpoint).execute(&mut *tx.connection).await.map_err(error)?;
            tx.commit().await?;
            return Ok(Lesson::Learned);
        }
        let row =
            sqlx::query(LEARNED).bind(endpoint).fetch_optional(&mut *tx.connection).await.map_err(error)?;
        let known: Option<Vec<u8>> = row.map(|row| row.try_get("secret")).transpose().map_err(error)?;
        tx.rollback().await;
        Ok(Lesson::of(known, secret))
    }

    async fn learned(&self, endpoint: &str) -> Result<Option<Secret>, StoreError> {
        let row = sqlx::query(LEARNED)
            .bind(endpoint)
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(error)?;
        let known: Option<Vec<u8>> = row.map(|row| row.try_get("secret")).transpose().map_err(error)?;
        Ok(known.map(Secret::new))
    }

    async fn learners(&self) -> Result<Vec<Learner>, StoreError> {
        let rows = sqlx::query(LEARNERS).fetch_all(&mut *self.connection().await?).await.map_err(error)?;
        rows.iter()
            .map(|row| {
                Ok(Learner {
                    endpoint: row.try_get("endpoint")?,
                    learned_at: row.try_get("learned_at")?,
                    armed_until: row.try_get("armed_until")?,
                })
            })
            .collect::<Result<_, _>>()
            .map_err(error)
    }

    async fn forget(&self, endpoint: &str) -> Result<bool, StoreError> {
        let mut tx = PgTx::begin(self, LIMIT).await?;
        let forgotten = sqlx::query(FORGET)
            .bind(endpoint)
            .execute(&mut *tx.connection)
            .await
            .map_err(error)?
            .rows_affected();
        sqlx::query(DISARM).bind(endpoint).execute(&mut *tx.connection).await.map_err(error)?;
        tx.commit().await?;
        Ok(forgotten > 0)
    }
}
