//! Operators' questions.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::AssertSqlSafe;

use super::super::select::{Backend, Dialect};
use super::super::{Param, Row, StoreError};
use super::{PgTx, Postgres, error, values};

/// How long one question may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Whatever the statistics say, an index is walked.
const BY_INDEX: &str =
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off";

const DIALECT: Dialect = Dialect {
    now: "now()",
    like: "LIKE",
    pattern,
    inbox_by_time: "webhook_inbox i",
    inbox_live: "webhook_inbox i",
    inbox_review: "webhook_inbox i",
    outbox_live: "outbox i",
    outbox_review: "outbox i",
    pairs: "WITH RECURSIVE pairs AS (\
                (SELECT provider, endpoint FROM webhook_inbox ORDER BY provider, endpoint LIMIT 1) \
                UNION ALL \
                SELECT n.provider, n.endpoint FROM pairs p CROSS JOIN LATERAL (\
                    SELECT provider, endpoint FROM webhook_inbox \
                    WHERE (provider, endpoint) > (p.provider, p.endpoint) ORDER BY provider, endpoint LIMIT 1) n) ",
    empty_digest: "decode('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex')",
    pick: |sql| sql.postgres,
};

#[async_trait]
impl Backend for Postgres {
    fn dialect(&self) -> Dialect {
        DIALECT
    }

    async fn rows(&self, sql: &str, params: &[Param]) -> Result<Vec<Row>, StoreError> {
        let mut tx = PgTx::begin(self, LIMIT).await?;
        sqlx::raw_sql(BY_INDEX).execute(&mut *tx.connection).await.map_err(error)?;
        // Constant pieces of ours; what the operator says is in `params`.
        let query =
            sqlx::query_with(AssertSqlSafe(sql.to_owned()), values::arguments(params)?).persistent(false);
        let rows = query.fetch_all(&mut *tx.connection).await.map_err(error)?;
        tx.rollback().await;
        rows.iter().map(values::read).collect()
    }
}

/// A glob for LIKE.
pub(super) fn pattern(glob: &str) -> String {
    glob.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_").replace('*', "%")
}
