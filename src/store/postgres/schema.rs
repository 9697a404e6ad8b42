//! Migrations, with statements that leave no name behind on the server.

use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::migrate::{AppliedMigration, Migrate, MigrateError, Migration, Migrator};
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, Row as _};

use super::super::StoreError;
use super::session::Session;
use super::{error, options};

/// Any number that is ours: concurrent migrations of one database queue up behind it.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7525356009446012005)";

/// All migrations in one transaction, so that it works behind a transaction pooler too; the lock ends with it.
pub(in crate::store) async fn migrate(url: &str, migrator: &Migrator) -> Result<(), StoreError> {
    let options = options(url)?;
    super::answers(&options).await?;
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
    let mut session = Session::new(pool.acquire().await.map_err(error)?, false);
    session.begin("").await.map_err(error)?;
    sqlx::raw_sql(LOCK).execute(&mut *session).await.map_err(error)?;
    migrator.run_direct(None, &mut *session, false).await.map_err(|failed| schema(&failed))?;
    session.commit().await.map_err(|failed| StoreError::CommitUnknown(failed.to_string()))?;
    drop(session);
    pool.close().await;
    Ok(())
}

fn schema(failed: &MigrateError) -> StoreError {
    StoreError::Schema(failed.to_string())
}

/// What the driver does for its own connection, but without names.
impl Migrate for Session {
    fn create_schema_if_not_exists<'e>(
        &'e mut self,
        _schema_name: &'e str,
    ) -> BoxFuture<'e, Result<(), MigrateError>> {
        Box::pin(async { Err(MigrateError::CreateSchemasNotSupported("no schema is asked for".into())) })
    }

    fn ensure_migrations_table<'e>(
        &'e mut self,
        table_name: &'e str,
    ) -> BoxFuture<'e, Result<(), MigrateError>> {
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {table_name} (version bigint PRIMARY KEY, description text NOT NULL, \
             installed_on timestamptz NOT NULL DEFAULT now(), success boolean NOT NULL, checksum bytea NOT NULL, \
             execution_time bigint NOT NULL)"
        );
        Box::pin(async move { Ok(sqlx::raw_sql(AssertSqlSafe(sql)).execute(self).await.map(drop)?) })
    }

    fn dirty_version<'e>(
        &'e mut self,
        table_name: &'e str,
    ) -> BoxFuture<'e, Result<Option<i64>, MigrateError>> {
        let sql = format!("SELECT version FROM {table_name} WHERE NOT success ORDER BY version LIMIT 1");
        Box::pin(async move {
            let row = sqlx::query(AssertSqlSafe(sql)).fetch_optional(self).await?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        })
    }

    fn list_applied_migrations<'e>(
        &'e mut self,
        table_name: &'e str,
    ) -> BoxFuture<'e, Result<Vec<AppliedMigration>, MigrateError>> {
        let sql = format!("SELECT version, checksum FROM {table_name} ORDER BY version");
        Box::pin(async move {
            let mut applied = Vec::new();
            for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(self).await? {
                let checksum: Vec<u8> = row.try_get(1)?;
                applied.push(AppliedMigration { version: row.try_get(0)?, checksum: checksum.into() });
            }
            Ok(applied)
        })
    }

    /// [`LOCK`] is taken instead.
    fn lock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        Box::pin(async { Ok(()) })
    }

    fn unlock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        Box::pin(async { Ok(()) })
    }

    fn apply<'e>(
        &'e mut self,
        table_name: &'e str,
        migration: &'e Migration,
    ) -> BoxFuture<'e, Result<Duration, MigrateError>> {
        let note = format!(
            "INSERT INTO {table_name} (version, description, success, checksum, execution_time) \
             VALUES ($1, $2, TRUE, $3, (extract(epoch FROM clock_timestamp() - now()) * 1e9)::bigint) \
             RETURNING execution_time"
        );
        Box::pin(async move {
            let run = sqlx::raw_sql(migration.sql.clone()).execute(&mut *self).await;
            run.map_err(|failed| MigrateError::ExecuteMigration(failed, migration.version))?;
            let row = sqlx::query(AssertSqlSafe(note))
                .bind(migration.version)
                .bind(&*migration.description)
                .bind(&*migration.checksum)
                .fetch_one(self)
                .await?;
            Ok(Duration::from_nanos(row.try_get::<i64, _>(0)?.unsigned_abs()))
        })
    }

    fn revert<'e>(
        &'e mut self,
        _table_name: &'e str,
        migration: &'e Migration,
    ) -> BoxFuture<'e, Result<Duration, MigrateError>> {
        Box::pin(async { Err(MigrateError::VersionMissing(migration.version)) })
    }
}
