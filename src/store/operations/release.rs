//! A request leaves quarantine: its events and the note that it has left commit together.

use super::super::select::Backend;
use super::super::{Insertion, IsConflict, Param, ReleaseOrder, Released, Sql, StoreError, Unit};
use super::{LIMIT, both};
use crate::model::NewEvent;

const RELEASE: Sql = both!("release_request.sql");
const KEEP_BACK: Sql = both!("keep_request_back.sql");

pub(super) async fn release<B: Backend>(
    backend: &B,
    id: i64,
    events: &[NewEvent],
    order: &ReleaseOrder,
    conflicts: &IsConflict<'_>,
) -> Result<Released, StoreError> {
    let mut unit = backend.begin(LIMIT).await?;
    match write(&mut unit, id, events, order, conflicts).await {
        Ok(done @ Released::Done { .. }) => {
            unit.commit().await?;
            Ok(done)
        }
        other => {
            unit.rollback().await;
            other
        }
    }
}

async fn write(
    unit: &mut Unit,
    id: i64,
    events: &[NewEvent],
    order: &ReleaseOrder,
    conflicts: &IsConflict<'_>,
) -> Result<Released, StoreError> {
    let who = Param::Text(Some(order.who.clone()));
    if unit.execute(RELEASE, &[Param::Bigint(Some(id)), who]).await? == 0 {
        return Ok(Released::Gone);
    }
    // In the order of their keys, as every batch is written, so that two cannot wait for each other.
    let mut sorted: Vec<&NewEvent> = events.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    let mut new = 0;
    for event in sorted {
        match unit.insert(event).await? {
            Insertion::Inserted { .. } => new += 1,
            Insertion::Existing(first) if conflicts(event, &first) => return Ok(Released::Conflict),
            Insertion::Existing(_) => {}
        }
    }
    super::audit_affected(unit, order.audit, 1).await?;
    Ok(Released::Done { new, known: events.len() - new })
}

pub(super) async fn not_released<B: Backend>(backend: &B, id: i64, reason: &str) -> Result<(), StoreError> {
    let mut unit = backend.begin(LIMIT).await?;
    let params = [Param::Bigint(Some(id)), Param::Text(Some(reason.to_owned()))];
    if let Err(error) = unit.execute(KEEP_BACK, &params).await {
        unit.rollback().await;
        return Err(error);
    }
    unit.commit().await
}
