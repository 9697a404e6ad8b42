//! Operators' questions.

use async_trait::async_trait;
use sqlx::AssertSqlSafe;

use super::super::select::{Backend, Dialect};
use super::super::{Param, Row, StoreError};
use super::{Sqlite, error, values};

const DIALECT: Dialect = Dialect {
    now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
    // LIKE would not tell capitals from small letters.
    like: "GLOB",
    pattern,
    inbox_by_time: "webhook_inbox AS i INDEXED BY webhook_inbox_received",
    inbox_live: "webhook_inbox AS i INDEXED BY webhook_inbox_unprocessed",
    inbox_review: "webhook_inbox AS i INDEXED BY webhook_inbox_review",
    outbox_live: "outbox AS i INDEXED BY outbox_unpublished",
    outbox_review: "outbox AS i INDEXED BY outbox_review",
    pairs: "WITH RECURSIVE pairs (provider, endpoint) AS (\
                SELECT * FROM (SELECT provider, endpoint FROM webhook_inbox ORDER BY provider, endpoint LIMIT 1) \
                UNION ALL \
                SELECT n.provider, n.endpoint FROM pairs p JOIN webhook_inbox n ON n.rowid = (\
                    SELECT rowid FROM webhook_inbox \
                    WHERE (provider, endpoint) > (p.provider, p.endpoint) ORDER BY provider, endpoint LIMIT 1)) ",
    empty_digest: "x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
    pick: |sql| sql.sqlite,
};

#[async_trait]
impl Backend for Sqlite {
    fn dialect(&self) -> Dialect {
        DIALECT
    }

    async fn rows(&self, sql: &str, params: &[Param]) -> Result<Vec<Row>, StoreError> {
        // Constant pieces of ours; what the operator says is in `params`.
        let query =
            sqlx::query_with(AssertSqlSafe(sql.to_owned()), values::arguments(params)?).persistent(false);
        let rows = query.fetch_all(&self.readers).await.map_err(error)?;
        rows.iter().map(values::read).collect()
    }
}

/// A glob for GLOB: only `*` means anything.
pub(super) fn pattern(glob: &str) -> String {
    glob.replace('[', "[[]").replace('?', "[?]")
}
