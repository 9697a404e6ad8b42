//! Statements in both dialects, and the values that go in and out.

use bytes::Bytes;

use crate::clock::Timestamp;

/// One statement in both dialects. Parameters are `$1`, `$2`, … in both.
#[derive(Clone, Copy, Debug)]
pub struct Sql {
    /// For PostgreSQL.
    pub postgres: &'static str,
    /// For SQLite.
    pub sqlite: &'static str,
}

impl Sql {
    /// A statement that reads the same in both dialects.
    #[must_use]
    pub const fn same(sql: &'static str) -> Self {
        Self { postgres: sql, sqlite: sql }
    }
}

/// A value for a statement, or one that came out of a row. `None` is NULL *of that type*.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// `text`
    Text(Option<String>),
    /// `bigint`
    Bigint(Option<i64>),
    /// `double precision`
    Double(Option<f64>),
    /// `boolean`
    Boolean(Option<bool>),
    /// `bytea`, `blob`
    Bytes(Option<Bytes>),
    /// `jsonb`; JSON text on SQLite
    Json(Option<String>),
    /// `timestamptz`; RFC 3339 text with milliseconds and `Z` on SQLite
    Timestamptz(Option<Timestamp>),
}

/// One row of a result, column by column.
pub type Row = Vec<Param>;
