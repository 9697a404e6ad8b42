//! Exchanges: an event whose destination is asked while the provider waits. It is leased to whoever asks, and no worker
//! finds it due: nobody but its provider may cause it to be sent.

use std::time::Duration;

use super::select::Columns;
use super::{Param, Settled, Sql, StoreError, Unit};
use crate::clock::Timestamp;
use crate::model::{Answer, Asked, EventKey, Headers};

/// The same file of both engines.
macro_rules! both {
    ($file:literal) => {
        Sql {
            postgres: include_str!(concat!("postgres/", $file)),
            sqlite: include_str!(concat!("sqlite/", $file)),
        }
    };
}

const OPEN: Sql = both!("open_exchange.sql");
const CLOSE: Sql = both!("close_exchange.sql");
const RECORD: Sql = both!("record_answer.sql");
const FIND: Sql = both!("find_answer.sql");
const ABANDON: Sql = both!("abandon_exchanges.sql");

/// Of an answer's body so many bytes are kept.
pub const MAX_KEPT_ANSWER: usize = 64 * 1024;

/// An event that this process, and nobody else, may send once.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// The fencing token.
    pub epoch: i64,
    /// Which exchange of this event it is, from 1.
    pub attempt: i32,
    /// When the event was first stored.
    pub received_at: Timestamp,
}

/// How an exchange ended, to be written down.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// The destination's name.
    pub destination: &'a str,
    /// `webhook-id`
    pub message_id: &'a str,
    /// What came of it.
    pub asked: &'a Asked,
    /// Why a person must look; `None` if the destination has taken the event.
    pub review_reason: Option<&'a str>,
}

/// What a copy of an event finds when its exchange has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// A person has not looked yet.
    pub is_in_review: bool,
    /// What the destination answered when it took the event, if that is there whole.
    pub answer: Option<Answer>,
}

impl Unit {
    /// Takes an event that [`Unit::insert`] has put there or found, for one exchange. `None`: another exchange of it is
    /// under way, or it has ended and must not be repeated.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn open_exchange(
        &mut self,
        key: &EventKey,
        lease: Duration,
    ) -> Result<Option<Opened>, StoreError> {
        let mut params = by_key(key);
        params.push(Param::Double(Some(lease.as_secs_f64())));
        let Some(row) = self.fetch_optional(OPEN, &params).await? else { return Ok(None) };
        let mut row = Columns::of(row);
        let (epoch, attempt) = (row.number()?, row.number()?);
        let attempt = i32::try_from(attempt).unwrap_or(i32::MAX);
        Ok(Some(Opened { epoch, attempt, received_at: row.time()? }))
    }

    /// Records how it ended. Answers the time since the event was received; `None` if the lease has passed, and then
    /// nothing was written.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn close_exchange(
        &mut self,
        key: &EventKey,
        opened: &Opened,
        ending: &Ending<'_>,
    ) -> Result<(Settled, Duration), StoreError> {
        let mut params = by_key(key);
        params.extend([
            Param::Bigint(Some(opened.epoch)),
            text(ending.review_reason),
            text(ending.asked.attempt.error.as_deref()),
        ]);
        let Some(row) = self.fetch_optional(CLOSE, &params).await? else {
            return Ok((Settled::LeaseLost, Duration::ZERO));
        };
        self.execute(RECORD, &record(key, opened, ending)).await?;
        let lag = Columns::of(row).optional_double()?.unwrap_or_default();
        Ok((Settled::Written, Duration::try_from_secs_f64(lag).unwrap_or_default()))
    }

    /// What a copy of an event finds; `None` if the event is gone.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn recorded(&mut self, key: &EventKey) -> Result<Option<Recorded>, StoreError> {
        let Some(row) = self.fetch_optional(FIND, &by_key(key)).await? else { return Ok(None) };
        let mut row = Columns::of(row);
        let is_in_review = row.flag()?;
        let Some(status) = row.optional_number()? else {
            return Ok(Some(Recorded { is_in_review, answer: None }));
        };
        let headers = Headers::from_json(&row.text()?).unwrap_or_default();
        let (body, length) = (row.bytes()?, row.number()?);
        let is_whole = usize::try_from(length).is_ok_and(|length| length == body.len());
        let status = u16::try_from(status).unwrap_or_default();
        Ok(Some(Recorded { is_in_review, answer: is_whole.then_some(Answer { status, headers, body }) }))
    }

    /// Puts aside for a person what nobody has recorded the end of in time, at most `limit` events; their keys.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn abandon_exchanges(&mut self, limit: u32) -> Result<Vec<EventKey>, StoreError> {
        let rows = self.fetch_all(ABANDON, &[Param::Bigint(Some(limit.into()))]).await?;
        let keys = rows.into_iter().map(|row| {
            let mut row = Columns::of(row);
            let (provider, endpoint) = (row.text()?.into(), row.text()?.into());
            Ok(EventKey { provider, endpoint, event_id: row.text()? })
        });
        keys.collect()
    }
}

fn record(key: &EventKey, opened: &Opened, ending: &Ending<'_>) -> Vec<Param> {
    let Ending { destination, message_id, asked, .. } = ending;
    let answer = asked.answer.as_ref();
    let kept = answer.map(|answer| answer.body.slice(..answer.body.len().min(MAX_KEPT_ANSWER)));
    let number = |value: u128| i64::try_from(value).unwrap_or(i64::MAX);
    let mut params = by_key(key);
    params.extend([
        text(Some(destination)),
        text(Some(message_id)),
        Param::Bigint(Some(opened.attempt.into())),
        text(Some(asked.attempt.outcome.as_str())),
        Param::Boolean(Some(asked.is_repeatable())),
        Param::Bigint(answer.map(|answer| answer.status.into())),
        Param::Text(answer.map(|answer| answer.headers.to_json())),
        Param::Bytes(kept),
        Param::Bigint(answer.map(|answer| number(answer.body.len() as u128))),
        text(asked.attempt.error.as_deref()),
        Param::Bigint(Some(number(asked.attempt.duration.as_millis()))),
    ]);
    params
}

fn by_key(key: &EventKey) -> Vec<Param> {
    [&*key.provider, &*key.endpoint, &key.event_id].map(|part| text(Some(part))).into()
}

fn text(value: Option<&str>) -> Param {
    Param::Text(value.map(str::to_owned))
}
