//! Outbox rows of a unit of work: addressed, copied, forwarded.

use sqlx::Row as _;

use super::super::{Emitted, StoreError};
use super::tx::by_key;
use super::values::text;
use super::{SqliteTx, error};
use crate::model::{Event, EventKey};

const EMITTED: &str = include_str!("emitted_messages.sql");
const ADDRESS: &str = include_str!("address_message.sql");
const COPY: &str = include_str!("copy_message.sql");
const FORWARD: &str = include_str!("forward_event.sql");

impl SqliteTx {
    pub(in crate::store) async fn emitted(&mut self, key: &EventKey) -> Result<Vec<Emitted>, StoreError> {
        let Some(newest) = self.newest else { return Ok(Vec::new()) };
        let rows = by_key(sqlx::query(EMITTED).bind(newest), key)
            .fetch_all(&mut *self.connection)
            .await
            .map_err(error)?;
        let emitted = rows.iter().map(|row| {
            Ok(Emitted {
                id: row.try_get("id")?,
                route: row.try_get::<Option<String>, _>("route")?.unwrap_or_default(),
                aggregate_type: row.try_get("aggregate_type")?,
                aggregate_id: row.try_get("aggregate_id")?,
                event_type: row.try_get("event_type")?,
            })
        });
        emitted.collect::<Result<_, _>>().map_err(error)
    }

    pub(in crate::store) async fn address(&mut self, id: i64, to: &[(&str, &str)]) -> Result<(), StoreError> {
        for (at, (destination, message_id)) in to.iter().enumerate() {
            let sql = if at == 0 { ADDRESS } else { COPY };
            let query = sqlx::query(sql).bind(id).bind(destination).bind(message_id);
            let written = query.execute(&mut *self.connection).await.map_err(error)?.rows_affected();
            if written != 1 {
                return Err(StoreError::Fenced);
            }
        }
        Ok(())
    }

    pub(in crate::store) async fn forward(
        &mut self,
        event: &Event,
        route: &str,
        destination: &str,
        message_id: &str,
    ) -> Result<(), StoreError> {
        sqlx::query(FORWARD)
            .bind(&event.event_type)
            .bind(event.body.as_ref())
            .bind(&*event.key.provider)
            .bind(&*event.key.endpoint)
            .bind(&event.key.event_id)
            .bind(route)
            .bind(text(event.received_at))
            .bind(destination)
            .bind(message_id)
            .bind(event.content_type.as_deref())
            .bind(event.headers.to_json())
            .bind(event.trace_context.as_deref())
            .bind(event.ordering_key.as_deref())
            .execute(&mut *self.connection)
            .await
            .map_err(error)?;
        Ok(())
    }
}
