//! Events of the inbox.

use super::super::select::{Backend, Bound, Columns, Conditions, Dialect, event_state};
use super::super::{
    ContentRecord, Cursor, EventDetail, EventRecord, Filter, Listed, Page, Replayable, State, StoreError,
};
use super::walk::{self, Narrow, Order, Walk};
use super::{deliveries, exchange};
use crate::clock::Timestamp;
use crate::model::{EventKey, Headers};

/// What a window must hold for every filter and every record. No body: its size is known without reading it.
const WINDOW: &str = "i.provider, i.endpoint, i.event_id, i.event_type, i.received_at, i.occurred_at, i.processed_at, \
                      i.available_at, i.lease_until, i.attempts, i.crash_attempts, i.last_error, i.review_at, \
                      i.review_reason, i.seq, i.outcome, i.body_sha256, length(i.body) AS body_bytes";

/// The columns of an [`EventRecord`]. An event that its proxy is just sending is never due.
pub(super) fn columns(dialect: Dialect) -> String {
    format!(
        "i.provider, i.endpoint, i.event_id, i.event_type, {state}, i.received_at, i.occurred_at, i.processed_at, \
         CASE WHEN i.processed_at IS NULL AND i.review_at IS NULL AND i.available_at < '9999-12-30' \
         THEN i.available_at END, i.lease_until, \
         i.attempts, i.crash_attempts, i.last_error, i.review_at, i.review_reason, i.seq",
        state = event_state(dialect, "i")
    )
}

pub(super) fn record(row: &mut Columns) -> Result<EventRecord, StoreError> {
    Ok(EventRecord {
        provider: row.text()?,
        endpoint: row.text()?,
        event_id: row.text()?,
        event_type: row.text()?,
        state: row.text()?,
        received_at: row.time()?,
        occurred_at: row.optional_time()?,
        processed_at: row.optional_time()?,
        available_at: row.optional_time()?,
        lease_until: row.optional_time()?,
        attempts: row.number()?,
        crash_attempts: row.number()?,
        last_error: row.optional_text()?,
        review_at: row.optional_time()?,
        review_reason: row.optional_text()?,
        seq: row.number()?,
    })
}

/// The events that a filter means, perhaps only those whose work was done by a moment.
struct Events<'a> {
    dialect: Dialect,
    filter: &'a Filter,
    done_by: Option<Timestamp>,
}

impl Narrow for Events<'_> {
    fn range(&self, bound: &mut Bound) -> Conditions {
        let mut range = Conditions::new();
        range.time(bound, self.filter, "i.received_at");
        range
    }

    fn rest(&self, bound: &mut Bound) -> Conditions {
        let mut rest = Conditions::new();
        rest.event(bound, self.dialect, self.filter, "i");
        rest.state(self.dialect, self.filter.state, "i", "processed_at");
        if let Some(destination) = &self.filter.destination {
            let destination = bound.text(destination);
            rest.and(format!(
                "EXISTS (SELECT 1 FROM outbox o WHERE o.event_id = i.event_id AND o.provider = i.provider \
                 AND o.endpoint = i.endpoint AND o.destination = {destination})"
            ));
        }
        if let Some(moment) = self.done_by {
            rest.and(format!("i.processed_at <= {}", bound.time(moment)));
            if self.filter.state.is_none() {
                // A newer event of its key had been worked on: to repeat it now would turn that back.
                rest.and("i.outcome <> 'superseded'");
            }
        }
        rest
    }
}

/// The way to what a filter means that walks over the fewest rows.
fn way(dialect: Dialect, filter: &Filter, columns: &str, newest_first: bool) -> Walk {
    let order = Order::Time { moment: "received_at", number: "seq" };
    let inbox = |source: &str, window| Walk {
        with: String::new(),
        source: source.into(),
        window,
        order,
        newest_first,
        columns: columns.to_owned(),
    };
    if filter.id.is_some() {
        let source = "pairs p JOIN webhook_inbox i ON i.provider = p.provider AND i.endpoint = p.endpoint";
        return Walk { with: dialect.pairs.into(), ..inbox(source, None) };
    }
    match filter.state {
        // Their partial indexes hold no more rows than there are.
        Some(State::Pending | State::Leased) => inbox(dialect.inbox_live, None),
        Some(State::Dead | State::Flagged) => inbox(dialect.inbox_review, None),
        _ => inbox(dialect.inbox_by_time, Some(WINDOW)),
    }
}

pub(super) async fn list<B: Backend>(
    backend: &B,
    filter: &Filter,
    page: &Page,
    newest_first: bool,
) -> Result<Listed<EventRecord>, StoreError> {
    let dialect = backend.dialect();
    let walk = way(dialect, filter, &columns(dialect), newest_first);
    walk::list(backend, &walk, &Events { dialect, filter, done_by: None }, page, record).await
}

/// A place behind which everything comes that was received at this moment or later.
pub(super) fn at(moment: Timestamp) -> Cursor {
    Cursor::new(moment, 0, 0)
}

pub(super) async fn show<B: Backend>(backend: &B, key: &EventKey) -> Result<Option<EventDetail>, StoreError> {
    let mut bound = Bound::default();
    let (provider, endpoint, id) =
        (bound.text(&key.provider), bound.text(&key.endpoint), bound.text(&key.event_id));
    let columns = columns(backend.dialect());
    let sql = format!(
        "SELECT {columns}, i.account, i.ordering_key, CAST(i.request_id AS text), i.item_index, i.content_type, \
         i.headers, i.body, i.body_sha256 FROM webhook_inbox i \
         WHERE i.provider = {provider} AND i.endpoint = {endpoint} AND i.event_id = {id}"
    );
    let Some(mut row) = walk::first(backend.rows(&sql, &bound.0).await?) else { return Ok(None) };
    Ok(Some(EventDetail {
        record: record(&mut row)?,
        account: row.optional_text()?,
        ordering_key: row.optional_text()?,
        request_id: row.text()?,
        item_index: row.number()?,
        content: ContentRecord {
            content_type: row.optional_text()?,
            headers: Headers::from_json(&row.text()?).unwrap_or_default(),
            body: row.bytes()?,
            body_sha256: Some(hex::encode(row.bytes()?)),
        },
        deliveries: deliveries::of_event(backend, key).await?,
        exchange: exchange::of_event(backend, key).await?,
    }))
}

/// What can be replayed, by endpoint.
pub(super) async fn replayable<B: Backend>(
    backend: &B,
    filter: &Filter,
    done_by: Timestamp,
) -> Result<Vec<Replayable>, StoreError> {
    let dialect = backend.dialect();
    let gone = payload_gone("i.body_bytes", "i.body_sha256", dialect);
    let columns = format!("i.endpoint, count(*), count(CASE WHEN {gone} THEN 1 END)");
    let mut walk = way(dialect, filter, &columns, false);
    if walk.window.is_none() {
        // By id or by state: few rows, and the size of the body is not yet a column.
        let gone = payload_gone("length(i.body)", "i.body_sha256", dialect);
        walk.columns = format!("i.endpoint, count(*), count(CASE WHEN {gone} THEN 1 END)");
    }
    let mut found: Vec<Replayable> = Vec::new();
    let narrow = Events { dialect, filter, done_by: Some(done_by) };
    walk::sum(backend, &walk, &narrow, "i.endpoint", |row| {
        let (endpoint, events, payload_gone) = (row.text()?, row.number()?, row.number()?);
        match found.iter_mut().find(|known| known.endpoint == endpoint) {
            Some(known) => {
                known.events += events;
                known.payload_gone += payload_gone;
            }
            None => found.push(Replayable { endpoint, events, payload_gone }),
        }
        Ok(())
    })
    .await?;
    found.sort_by(|a, b| a.endpoint.cmp(&b.endpoint));
    Ok(found)
}

/// An empty body that did not come empty.
fn payload_gone(size: &str, digest: &str, dialect: Dialect) -> String {
    format!("{size} = 0 AND {digest} <> {}", dialect.empty_digest)
}

/// The next events of a replay behind a place, at most one window on: their keys, each with its own place.
pub(super) async fn upcoming<B: Backend>(
    backend: &B,
    filter: &Filter,
    done_by: Timestamp,
    after: Option<Cursor>,
    limit: u32,
) -> Result<Listed<(EventKey, Cursor)>, StoreError> {
    let dialect = backend.dialect();
    let walk = way(dialect, filter, "i.provider, i.endpoint, i.event_id", false);
    let found =
        walk::step(backend, &walk, &Events { dialect, filter, done_by: Some(done_by) }, after, limit).await?;
    let rows = found.rows.into_iter().map(|(cursor, mut row)| {
        let (provider, endpoint) = (row.text()?.into(), row.text()?.into());
        Ok((EventKey { provider, endpoint, event_id: row.text()? }, cursor))
    });
    Ok(Listed { rows: rows.collect::<Result<_, StoreError>>()?, next: found.next })
}
