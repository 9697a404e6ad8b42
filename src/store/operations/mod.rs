//! What operators ask and order: lists, single rows, redrives, replays. Every order leaves a line in `audit_log`.
//!
//! One text for both engines, put together from constant pieces, since its conditions are the operator's choice; the
//! few words in which the dialects differ are a [`Dialect`](super::select::Dialect)'s.

mod dead;
mod deliveries;
mod events;
mod exchange;
mod keep;
pub(super) mod pauses;
mod quarantine;
mod release;
mod replays;
mod secrets;
mod walk;

use std::time::Duration;

use async_trait::async_trait;

use super::select::{Backend, Columns};
use super::{
    DeadRecord, DeliveryDetail, DeliveryRecord, EventDetail, EventRecord, Filter, IsConflict, Listed,
    NewReplay, Operations, Page, Param, Pausable, QuarantineDetail, QuarantineRecord, QueueName,
    ReleaseOrder, Released, ReplayRecord, Replayable, Row, Sql, StoreError, Unit,
};
use crate::clock::Timestamp;
use crate::model::{EventKey, NewEvent};

pub(super) use keep::{keep, keep_rejected, rows as quarantine_rows};
pub(super) use secrets::{all as secret_matches, count as count_matches};

/// The same file of both engines.
macro_rules! both {
    ($file:literal) => {
        Sql {
            postgres: include_str!(concat!("../postgres/", $file)),
            sqlite: include_str!(concat!("../sqlite/", $file)),
        }
    };
}
use both;

const AUDIT: Sql = both!("audit.sql");
const AUDIT_AFFECTED: Sql = both!("audit_affected.sql");

/// How long one order may take.
const LIMIT: Duration = Duration::from_secs(10);

#[async_trait]
impl<B: Backend> Operations for B {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        let rows = self.rows(&format!("SELECT {}", self.dialect().now), &[]).await?;
        walk::first(rows).map_or(Err(StoreError::Fenced), |mut row| row.time())
    }

    async fn events(&self, filter: &Filter, page: &Page) -> Result<Listed<EventRecord>, StoreError> {
        events::list(self, filter, page, true).await
    }

    async fn events_from(
        &self,
        filter: &Filter,
        from: Timestamp,
        page: &Page,
    ) -> Result<Listed<EventRecord>, StoreError> {
        let page = Page { after: page.after.or(Some(events::at(from))), ..*page };
        events::list(self, filter, &page, false).await
    }

    async fn event(&self, key: &EventKey) -> Result<Option<EventDetail>, StoreError> {
        events::show(self, key).await
    }

    async fn deliveries(&self, filter: &Filter, page: &Page) -> Result<Listed<DeliveryRecord>, StoreError> {
        deliveries::list(self, filter, page).await
    }

    async fn delivery(&self, id: i64) -> Result<Option<DeliveryDetail>, StoreError> {
        deliveries::show(self, id).await
    }

    async fn quarantined(
        &self,
        filter: &Filter,
        page: &Page,
    ) -> Result<Listed<QuarantineRecord>, StoreError> {
        quarantine::list(self, filter, page).await
    }

    async fn quarantined_one(&self, id: i64) -> Result<Option<QuarantineDetail>, StoreError> {
        quarantine::show(self, id).await
    }

    async fn unreleased(&self, filter: &Filter, page: &Page) -> Result<Listed<QuarantineRecord>, StoreError> {
        quarantine::unreleased(self, filter, page).await
    }

    async fn release(
        &self,
        id: i64,
        events: &[NewEvent],
        order: &ReleaseOrder,
        conflicts: &IsConflict<'_>,
    ) -> Result<Released, StoreError> {
        release::release(self, id, events, order, conflicts).await
    }

    async fn not_released(&self, id: i64, reason: &str) -> Result<(), StoreError> {
        release::not_released(self, id, reason).await
    }

    async fn dead(
        &self,
        queue: Option<QueueName>,
        filter: &Filter,
        page: &Page,
    ) -> Result<Listed<DeadRecord>, StoreError> {
        dead::list(self, queue, filter, page).await
    }

    async fn count_dead(&self, queue: QueueName, filter: &Filter) -> Result<i64, StoreError> {
        dead::count(self, queue, filter).await
    }

    async fn audit(&self, who: &str, action: &str, what: &str) -> Result<i64, StoreError> {
        let mut unit = self.begin(LIMIT).await?;
        match audit(&mut unit, who, action, what, 0).await {
            Ok(id) => {
                unit.commit().await?;
                Ok(id)
            }
            Err(error) => {
                unit.rollback().await;
                Err(error)
            }
        }
    }

    async fn redrive(&self, queue: QueueName, filter: &Filter, audit: i64) -> Result<u64, StoreError> {
        dead::redrive(self, queue, filter, audit).await
    }

    async fn resolve(&self, filter: &Filter, audit: i64) -> Result<u64, StoreError> {
        dead::resolve(self, filter, audit).await
    }

    async fn pause(
        &self,
        kind: Pausable,
        name: &str,
        who: &str,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        pauses::pause(self, (kind, name), who, reason).await
    }

    async fn resume(&self, kind: Pausable, name: &str, who: &str) -> Result<bool, StoreError> {
        pauses::resume(self, (kind, name), who).await
    }

    async fn replayable(&self, filter: &Filter) -> Result<Vec<Replayable>, StoreError> {
        events::replayable(self, filter, self.now().await?).await
    }

    async fn order_replay(&self, replay: &NewReplay) -> Result<i64, StoreError> {
        replays::order(self, replay).await
    }

    async fn cancel_replay(&self, id: i64, who: &str) -> Result<bool, StoreError> {
        replays::cancel(self, id, who).await
    }

    async fn replays(&self, id: Option<i64>) -> Result<Vec<ReplayRecord>, StoreError> {
        replays::watch(self, id).await
    }
}

/// A line of the audit log; its number.
async fn audit(
    unit: &mut Unit,
    who: &str,
    action: &str,
    what: &str,
    affected: i64,
) -> Result<i64, StoreError> {
    let text = |text: &str| Param::Text(Some(text.to_owned()));
    let params = [text(who), text(action), text(what), Param::Bigint(Some(affected))];
    id(unit.fetch_optional(AUDIT, &params).await?)
}

/// Adds to how many rows an order has touched.
async fn audit_affected(unit: &mut Unit, audit: i64, more: u64) -> Result<(), StoreError> {
    let params = [Param::Bigint(Some(audit)), Param::Bigint(Some(more.cast_signed()))];
    if unit.execute(AUDIT_AFFECTED, &params).await? == 1 { Ok(()) } else { Err(StoreError::Fenced) }
}

fn id(row: Option<Row>) -> Result<i64, StoreError> {
    row.map_or(Err(StoreError::Fenced), |row| Columns::of(row).number())
}

fn json(filter: &Filter) -> String {
    serde_json::to_value(filter).unwrap_or_default().to_string()
}
