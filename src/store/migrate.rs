//! The schema: `migrations/` in the binary, applied in one transaction under a lock.

use super::StoreError;
use crate::config::Database;

/// Brings the schema up to date; safe to run from several processes at once, and beside running gateways.
/// A schema that is newer than this binary is left as it is.
///
/// # Errors
/// [`StoreError`]: nothing was changed.
pub async fn migrate(database: &Database) -> Result<(), StoreError> {
    let _ = database;
    todo!()
}
