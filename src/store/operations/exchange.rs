//! The recorded end of an event's exchange with the destination of its proxy endpoint.

use super::super::select::{Backend, Bound, Columns};
use super::super::{ContentRecord, ExchangeRecord, StoreError};
use super::walk;
use crate::model::{EventKey, Headers};

pub(super) async fn of_event<B: Backend>(
    backend: &B,
    key: &EventKey,
) -> Result<Option<ExchangeRecord>, StoreError> {
    let mut bound = Bound::default();
    let (provider, endpoint, id) =
        (bound.text(&key.provider), bound.text(&key.endpoint), bound.text(&key.event_id));
    let sql = format!(
        "SELECT destination, message_id, attempt, outcome, repeatable, status, error, duration_ms, ended_at, \
         body_bytes, headers, body FROM proxy_answers \
         WHERE provider = {provider} AND endpoint = {endpoint} AND event_id = {id}"
    );
    walk::first(backend.rows(&sql, &bound.0).await?).map(record).transpose()
}

fn record(mut row: Columns) -> Result<ExchangeRecord, StoreError> {
    let mut record = ExchangeRecord {
        destination: row.text()?,
        message_id: row.text()?,
        attempt: row.number()?,
        outcome: row.text()?,
        repeatable: row.flag()?,
        status: row.optional_number()?,
        error: row.optional_text()?,
        duration_ms: row.number()?,
        ended_at: row.time()?,
        body_bytes: row.optional_number()?,
        content: None,
    };
    if let Some(headers) = row.optional_text()? {
        let headers = Headers::from_json(&headers).unwrap_or_default();
        let content_type = headers.text("content-type").map(str::to_owned);
        record.content = Some(ContentRecord { content_type, headers, body: row.bytes()?, body_sha256: None });
    }
    Ok(record)
}
