//! Rows as the nouns of the model.

use std::sync::Arc;

use bytes::Bytes;
use sqlx::Row;
use sqlx::postgres::PgRow;
use tracing::warn;

use super::super::{CircuitRecord, Existing, RowState, circuit};
use crate::model::{Content, DueEvent, Event, EventKey, Headers, Leased, Message};

pub(super) fn existing(row: &PgRow) -> Result<Existing, sqlx::Error> {
    let body: Option<Vec<u8>> = row.try_get("body")?;
    Ok(Existing {
        received_at: row.try_get("received_at")?,
        body_sha256: row.try_get("body_sha256")?,
        body: body.map(Bytes::from),
        state: RowState::from_word(row.try_get("state")?),
    })
}

pub(super) fn event(row: &PgRow, key: EventKey) -> Result<Event, sqlx::Error> {
    let headers: &str = row.try_get("headers")?;
    let body: Vec<u8> = row.try_get("body")?;
    Ok(Event {
        key,
        event_type: row.try_get("event_type")?,
        occurred_at: row.try_get("occurred_at")?,
        received_at: row.try_get("received_at")?,
        account: row.try_get("account")?,
        ordering_key: row.try_get("ordering_key")?,
        version: row.try_get("version")?,
        content_type: row.try_get("content_type")?,
        headers: Arc::new(Headers::from_json(headers).unwrap_or_default()),
        body: body.into(),
        document: None,
        trace_context: row.try_get("trace_context")?,
    })
}

pub(super) fn key(row: &PgRow) -> Result<EventKey, sqlx::Error> {
    Ok(EventKey {
        provider: row.try_get::<&str, _>("provider")?.into(),
        endpoint: row.try_get::<&str, _>("endpoint")?.into(),
        event_id: row.try_get("event_id")?,
    })
}

/// A claimed event; `None` if the claim found it exhausted and put it aside for a person.
pub(super) fn claimed_event(row: &PgRow) -> Result<Option<Leased<DueEvent>>, sqlx::Error> {
    let key = key(row)?;
    if let Some(reason) = row.try_get::<Option<&str>, _>("review_reason")? {
        warn!(endpoint = &*key.endpoint, event_id = key.event_id, reason, "event.needs_review");
        return Ok(None);
    }
    let event_type = row.try_get("event_type")?;
    leased(row, DueEvent { key, event_type }).map(Some)
}

/// A claimed message; `None` if the claim found it exhausted and put it aside for a person.
pub(super) fn claimed_message(row: &PgRow) -> Result<Option<Leased<Message>>, sqlx::Error> {
    let message = message(row)?;
    if let Some(reason) = row.try_get::<Option<&str>, _>("review_reason")? {
        let (destination, message_id) = (&*message.destination, message.message_id);
        warn!(destination, message_id, reason, "delivery.needs_review");
        return Ok(None);
    }
    if message.probe {
        circuit::probed(&message.destination, &message.message_id);
    }
    leased(row, message).map(Some)
}

fn leased<T>(row: &PgRow, item: T) -> Result<Leased<T>, sqlx::Error> {
    Ok(Leased {
        item,
        epoch: row.try_get("lease_epoch")?,
        attempts: row.try_get("attempts")?,
        crash_attempts: row.try_get("crash_attempts")?,
    })
}

fn message(row: &PgRow) -> Result<Message, sqlx::Error> {
    let content = match row.try_get::<Option<String>, _>("payload")? {
        Some(payload) => Content::Payload(payload),
        None => Content::Body(row.try_get::<Vec<u8>, _>("body")?.into()),
    };
    let headers: Option<&str> = row.try_get("headers")?;
    Ok(Message {
        id: row.try_get("id")?,
        key: key(row)?,
        aggregate_type: row.try_get("aggregate_type")?,
        aggregate_id: row.try_get("aggregate_id")?,
        event_type: row.try_get("event_type")?,
        content,
        content_type: row.try_get("content_type")?,
        headers: headers.and_then(Headers::from_json),
        received_at: row.try_get("received_at")?,
        destination: row.try_get::<&str, _>("destination")?.into(),
        message_id: row.try_get("message_id")?,
        born_at: row.try_get("born_at")?,
        ordering_key: row.try_get("ordering_key")?,
        probe: row.try_get("probe")?,
        trace_context: row.try_get("trace_context")?,
    })
}

/// A row that has crashed before, and so was claimed alone.
pub(super) fn is_suspect(row: &PgRow) -> bool {
    row.try_get::<i32, _>("crash_attempts").is_ok_and(|crashes| crashes > 0)
}

pub(super) fn circuit(row: &PgRow) -> Result<CircuitRecord, sqlx::Error> {
    Ok(CircuitRecord {
        destination: row.try_get("destination")?,
        failures: row.try_get("failures")?,
        openings: row.try_get::<i32, _>("openings")?.into(),
        state: row.try_get("state")?,
        last_error: row.try_get("last_error")?,
        failed_at: row.try_get("failed_at")?,
        open_until: row.try_get("open_until")?,
    })
}
