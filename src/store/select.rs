//! Statements that are put together from constant pieces, because their conditions are the operator's choice.
//!
//! Only what is asked for stands in the text, so that both engines plan for exactly that; every value is bound.

use async_trait::async_trait;
use bytes::Bytes;

use super::{Filter, Inbox, Param, Row, Sql, State, StoreError};
use crate::clock::Timestamp;

/// An engine that can be asked such questions.
#[async_trait]
pub(super) trait Backend: Inbox {
    /// Its dialect.
    fn dialect(&self) -> Dialect;

    /// The rows of a question. It writes nothing and holds up nobody who writes.
    async fn rows(&self, sql: &str, params: &[Param]) -> Result<Vec<Row>, StoreError>;
}

/// Where the two dialects differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// The present moment.
    pub(super) now: &'static str,
    /// Whether a text is like a pattern.
    pub(super) like: &'static str,
    /// A type's glob as such a pattern.
    pub(super) pattern: fn(&str) -> String,
    /// The tables, named `i`; with the index by which they are walked, where the planner would guess.
    pub(super) inbox_by_time: &'static str,
    pub(super) inbox_live: &'static str,
    pub(super) inbox_review: &'static str,
    pub(super) outbox_live: &'static str,
    pub(super) outbox_review: &'static str,
    /// Names all (provider, endpoint) of the inbox as `pairs`, one look into the key's index for each.
    pub(super) pairs: &'static str,
    /// SHA-256 of nothing.
    pub(super) empty_digest: &'static str,
    /// Its text of a statement.
    pub(super) pick: fn(Sql) -> &'static str,
}

/// Values and the names by which the text calls them.
#[derive(Default)]
pub(super) struct Bound(pub(super) Vec<Param>);

impl Bound {
    pub(super) fn text(&mut self, value: &str) -> String {
        self.bind(Param::Text(Some(value.to_owned())))
    }

    pub(super) fn time(&mut self, value: Timestamp) -> String {
        self.bind(Param::Timestamptz(Some(value)))
    }

    pub(super) fn number(&mut self, value: i64) -> String {
        self.bind(Param::Bigint(Some(value)))
    }

    pub(super) fn bind(&mut self, value: Param) -> String {
        self.0.push(value);
        format!("${}", self.0.len())
    }
}

/// Conditions that all must hold.
pub(super) struct Conditions(Vec<String>);

impl Conditions {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn and(&mut self, condition: impl Into<String>) -> &mut Self {
        self.0.push(condition.into());
        self
    }

    /// What all tables have: whose event, which type, which id. `row` is the row's name.
    pub(super) fn event(&mut self, bound: &mut Bound, dialect: Dialect, filter: &Filter, row: &str) {
        for (column, value) in
            [("provider", &filter.provider), ("endpoint", &filter.endpoint), ("event_id", &filter.id)]
        {
            if let Some(value) = value {
                self.and(format!("{row}.{column} = {}", bound.text(value)));
            }
        }
        match &filter.event_type {
            Some(glob) if glob.contains('*') => {
                let pattern = bound.text(&(dialect.pattern)(glob));
                self.and(format!("{row}.event_type {} {pattern}", dialect.like));
            }
            Some(exact) => {
                self.and(format!("{row}.event_type = {}", bound.text(exact)));
            }
            None => {}
        }
    }

    /// Since and until, of a column.
    pub(super) fn time(&mut self, bound: &mut Bound, filter: &Filter, column: &str) {
        if let Some(since) = filter.since {
            self.and(format!("{column} >= {}", bound.time(since)));
        }
        if let Some(until) = filter.until {
            self.and(format!("{column} < {}", bound.time(until)));
        }
    }

    /// Where a row stands; `done` is its column for that.
    pub(super) fn state(&mut self, dialect: Dialect, state: Option<State>, row: &str, done: &str) {
        let Some(state) = state else { return };
        let now = dialect.now;
        let live = format!("{row}.{done} IS NULL AND {row}.review_at IS NULL");
        let finished = format!("{row}.{done} IS NOT NULL AND {row}.review_at IS NULL");
        self.and(match state {
            State::Pending => format!("{live} AND ({row}.lease_until IS NULL OR {row}.lease_until <= {now})"),
            State::Leased => format!("{live} AND {row}.lease_until > {now}"),
            State::Dead => format!("{row}.{done} IS NULL AND {row}.review_at IS NOT NULL"),
            State::Flagged => format!("{row}.{done} IS NOT NULL AND {row}.review_at IS NOT NULL"),
            State::Processed if done == "published_at" => finished,
            // What was flagged and is resolved.
            State::Processed => format!("{finished} AND {row}.outcome IN ('processed', 'flagged')"),
            State::Ignored | State::Superseded if done == "published_at" => "1 = 0".into(),
            State::Ignored | State::Superseded => {
                format!("{finished} AND {row}.outcome = '{}'", state.as_str())
            }
        });
    }
}

impl std::fmt::Display for Conditions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { f.write_str("1 = 1") } else { f.write_str(&self.0.join(" AND ")) }
    }
}

/// The word for where a row of the inbox stands.
pub(super) fn event_state(dialect: Dialect, row: &str) -> String {
    format!(
        "CASE WHEN {row}.processed_at IS NULL THEN CASE WHEN {row}.review_at IS NOT NULL THEN 'dead' \
         WHEN {row}.lease_until > {now} THEN 'leased' ELSE 'pending' END \
         WHEN {row}.review_at IS NOT NULL THEN 'flagged' \
         WHEN {row}.outcome = 'flagged' THEN 'processed' ELSE {row}.outcome END",
        now = dialect.now
    )
}

/// The columns of one row, read one after the other.
pub(super) struct Columns(std::vec::IntoIter<Param>);

impl Columns {
    pub(super) fn of(row: Row) -> Self {
        Self(row.into_iter())
    }

    pub(super) fn text(&mut self) -> Result<String, StoreError> {
        self.optional_text()?.ok_or_else(wrong)
    }

    pub(super) fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.next()? {
            Param::Text(value) | Param::Json(value) => Ok(value),
            _ => Err(wrong()),
        }
    }

    pub(super) fn number(&mut self) -> Result<i64, StoreError> {
        self.optional_number()?.ok_or_else(wrong)
    }

    pub(super) fn optional_number(&mut self) -> Result<Option<i64>, StoreError> {
        match self.next()? {
            Param::Bigint(value) => Ok(value),
            other => null(&other),
        }
    }

    pub(super) fn flag(&mut self) -> Result<bool, StoreError> {
        match self.next()? {
            Param::Boolean(Some(value)) => Ok(value),
            Param::Bigint(Some(value)) => Ok(value != 0),
            _ => Err(wrong()),
        }
    }

    pub(super) fn optional_double(&mut self) -> Result<Option<f64>, StoreError> {
        match self.next()? {
            Param::Double(value) => Ok(value),
            other => null(&other),
        }
    }

    pub(super) fn time(&mut self) -> Result<Timestamp, StoreError> {
        self.optional_time()?.ok_or_else(wrong)
    }

    pub(super) fn optional_time(&mut self) -> Result<Option<Timestamp>, StoreError> {
        match self.next()? {
            Param::Timestamptz(value) => Ok(value),
            // SQLite's times are texts.
            Param::Text(Some(text)) => text.parse().map(Some).map_err(|_| wrong()),
            other => null(&other),
        }
    }

    pub(super) fn bytes(&mut self) -> Result<Bytes, StoreError> {
        match self.next()? {
            Param::Bytes(value) => Ok(value.unwrap_or_default()),
            Param::Text(Some(text)) => Ok(text.into()),
            _ => Ok(Bytes::new()),
        }
    }

    fn next(&mut self) -> Result<Param, StoreError> {
        self.0.next().ok_or_else(wrong)
    }
}

/// SQLite's NULL has no type.
fn null<T>(value: &Param) -> Result<Option<T>, StoreError> {
    if matches!(value, Param::Text(None)) { Ok(None) } else { Err(wrong()) }
}

fn wrong() -> StoreError {
    let text = "a column is not of the type that was asked for";
    StoreError::Sql { code: None, source: sqlx::Error::Decode(text.into()) }
}
