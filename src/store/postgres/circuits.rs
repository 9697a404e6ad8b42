//! The circuits of destinations.

use sqlx::Row as _;

use super::super::{CircuitRecord, StoreError, circuit};
use super::{Postgres, error, rows};
use crate::model::{Attempt, Circuit, Health};

const FAILED: &str = include_str!("circuit_failed.sql");
const ANSWERED: &str = include_str!("circuit_answered.sql");
const UNKNOWN: &str = include_str!("circuit_unknown.sql");
const ALL: &str = include_str!("circuits.sql");

impl Postgres {
    pub(super) async fn judge(
        &self,
        destination: &str,
        attempt: &Attempt,
        circuit: &Circuit,
        probe: bool,
    ) -> Result<(), StoreError> {
        match attempt.health() {
            Health::Well => self.answered(destination).await,
            Health::Unknown if !probe => Ok(()),
            Health::Unknown => {
                let query = sqlx::query(UNKNOWN).bind(destination);
                query.execute(&mut *self.connection().await?).await.map(drop).map_err(error)
            }
            Health::Sick => {
                let code = attempt.error.as_deref().unwrap_or("unknown");
                let row = sqlx::query(FAILED)
                    .bind(destination)
                    .bind(i64::from(circuit.failures))
                    .bind(circuit.open.as_secs_f64())
                    .bind(circuit.longest().as_secs_f64())
                    .bind(code)
                    .bind(probe)
                    .fetch_optional(&mut *self.connection().await?)
                    .await
                    .map_err(error)?;
                let seconds = row.map(|row| row.try_get("seconds")).transpose().map_err(error)?.flatten();
                circuit::failed(destination, seconds, code);
                Ok(())
            }
        }
    }

    pub(super) async fn answered(&self, destination: &str) -> Result<(), StoreError> {
        let row = sqlx::query(ANSWERED)
            .bind(destination)
            .fetch_optional(&mut *self.connection().await?)
            .await
            .map_err(error)?;
        circuit::answered(destination, row.map(|row| row.try_get("was_open")).transpose().map_err(error)?);
        Ok(())
    }

    pub(super) async fn unwell(&self) -> Result<Vec<CircuitRecord>, StoreError> {
        let all = sqlx::query(ALL).fetch_all(&mut *self.connection().await?).await.map_err(error)?;
        all.iter().map(rows::circuit).collect::<Result<_, _>>().map_err(error)
    }
}
