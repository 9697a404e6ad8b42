//! Writing to quarantine.

use std::sync::Arc;
use std::time::Duration;

use super::super::kept::Room;
use super::super::select::{Backend, Columns};
use super::super::{Kept, Param, Quarantined, Row, Sql, StoreError, Unit};
use super::both;
use crate::config;
use crate::store::BACKLOG_CAP;

/// How long one write may take: a provider waits for that of a genuine request.
const LIMIT: Duration = Duration::from_secs(5);

const INSERT: Sql = both!("quarantine.sql");
const LOCK: Sql = both!("lock_rejected.sql");
const ROOM: Sql = both!("rejected_room.sql");
const COPY: Sql = both!("count_rejected_copy.sql");
const ROWS: Sql = both!("quarantine_rows.sql");

/// One genuine request, outside every bound.
pub(in crate::store) async fn keep<B: Backend>(backend: &B, request: &Quarantined) -> Result<(), StoreError> {
    let mut unit = backend.begin(LIMIT).await?;
    if let Err(error) = unit.execute(INSERT, &columns(request)).await {
        unit.rollback().await;
        return Err(error);
    }
    unit.commit().await
}

/// Rejected requests of one endpoint, within its bounds.
pub(in crate::store) async fn keep_rejected<B: Backend>(
    backend: &B,
    requests: &[Quarantined],
    bounds: &config::Quarantine,
) -> Result<Vec<Kept>, StoreError> {
    let Some(first) = requests.first() else { return Ok(Vec::new()) };
    let mut unit = backend.begin(LIMIT).await?;
    match keep_all(&mut unit, &first.endpoint, requests, bounds).await {
        Ok(kept) => {
            unit.commit().await?;
            Ok(kept)
        }
        Err(error) => {
            unit.rollback().await;
            Err(error)
        }
    }
}

async fn keep_all(
    unit: &mut Unit,
    endpoint: &Arc<str>,
    requests: &[Quarantined],
    bounds: &config::Quarantine,
) -> Result<Vec<Kept>, StoreError> {
    unit.fetch_optional(LOCK, &[text(endpoint)]).await?;
    let mut kept = Vec::with_capacity(requests.len());
    for request in requests.iter().filter(|request| request.endpoint == *endpoint) {
        kept.push(keep_one(unit, request, bounds).await?);
    }
    Ok(kept)
}

async fn keep_one(
    unit: &mut Unit,
    request: &Quarantined,
    bounds: &config::Quarantine,
) -> Result<Kept, StoreError> {
    let network = request.sent.as_ref().map_or("", |sent| &sent.peer_net);
    let digest = Param::Bytes(Some(request.digest.to_vec().into()));
    let copy = [text(&request.endpoint), digest, text(request.reason), text(network)];
    if unit.execute(COPY, &copy).await? > 0 {
        return Ok(Kept::Copy);
    }
    let asked = [text(&request.endpoint), text(request.reason), text(network)];
    let room = unit.fetch_optional(ROOM, &asked).await?.map_or(Ok(Room::default()), room)?;
    if let Some(refused) = room.refuses(request.bytes(), bounds) {
        return Ok(refused);
    }
    unit.execute(INSERT, &columns(request)).await?;
    Ok(Kept::New)
}

fn room(row: Row) -> Result<Room, StoreError> {
    let mut columns = Columns::of(row);
    let mut pair = || -> Result<(u64, u64), StoreError> {
        Ok((columns.number()?.cast_unsigned(), columns.number()?.cast_unsigned()))
    };
    Ok(Room { all: pair()?, reason: pair()?, network: pair()? })
}

/// How many rows each of these endpoints has, counted up to [`BACKLOG_CAP`].
pub(in crate::store) async fn rows<B: Backend>(
    backend: &B,
    endpoints: &[Arc<str>],
) -> Result<Vec<(Arc<str>, i64)>, StoreError> {
    let sql = (backend.dialect().pick)(ROWS);
    let mut counted = Vec::with_capacity(endpoints.len());
    for endpoint in endpoints {
        let rows = backend.rows(sql, &[text(endpoint), Param::Bigint(Some(BACKLOG_CAP))]).await?;
        let count = super::walk::first(rows).map_or(Ok(0), |mut row| row.number())?;
        counted.push((Arc::clone(endpoint), count));
    }
    Ok(counted)
}

/// In the order of `quarantine.sql`.
fn columns(request: &Quarantined) -> [Param; 20] {
    let sent = request.sent.as_ref();
    let of_sent = |field: fn(&super::super::Sent) -> &str| {
        Param::Text(sent.map(|sent| field(sent).replace('\0', "\u{fffd}")))
    };
    let optional = |value: Option<&String>| Param::Text(value.map(|value| value.replace('\0', "\u{fffd}")));
    [
        text(&request.provider),
        text(&request.endpoint),
        text(request.reason),
        optional(request.hint.as_ref()),
        optional(Some(&request.detail)),
        optional(request.event_id.as_ref()),
        text(&request.headers.to_json()),
        Param::Bytes(Some(request.body.clone())),
        Param::Bytes(Some(request.body_sha256.to_vec().into())),
        Param::Boolean(Some(request.verified)),
        text(&request.request_id.to_string()),
        of_sent(|sent| &sent.method),
        of_sent(|sent| &sent.url),
        optional(sent.and_then(|sent| sent.peer.as_ref())),
        text(sent.map_or("", |sent| &sent.peer_net)),
        Param::Boolean(Some(sent.is_some_and(|sent| sent.by_proxy))),
        optional(sent.and_then(|sent| sent.credentials.as_ref())),
        Param::Bigint(Some(request.bytes().cast_signed())),
        Param::Double(Some(request.age.as_secs_f64())),
        Param::Bytes(Some(request.digest.to_vec().into())),
    ]
}

fn text(value: &str) -> Param {
    Param::Text(Some(value.to_owned()))
}
