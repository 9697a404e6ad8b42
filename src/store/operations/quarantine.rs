//! Requests that became no event.

use super::super::select::{Backend, Bound, Columns, Conditions};
use super::super::{ContentRecord, Filter, Listed, Page, QuarantineDetail, QuarantineRecord, StoreError};
use super::walk::{self, Narrow, Order, Walk};
use crate::model::Headers;

const COLUMNS: &str = "i.id, i.provider, i.endpoint, i.reason, i.hint, i.detail, i.event_id, i.verified, i.method, \
                       i.url, i.peer, i.copies, i.received_at, i.last_received_at, i.checked_at, i.checked_reason, \
                       i.released_at, i.released_by";

fn record(row: &mut Columns) -> Result<QuarantineRecord, StoreError> {
    Ok(QuarantineRecord {
        id: row.number()?,
        provider: row.text()?,
        endpoint: row.text()?,
        reason: row.text()?,
        hint: row.optional_text()?,
        detail: row.text()?,
        event_id: row.optional_text()?,
        verified: row.flag()?,
        method: row.optional_text()?,
        url: row.optional_text()?,
        peer: row.optional_text()?,
        copies: row.number()?,
        received_at: row.time()?,
        last_received_at: row.time()?,
        checked_at: row.optional_time()?,
        checked_reason: row.optional_text()?,
        released_at: row.optional_time()?,
        released_by: row.optional_text()?,
        body_bytes: row.number()?,
    })
}

const WINDOW: &str = "i.id, i.provider, i.endpoint, i.reason, i.hint, i.detail, i.event_id, i.verified, i.method, \
                      i.url, i.peer, i.copies, i.received_at, i.last_received_at, i.checked_at, i.checked_reason, \
                      i.released_at, i.released_by, length(i.body) AS body_bytes";

/// It has no types, states or destinations to narrow it by.
struct Requests<'a> {
    filter: &'a Filter,
    /// Only what a release is for.
    unreleased: bool,
}

impl Narrow for Requests<'_> {
    fn range(&self, _: &mut Bound) -> Conditions {
        Conditions::new()
    }

    fn rest(&self, bound: &mut Bound) -> Conditions {
        let mut rest = Conditions::new();
        let Filter { provider, endpoint, id, reason, .. } = self.filter;
        let columns = [("provider", provider), ("endpoint", endpoint), ("event_id", id), ("reason", reason)];
        for (column, value) in columns {
            if let Some(value) = value {
                rest.and(format!("i.{column} = {}", bound.text(value)));
            }
        }
        rest.time(bound, self.filter, "i.received_at");
        if self.unreleased {
            rest.and("i.released_at IS NULL").and("i.reason <> 'conflict'");
        }
        rest
    }
}

pub(super) async fn list<B: Backend>(
    backend: &B,
    filter: &Filter,
    page: &Page,
) -> Result<Listed<QuarantineRecord>, StoreError> {
    walk::list(backend, &requests(true), &Requests { filter, unreleased: false }, page, record).await
}

pub(super) async fn unreleased<B: Backend>(
    backend: &B,
    filter: &Filter,
    page: &Page,
) -> Result<Listed<QuarantineRecord>, StoreError> {
    walk::list(backend, &requests(false), &Requests { filter, unreleased: true }, page, record).await
}

fn requests(newest_first: bool) -> Walk {
    Walk {
        with: String::new(),
        source: "quarantine i".into(),
        window: Some(WINDOW),
        order: Order::Id,
        newest_first,
        columns: format!("{COLUMNS}, CAST(i.body_bytes AS bigint)"),
    }
}

pub(super) async fn show<B: Backend>(backend: &B, id: i64) -> Result<Option<QuarantineDetail>, StoreError> {
    let mut bound = Bound::default();
    let id = bound.number(id);
    let sql = format!(
        "SELECT {COLUMNS}, CAST(length(i.body) AS bigint), CAST(i.request_id AS text), i.by_proxy, \
         i.credentials, i.headers, i.body, i.body_sha256 FROM quarantine i WHERE i.id = {id}"
    );
    let Some(mut row) = walk::first(backend.rows(&sql, &bound.0).await?) else { return Ok(None) };
    let (record, request_id) = (record(&mut row)?, row.text()?);
    let (by_proxy, credentials) = (row.flag()?, row.optional_text()?);
    let headers = Headers::from_json(&row.text()?).unwrap_or_default();
    let content = ContentRecord {
        content_type: headers.text("content-type").map(str::to_owned),
        headers,
        body: row.bytes()?,
        body_sha256: Some(hex::encode(row.bytes()?)),
    };
    Ok(Some(QuarantineDetail { record, request_id, by_proxy, credentials, content }))
}
