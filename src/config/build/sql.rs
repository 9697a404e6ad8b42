//! SQL handler modules of routes.

use std::collections::BTreeMap;

use super::Context;
use crate::config::key::Key;
use crate::config::raw::{RawRoute, RawSqlParam, RawSqlType};
use crate::config::{SqlModule, SqlParam, SqlType};

/// Reads the file of a route's `sql`. Its statements are looked at by the handler that is made of it.
pub(super) fn module(
    key: &Key,
    path: &str,
    route: &RawRoute,
    context: &mut Context<'_>,
) -> Option<SqlModule> {
    let params = params(&key.child("params"), route.params.as_ref(), context);
    let sql_key = key.child("sql");
    let path = context.report.places.nearest(&sql_key).folder().join(path);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            context.report.error(&sql_key, format!("cannot read {}: {error}", path.display()));
            return None;
        }
    };
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    if !is_word(&name) {
        let what =
            format!("the file's name {name:?} becomes the handler's; expected letters, digits, `-` and `_`");
        context.report.error(&sql_key, what);
    }
    let operation = route.operation.clone().unwrap_or_else(|| name.clone());
    if !is_word(&operation) {
        let what = format!("found {operation:?}, expected letters, digits, `-` and `_`");
        context.report.error(&key.child("operation"), what);
    }
    Some(SqlModule { name, path, text, params, operation })
}

fn params(
    key: &Key,
    raw: Option<&BTreeMap<String, RawSqlParam>>,
    context: &mut Context<'_>,
) -> BTreeMap<String, SqlParam> {
    let mut params = BTreeMap::new();
    for (name, raw) in raw.into_iter().flatten() {
        let key = key.child(name);
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || name.contains('-') || !is_word(name) {
            let what =
                format!("the name {name:?} is not possible; expected lower-case letters, digits and `_`");
            context.report.error(&key, what);
        }
        context.pointer(&key.child("pointer"), &raw.pointer);
        params.insert(name.clone(), SqlParam { pointer: raw.pointer.clone(), kind: kind(raw.kind) });
    }
    params
}

fn kind(raw: RawSqlType) -> SqlType {
    match raw {
        RawSqlType::Text => SqlType::Text,
        RawSqlType::Bigint => SqlType::Bigint,
        RawSqlType::Double => SqlType::Double,
        RawSqlType::Boolean => SqlType::Boolean,
        RawSqlType::Json => SqlType::Json,
        RawSqlType::Timestamptz => SqlType::Timestamptz,
    }
}

fn is_word(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= 64 && text.chars().all(allowed)
}
