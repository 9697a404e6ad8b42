//! Values of statements and rows.

use bytes::Bytes;
use serde_json::value::RawValue;
use sqlx::postgres::{PgArguments, PgRow, PgTypeInfo};
use sqlx::types::Json;
use sqlx::{Arguments, Column, Postgres, Row, Type, TypeInfo};
use uuid::Uuid;

use super::super::{Param, StoreError};
use super::error;

/// Binds parameters in order.
pub(super) fn arguments(params: &[Param]) -> Result<PgArguments, StoreError> {
    let mut arguments = PgArguments::default();
    for param in params {
        match param {
            Param::Text(value) => arguments.add(value.as_deref()),
            Param::Bigint(value) => arguments.add(*value),
            Param::Double(value) => arguments.add(*value),
            Param::Boolean(value) => arguments.add(*value),
            Param::Bytes(value) => arguments.add(value.as_deref()),
            Param::Json(value) => arguments.add(json(value.as_deref())?),
            Param::Timestamptz(value) => arguments.add(*value),
        }
        .map_err(|failed| error(sqlx::Error::Encode(failed)))?;
    }
    Ok(arguments)
}

/// The types of parameters, for preparing a statement.
pub(super) fn types(params: &[Param]) -> Vec<PgTypeInfo> {
    let name_of = |param: &Param| match param {
        Param::Text(_) => <str as Type<Postgres>>::type_info(),
        Param::Bigint(_) => <i64 as Type<Postgres>>::type_info(),
        Param::Double(_) => <f64 as Type<Postgres>>::type_info(),
        Param::Boolean(_) => <bool as Type<Postgres>>::type_info(),
        Param::Bytes(_) => <[u8] as Type<Postgres>>::type_info(),
        Param::Json(_) => <Json<()> as Type<Postgres>>::type_info(),
        Param::Timestamptz(_) => <crate::clock::Timestamp as Type<Postgres>>::type_info(),
    };
    params.iter().map(name_of).collect()
}

/// Prepares a statement under a name that is nobody else's, and forgets it. `None` for what cannot be prepared.
pub(super) fn preparing(sql: &str, params: &[Param]) -> Option<String> {
    const PREPARED: [&str; 7] = ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "WITH"];
    if !PREPARED.contains(&first_word(sql).as_str()) {
        return None;
    }
    let name = format!("hookgate_{}", Uuid::now_v7().simple());
    let types: Vec<String> = types(params).iter().map(ToString::to_string).collect();
    let types = if types.is_empty() { String::new() } else { format!(" ({})", types.join(", ")) };
    Some(format!("PREPARE {name}{types} AS {sql}\n; DEALLOCATE {name}"))
}

/// Whether a statement may give rows back.
pub(super) fn may_have_rows(sql: &str) -> bool {
    let writes = ["INSERT", "UPDATE", "DELETE", "MERGE"].contains(&first_word(sql).as_str());
    !writes || sql.to_ascii_uppercase().contains("RETURNING")
}

fn first_word(sql: &str) -> String {
    let letters = sql.trim_start_matches(['(', ' ']).chars().take_while(char::is_ascii_alphabetic);
    letters.collect::<String>().to_ascii_uppercase()
}

/// Reads all columns of a row.
pub(super) fn read(row: &PgRow) -> Result<Vec<Param>, StoreError> {
    (0..row.len()).map(|at| read_column(row, at).map_err(error)).collect()
}

fn read_column(row: &PgRow, at: usize) -> Result<Param, sqlx::Error> {
    let column = row.column(at);
    Ok(match column.type_info().name() {
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" => Param::Text(row.try_get(at)?),
        "INT8" => Param::Bigint(row.try_get(at)?),
        "INT4" => Param::Bigint(row.try_get::<Option<i32>, _>(at)?.map(i64::from)),
        "INT2" => Param::Bigint(row.try_get::<Option<i16>, _>(at)?.map(i64::from)),
        "FLOAT8" => Param::Double(row.try_get(at)?),
        "FLOAT4" => Param::Double(row.try_get::<Option<f32>, _>(at)?.map(f64::from)),
        "BOOL" => Param::Boolean(row.try_get(at)?),
        "BYTEA" => Param::Bytes(row.try_get::<Option<Vec<u8>>, _>(at)?.map(Bytes::from)),
        "JSON" | "JSONB" => {
            let value: Option<Json<Box<RawValue>>> = row.try_get(at)?;
            Param::Json(value.map(|Json(value)| value.get().to_owned()))
        }
        "TIMESTAMPTZ" => Param::Timestamptz(row.try_get(at)?),
        "VOID" => Param::Text(None),
        other => {
            let text = format!(
                "column {} has type {other}; cast it to text, bigint or another simple type",
                column.name()
            );
            return Err(sqlx::Error::Decode(text.into()));
        }
    })
}

fn json(text: Option<&str>) -> Result<Option<Json<&RawValue>>, StoreError> {
    text.map(serde_json::from_str::<&RawValue>)
        .transpose()
        .map(|value| value.map(Json))
        // What the server would say of it.
        .map_err(|refused| StoreError::Sql {
            code: Some("22P02".into()),
            source: sqlx::Error::Encode(refused.into()),
        })
}
