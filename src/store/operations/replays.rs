//! Replays: ordered and watched by operators, worked off by the gateways.
//!
//! A replay goes through the events of one endpoint in the order of their arrival, and remembers the last one that it
//! has done. That step is the last statement of the event's own unit of work, so that each event is done once however
//! often the process dies, and a replay that was cancelled commits nothing more.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::super::rows::wait;
use super::super::select::{Backend, Bound, Columns};
use super::super::{
    Cursor, EventCursor, Filter, NewReplay, Param, Passed, Replay, ReplayRecord, Replays, Settled, Sql,
    StoreError, Unit, Upcoming,
};
use super::walk::first;
use super::{LIMIT, both, events};
use crate::model::{Event, EventKey, Leased};

const CLAIM: Sql = both!("claim_replays.sql");
const NEXT_DUE: Sql = both!("next_replay_due.sql");
const SETTLE: Sql = both!("settle_replay.sql");
const FAILED: Sql = both!("fail_replayed.sql");
const ADVANCE: Sql = both!("advance_replay.sql");
const FLAG: Sql = both!("flag_event.sql");
const DIGEST: Sql = both!("body_digest.sql");
const ORDER: Sql = both!("order_replay.sql");
const CANCEL: Sql = both!("cancel_replay.sql");

/// Events that one look brings.
const LOOK: u32 = 100;

/// SHA-256 of nothing.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[async_trait]
impl<B: Backend> Replays for B {
    async fn claim_replays(
        &self,
        limit: u32,
        endpoints: &[Arc<str>],
        lease: Duration,
    ) -> Result<Vec<Leased<Replay>>, StoreError> {
        let params =
            [Param::Bigint(Some(limit.into())), Param::Double(Some(lease.as_secs_f64())), names(endpoints)];
        let mut unit = self.begin(LIMIT).await?;
        let rows = match unit.fetch_all(CLAIM, &params).await {
            Ok(rows) => rows,
            Err(error) => {
                unit.rollback().await;
                return Err(error);
            }
        };
        unit.commit().await?;
        rows.into_iter().map(|row| claimed(&mut Columns::of(row))).collect()
    }

    async fn next_replay(&self, endpoints: &[Arc<str>]) -> Result<Option<Duration>, StoreError> {
        let sql = (self.dialect().pick)(NEXT_DUE);
        let row = first(self.rows(sql, &[names(endpoints)]).await?);
        Ok(wait(row.map(|mut row| row.optional_double()).transpose()?.flatten()))
    }

    async fn upcoming(&self, replay: &Replay) -> Result<Upcoming, StoreError> {
        let filter = Filter { endpoint: Some(replay.endpoint.to_string()), ..replay.filter.clone() };
        let after = replay.cursor.map(|cursor| cursor.0);
        let found = events::upcoming(self, &filter, replay.ordered_at, after, LOOK).await?;
        Ok(Upcoming {
            events: found.rows.into_iter().map(|(key, cursor)| (key, EventCursor(cursor))).collect(),
            next: found.next.map(EventCursor),
        })
    }

    async fn pass(&self, leased: &Leased<Replay>, passed: &Passed) -> Result<Settled, StoreError> {
        let mut unit = self.begin(LIMIT).await?;
        let settled = match settle(&mut unit, leased, passed).await {
            Ok(settled) => settled,
            Err(error) => {
                unit.rollback().await;
                return Err(error);
            }
        };
        if settled == Settled::LeaseLost {
            unit.rollback().await;
        } else {
            unit.commit().await?;
        }
        Ok(settled)
    }
}

async fn settle(unit: &mut Unit, leased: &Leased<Replay>, passed: &Passed) -> Result<Settled, StoreError> {
    let seconds = |time: Option<Duration>| Param::Double(time.map(|time| time.as_secs_f64()));
    let (id, cursor) = (Param::Bigint(Some(leased.item.id)), passed.cursor.map(|cursor| cursor.0));
    let params = [
        id.clone(),
        Param::Bigint(Some(leased.epoch)),
        Param::Timestamptz(cursor.map(Cursor::time)),
        Param::Bigint(cursor.map(|cursor| cursor.number)),
        Param::Bigint(Some(passed.failure.is_some().into())),
        Param::Bigint(Some(passed.again.is_some().into())),
        seconds(passed.again.or(passed.wait)),
        seconds(passed.hold),
        Param::Text(passed.outcome.map(str::to_owned)),
        Param::Text(passed.error.clone()),
    ];
    if unit.execute(SETTLE, &params).await? == 0 {
        return Ok(Settled::LeaseLost);
    }
    if let Some((key, code)) = &passed.failure {
        let [provider, endpoint, event_id] = key_params(key);
        let code = Param::Text(Some(code.clone()));
        unit.execute(FAILED, &[id, provider, endpoint, event_id, code]).await?;
    }
    Ok(Settled::Written)
}

impl Unit {
    /// Reads a stored event, to work on it again; `None` if its key or its payload is gone.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn whole(&mut self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        let Some(event) = self.stored(key).await? else { return Ok(None) };
        if !event.body.is_empty() {
            return Ok(Some(event));
        }
        let digest = self.fetch_optional(DIGEST, &key_params(key)).await?;
        let came_empty = match digest {
            Some(row) => hex::encode(Columns::of(row).bytes()?) == EMPTY,
            None => false,
        };
        Ok(came_empty.then_some(event))
    }

    /// The last statement of a replayed event's unit of work: the replay, if it is still this claim's and not
    /// cancelled, steps behind the event, and is held for `lease`. Answers how long until the next event may begin.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if it is not.
    pub async fn advance(
        &mut self,
        leased: &Leased<Replay>,
        cursor: EventCursor,
        lease: Duration,
    ) -> Result<Duration, StoreError> {
        let params = [
            Param::Bigint(Some(leased.item.id)),
            Param::Bigint(Some(leased.epoch)),
            Param::Timestamptz(Some(cursor.0.time())),
            Param::Bigint(Some(cursor.0.number)),
            Param::Double(Some(lease.as_secs_f64())),
        ];
        let row = self.fetch_optional(ADVANCE, &params).await?.ok_or(StoreError::Fenced)?;
        Ok(wait(Columns::of(row).optional_double()?).unwrap_or_default())
    }

    /// Marks an event that is done as one that a person must look at.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if it is not there or not done.
    pub async fn flag(&mut self, key: &EventKey, reason: &str) -> Result<(), StoreError> {
        let [provider, endpoint, event_id] = key_params(key);
        let params = [provider, endpoint, event_id, Param::Text(Some(reason.to_owned()))];
        if self.execute(FLAG, &params).await? == 1 { Ok(()) } else { Err(StoreError::Fenced) }
    }
}

fn claimed(row: &mut Columns) -> Result<Leased<Replay>, StoreError> {
    let (id, endpoint) = (row.number()?, row.text()?.into());
    let filter = filter(&row.text()?)?;
    let (route, new_ids, ordered_at) = (row.optional_text()?, row.flag()?, row.time()?);
    let cursor = match (row.optional_time()?, row.optional_number()?) {
        (Some(at), Some(seq)) => Some(EventCursor(Cursor::new(at, 0, seq))),
        _ => None,
    };
    let tries = u32::try_from(row.number()?).unwrap_or(u32::MAX);
    let crash_attempts = i32::try_from(row.number()?).unwrap_or(i32::MAX);
    let replay = Replay { id, endpoint, filter, route, new_ids, ordered_at, cursor, tries };
    Ok(Leased { item: replay, epoch: row.number()?, attempts: crash_attempts, crash_attempts })
}

fn filter(json: &str) -> Result<Filter, StoreError> {
    let unreadable =
        |error: serde_json::Error| StoreError::Sql { code: None, source: sqlx::Error::Decode(error.into()) };
    serde_json::from_str(json).map_err(unreadable)
}

fn names(endpoints: &[Arc<str>]) -> Param {
    Param::Text(Some(endpoints.iter().map(|name| &**name).collect::<serde_json::Value>().to_string()))
}

fn key_params(key: &EventKey) -> [Param; 3] {
    [&*key.provider, &*key.endpoint, &key.event_id].map(|part| Param::Text(Some(part.to_owned())))
}

/// Writes the order and its audit line in one transaction.
pub(super) async fn order<B: Backend>(backend: &B, replay: &NewReplay) -> Result<i64, StoreError> {
    let mut unit = backend.begin(LIMIT).await?;
    match insert(&mut unit, replay).await {
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

async fn insert(unit: &mut Unit, replay: &NewReplay) -> Result<i64, StoreError> {
    let filter = super::json(&replay.filter);
    let params = [
        Param::Text(Some(replay.endpoint.clone())),
        Param::Text(Some(filter)),
        Param::Text(replay.route.clone()),
        Param::Boolean(Some(replay.new_ids)),
        Param::Double(replay.rate),
        Param::Text(Some(replay.who.clone())),
        Param::Bigint(Some(replay.total)),
    ];
    let id = super::id(unit.fetch_optional(ORDER, &params).await?)?;
    let mut ordered = serde_json::json!({ "replay": id, "endpoint": replay.endpoint });
    ordered["filter"] = serde_json::to_value(&replay.filter).unwrap_or_default();
    ordered["route"] = replay.route.clone().into();
    ordered["new_ids"] = replay.new_ids.into();
    super::audit(unit, &replay.who, "events.replay", &ordered.to_string(), replay.total).await?;
    Ok(id)
}

/// Ends a replay; `false` if it has ended already, or is not there.
pub(super) async fn cancel<B: Backend>(backend: &B, id: i64, who: &str) -> Result<bool, StoreError> {
    let mut unit = backend.begin(LIMIT).await?;
    let done = async {
        let ended = unit.execute(CANCEL, &[Param::Bigint(Some(id))]).await?;
        if ended > 0 {
            let which = serde_json::json!({ "replay": id }).to_string();
            super::audit(&mut unit, who, "events.replay.cancel", &which, 1).await?;
        }
        Ok::<_, StoreError>(ended > 0)
    }
    .await;
    match done {
        Ok(ended) => {
            unit.commit().await?;
            Ok(ended)
        }
        Err(error) => {
            unit.rollback().await;
            Err(error)
        }
    }
}

/// One replay, or the last twenty; the newest first.
pub(super) async fn watch<B: Backend>(backend: &B, id: Option<i64>) -> Result<Vec<ReplayRecord>, StoreError> {
    let mut bound = Bound::default();
    let which = match id {
        Some(id) => format!("id = {}", bound.number(id)),
        None => "1 = 1".into(),
    };
    let sql = format!(
        "SELECT id, endpoint, filter, route, new_ids, rate, ordered_by, ordered_at, total, done, failed, finished_at, \
         outcome, error FROM replays WHERE {which} ORDER BY id DESC LIMIT 20"
    );
    let mut found = Vec::new();
    for row in backend.rows(&sql, &bound.0).await? {
        let mut row = Columns::of(row);
        let mut record = ReplayRecord {
            id: row.number()?,
            endpoint: row.text()?,
            filter: filter(&row.text()?)?,
            route: row.optional_text()?,
            new_ids: row.flag()?,
            rate: row.optional_double()?,
            ordered_by: row.text()?,
            ordered_at: row.time()?,
            total: row.number()?,
            done: row.number()?,
            failed: row.number()?,
            finished_at: row.optional_time()?,
            outcome: row.optional_text()?,
            error: row.optional_text()?,
            failures: Vec::new(),
        };
        if id.is_some() && record.failed > 0 {
            record.failures = failures(backend, record.id).await?;
        }
        found.push(record);
    }
    Ok(found)
}

async fn failures<B: Backend>(backend: &B, id: i64) -> Result<Vec<(String, String)>, StoreError> {
    let mut bound = Bound::default();
    let id = bound.number(id);
    let sql = format!(
        "SELECT event_id, code FROM replay_failures WHERE replay_id = {id} ORDER BY failed_at DESC LIMIT 100"
    );
    let rows = backend.rows(&sql, &bound.0).await?.into_iter();
    rows.map(|row| {
        let mut row = Columns::of(row);
        Ok((row.text()?, row.text()?))
    })
    .collect()
}
