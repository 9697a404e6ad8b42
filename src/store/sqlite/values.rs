//! Values of statements and rows.

use bytes::Bytes;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments, Row, TypeInfo, ValueRef};

use super::super::{Param, StoreError};
use super::error;
use crate::clock::Timestamp;

/// Binds parameters in order.
pub(super) fn arguments(params: &[Param]) -> Result<SqliteArguments, StoreError> {
    let mut arguments = SqliteArguments::default();
    for param in params {
        match param {
            Param::Text(value) | Param::Json(value) => arguments.add(value.as_deref()),
            Param::Bigint(value) => arguments.add(*value),
            Param::Double(value) => arguments.add(*value),
            Param::Boolean(value) => arguments.add(*value),
            Param::Bytes(value) => arguments.add(value.as_deref()),
            Param::Timestamptz(value) => arguments.add(value.map(text)),
        }
        .map_err(|failed| error(sqlx::Error::Encode(failed)))?;
    }
    Ok(arguments)
}

/// Reads all columns of a row. SQLite knows no more types than these; NULL has none.
pub(super) fn read(row: &SqliteRow) -> Result<Vec<Param>, StoreError> {
    (0..row.len()).map(|at| read_column(row, at).map_err(error)).collect()
}

fn read_column(row: &SqliteRow, at: usize) -> Result<Param, sqlx::Error> {
    let value = row.try_get_raw(at)?;
    if value.is_null() {
        return Ok(Param::Text(None));
    }
    Ok(match value.type_info().name() {
        "INTEGER" => Param::Bigint(row.try_get_unchecked(at)?),
        "REAL" => Param::Double(row.try_get_unchecked(at)?),
        "BLOB" => Param::Bytes(Some(Bytes::from(row.try_get_unchecked::<Vec<u8>, _>(at)?))),
        _ => Param::Text(row.try_get_unchecked(at)?),
    })
}

/// The form of all times in the file: it sorts as time does.
pub(super) fn text(time: Timestamp) -> String {
    time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
