//! Requests that became no event.

use super::super::select::{Backend, Bound, Columns, Conditions};
use super::super::{ContentRecord, Filter, Listed, Page, QuarantineDetail, QuarantineRecord, StoreError};
use super::walk::{self, Narrow, Order, Walk};
use crate::model::Headers;

const COLUMNS: &str = "i.id, i.provider, i.endpoint, i.reason, i.hint, i.event_id, i.verified, i.received_at";

fn record(row: &mut Columns) -> Result<QuarantineRecord, StoreError> {
    Ok(QuarantineRecord {
        id: row.number()?,
        provider: row.text()?,
        endpoint: row.text()?,
        reason: row.text()?,
        hint: row.text()?,
        event_id: row.optional_text()?,
        verified: row.flag()?,
        received_at: row.time()?,
        body_bytes: row.number()?,
    })
}

/// It has no types, states or destinations to narrow it by.
struct Requests<'a>(&'a Filter);

impl Narrow for Requests<'_> {
    fn range(&self, _: &mut Bound) -> Conditions {
        Conditions::new()
    }

    fn rest(&self, bound: &mut Bound) -> Conditions {
        let mut rest = Conditions::new();
        let Filter { provider, endpoint, id, .. } = self.0;
        for (column, value) in [("provider", provider), ("endpoint", endpoint), ("event_id", id)] {
            if let Some(value) = value {
                rest.and(format!("i.{column} = {}", bound.text(value)));
            }
        }
        rest.time(bound, self.0, "i.received_at");
        rest
    }
}

pub(super) async fn list<B: Backend>(
    backend: &B,
    filter: &Filter,
    page: &Page,
) -> Result<Listed<QuarantineRecord>, StoreError> {
    let walk = Walk {
        with: String::new(),
        source: "quarantine i".into(),
        window: Some(
            "i.id, i.provider, i.endpoint, i.reason, i.hint, i.event_id, i.verified, i.received_at, \
             length(i.body) AS body_bytes",
        ),
        order: Order::Id,
        newest_first: true,
        columns: format!("{COLUMNS}, CAST(i.body_bytes AS bigint)"),
    };
    walk::list(backend, &walk, &Requests(filter), page, record).await
}

pub(super) async fn show<B: Backend>(backend: &B, id: i64) -> Result<Option<QuarantineDetail>, StoreError> {
    let mut bound = Bound::default();
    let id = bound.number(id);
    let sql = format!(
        "SELECT {COLUMNS}, CAST(length(i.body) AS bigint), CAST(i.request_id AS text), i.headers, i.body, \
         i.body_sha256 FROM quarantine i WHERE i.id = {id}"
    );
    let Some(mut row) = walk::first(backend.rows(&sql, &bound.0).await?) else { return Ok(None) };
    let (record, request_id) = (record(&mut row)?, row.text()?);
    let headers = Headers::from_json(&row.text()?).unwrap_or_default();
    let content = ContentRecord {
        content_type: headers.text("content-type").map(str::to_owned),
        headers,
        body: row.bytes()?,
        body_sha256: Some(hex::encode(row.bytes()?)),
    };
    Ok(Some(QuarantineDetail { record, request_id, content }))
}
