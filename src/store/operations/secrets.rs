//! When secrets last matched.

use super::super::select::{Backend, Columns};
use super::super::{Param, SecretMatches, SecretUse, Sql, StoreError};
use super::{LIMIT, both};

const WATCH: Sql = both!("watch_secret.sql");
const COUNT: Sql = both!("count_matches.sql");
const ALL: Sql = both!("secret_matches.sql");

/// Adds matches of several secrets; those without one are only known from now on.
pub(in crate::store) async fn count<B: Backend>(backend: &B, used: &[SecretUse]) -> Result<(), StoreError> {
    let mut unit = backend.begin(LIMIT).await?;
    for one in used {
        let mut params =
            vec![Param::Text(Some(one.endpoint.to_string())), Param::Text(Some(one.fingerprint.clone()))];
        let sql = if one.matches == 0 {
            WATCH
        } else {
            params.push(Param::Bigint(Some(one.matches.cast_signed())));
            COUNT
        };
        if let Err(error) = unit.execute(sql, &params).await {
            unit.rollback().await;
            return Err(error);
        }
    }
    unit.commit().await
}

/// All secrets that were ever watched.
pub(in crate::store) async fn all<B: Backend>(backend: &B) -> Result<Vec<SecretMatches>, StoreError> {
    let sql = (backend.dialect().pick)(ALL);
    let rows = backend.rows(sql, &[]).await?;
    rows.into_iter()
        .map(|row| {
            let mut columns = Columns::of(row);
            Ok(SecretMatches {
                endpoint: columns.text()?,
                fingerprint: columns.text()?,
                since: columns.time()?,
                matched_at: columns.optional_time()?,
                matches: columns.number()?.cast_unsigned(),
            })
        })
        .collect()
}
