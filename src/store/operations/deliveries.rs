//! Messages of the outbox that are for destinations. What waits for the user's own relay is no delivery of ours.

use super::super::select::{Backend, Bound, Columns, Conditions, Dialect};
use super::super::{
    AttemptRecord, ContentRecord, DeliveryDetail, DeliveryRecord, Filter, Listed, Page, State, StoreError,
};
use super::walk::{self, Narrow, Order, Walk};
use crate::model::{EventKey, Headers};

/// Rows of one message or event that are shown.
const SHOWN: u32 = 100;

/// What a window must hold for every filter and every record.
const WINDOW: &str = "i.id, i.destination, i.provider, i.endpoint, i.event_id, i.event_type, i.message_id, i.route, \
                      i.created_at, i.published_at, i.available_at, i.lease_until, i.attempts, i.crash_attempts, \
                      i.last_error, i.review_at, i.review_reason";

fn columns(dialect: Dialect) -> String {
    format!(
        "i.id, i.destination, i.provider, i.endpoint, i.event_id, i.event_type, i.message_id, i.route, \
         CASE WHEN i.published_at IS NOT NULL THEN 'processed' WHEN i.review_at IS NOT NULL THEN 'dead' \
         WHEN i.lease_until > {now} THEN 'leased' ELSE 'pending' END, \
         i.created_at, i.published_at, \
         CASE WHEN i.published_at IS NULL AND i.review_at IS NULL THEN i.available_at END, \
         i.attempts, i.crash_attempts, i.last_error, i.review_at, i.review_reason",
        now = dialect.now
    )
}

fn record(row: &mut Columns) -> Result<DeliveryRecord, StoreError> {
    Ok(DeliveryRecord {
        id: row.number()?,
        destination: row.text()?,
        provider: row.text()?,
        endpoint: row.text()?,
        event_id: row.text()?,
        event_type: row.text()?,
        message_id: row.text()?,
        route: row.optional_text()?,
        state: row.text()?,
        created_at: row.time()?,
        published_at: row.optional_time()?,
        available_at: row.optional_time()?,
        attempts: row.number()?,
        crash_attempts: row.number()?,
        last_error: row.optional_text()?,
        review_at: row.optional_time()?,
        review_reason: row.optional_text()?,
    })
}

struct Deliveries<'a> {
    dialect: Dialect,
    filter: &'a Filter,
}

impl Narrow for Deliveries<'_> {
    fn range(&self, _: &mut Bound) -> Conditions {
        Conditions::new()
    }

    fn rest(&self, bound: &mut Bound) -> Conditions {
        let mut rest = Conditions::new();
        rest.and("i.destination IS NOT NULL");
        rest.event(bound, self.dialect, self.filter, "i");
        rest.state(self.dialect, self.filter.state, "i", "published_at");
        rest.time(bound, self.filter, "i.created_at");
        if let Some(destination) = &self.filter.destination {
            rest.and(format!("i.destination = {}", bound.text(destination)));
        }
        rest
    }
}

pub(super) async fn list<B: Backend>(
    backend: &B,
    filter: &Filter,
    page: &Page,
) -> Result<Listed<DeliveryRecord>, StoreError> {
    let dialect = backend.dialect();
    let (source, window) = match (&filter.id, filter.state) {
        (Some(_), _) => ("outbox i", None),
        (None, Some(State::Pending | State::Leased)) => (dialect.outbox_live, None),
        (None, Some(State::Dead | State::Flagged)) => (dialect.outbox_review, None),
        _ => ("outbox i", Some(WINDOW)),
    };
    let walk = Walk {
        with: String::new(),
        source: source.into(),
        window,
        order: Order::Id,
        newest_first: true,
        columns: columns(dialect),
    };
    walk::list(backend, &walk, &Deliveries { dialect, filter }, page, record).await
}

pub(super) async fn of_event<B: Backend>(
    backend: &B,
    key: &EventKey,
) -> Result<Vec<DeliveryRecord>, StoreError> {
    let mut bound = Bound::default();
    let (provider, endpoint, id) =
        (bound.text(&key.provider), bound.text(&key.endpoint), bound.text(&key.event_id));
    let columns = columns(backend.dialect());
    let sql = format!(
        "SELECT {columns} FROM outbox i WHERE i.event_id = {id} AND i.provider = {provider} \
         AND i.endpoint = {endpoint} AND i.destination IS NOT NULL ORDER BY i.id DESC LIMIT {SHOWN}"
    );
    backend.rows(&sql, &bound.0).await?.into_iter().rev().map(|row| record(&mut Columns::of(row))).collect()
}

pub(super) async fn show<B: Backend>(backend: &B, id: i64) -> Result<Option<DeliveryDetail>, StoreError> {
    let mut bound = Bound::default();
    let id = bound.number(id);
    let columns = columns(backend.dialect());
    let sql = format!(
        "SELECT {columns}, i.content_type, i.headers, CAST(i.payload AS text), i.body FROM outbox i \
         WHERE i.id = {id} AND i.destination IS NOT NULL"
    );
    let Some(mut row) = walk::first(backend.rows(&sql, &bound.0).await?) else { return Ok(None) };
    let record = record(&mut row)?;
    let content_type = row.optional_text()?;
    let headers = row.optional_text()?.and_then(|text| Headers::from_json(&text)).unwrap_or_default();
    let payload = row.optional_text()?;
    let body = payload.map_or_else(|| row.bytes(), |payload| Ok(payload.into()))?;
    let content = ContentRecord { content_type, headers, body, body_sha256: None };
    let sql = format!(
        "SELECT attempt, attempted_at, outcome, status, error, duration_ms, lease_lost FROM delivery_attempts \
         WHERE outbox_id = {id} ORDER BY id DESC LIMIT {SHOWN}"
    );
    let attempts = backend.rows(&sql, &bound.0).await?.into_iter().rev().map(|row| {
        let mut row = Columns::of(row);
        Ok(AttemptRecord {
            attempt: row.number()?,
            attempted_at: row.time()?,
            outcome: row.text()?,
            status: row.optional_number()?,
            error: row.optional_text()?,
            duration_ms: row.number()?,
            lease_lost: row.flag()?,
        })
    });
    let attempts = attempts.collect::<Result<_, StoreError>>()?;
    Ok(Some(DeliveryDetail { record, content, attempts }))
}
