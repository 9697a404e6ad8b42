//! What operators hold back. The claims look at the table themselves, so that every gateway obeys at its next one.

use serde_json::json;

use super::super::select::{Backend, Columns};
use super::super::{Param, Pausable, Pause, Row, Sql, StoreError, Unit};
use super::{LIMIT, audit, both};

const PAUSE: Sql = both!("pause.sql");
const RESUME: Sql = both!("resume.sql");
const PAUSES: Sql = both!("pauses.sql");

/// Writes it down; `false` if it is paused already.
pub(super) async fn pause<B: Backend>(
    backend: &B,
    (kind, name): (Pausable, &str),
    who: &str,
    reason: Option<&str>,
) -> Result<bool, StoreError> {
    let params = [text(kind.as_str()), text(name), text(who), Param::Text(reason.map(str::to_owned))];
    let what = json!({ "kind": kind, "name": name, "reason": reason }).to_string();
    change(backend, (PAUSE, &params), (who, "pause", &what)).await
}

/// Takes it away; `false` if there is none.
pub(super) async fn resume<B: Backend>(
    backend: &B,
    (kind, name): (Pausable, &str),
    who: &str,
) -> Result<bool, StoreError> {
    let params = [text(kind.as_str()), text(name)];
    let what = json!({ "kind": kind, "name": name }).to_string();
    change(backend, (RESUME, &params), (who, "resume", &what)).await
}

/// The change and its line in the audit log, in one transaction; a change that changes nothing leaves none.
async fn change<B: Backend>(
    backend: &B,
    (sql, params): (Sql, &[Param]),
    (who, action, what): (&str, &str, &str),
) -> Result<bool, StoreError> {
    let mut unit = backend.begin(LIMIT).await?;
    let changed = match unit.execute(sql, params).await {
        Ok(0) => Ok(false),
        Ok(_) => audit(&mut unit, who, action, what, 1).await.map(|_| true),
        Err(error) => Err(error),
    };
    match changed {
        Ok(true) => unit.commit().await.map(|()| true),
        other => {
            unit.rollback().await;
            other
        }
    }
}

/// All of them.
pub(in crate::store) async fn list<B: Backend>(backend: &B) -> Result<Vec<Pause>, StoreError> {
    let rows = backend.rows((backend.dialect().pick)(PAUSES), &[]).await?;
    rows.into_iter().map(record).collect()
}

impl Unit {
    /// What is held back, as this transaction sees it.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn pauses(&mut self) -> Result<Vec<Pause>, StoreError> {
        self.fetch_all(PAUSES, &[]).await?.into_iter().map(record).collect()
    }
}

fn record(row: Row) -> Result<Pause, StoreError> {
    let mut row = Columns::of(row);
    let word = row.text()?;
    let kind = Pausable::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap_or(Pausable::Endpoint);
    Ok(Pause {
        kind,
        name: row.text()?,
        paused_at: row.time()?,
        who: row.text()?,
        reason: row.optional_text()?,
    })
}

fn text(text: &str) -> Param {
    Param::Text(Some(text.to_owned()))
}
