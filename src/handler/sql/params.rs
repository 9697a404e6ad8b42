//! The parameters that a module's statements may name.

use super::statement::Named;
use super::{Dialect, value};
use crate::config::SqlParam;
use crate::handler::{HandlerError, Payload};
use crate::model::Event;
use crate::store::Param;

/// What every module can name. `payload` is the event as JSON: NULL where there is none or one that the database
/// refuses. It is the body, or what the provider's definition reads out of it (a field of a form, the form, XML);
/// `body` is the bytes; `idempotency_key` is
/// [`Event::idempotency_key`] for the route's operation.
pub const BUILT_IN_PARAMS: [&str; 12] = [
    "event_id",
    "event_type",
    "provider",
    "endpoint",
    "payload",
    "body",
    "content_type",
    "received_at",
    "occurred_at",
    "account",
    "ordering_key",
    "idempotency_key",
];

/// One parameter.
#[derive(Debug)]
pub(super) enum Parameter {
    /// One of [`BUILT_IN_PARAMS`].
    BuiltIn(&'static str),
    /// One that the route takes from the payload.
    Own {
        /// Its name.
        name: String,
        /// Where its value is, and what it becomes.
        from: SqlParam,
    },
}

impl Parameter {
    /// Its value for one event; `payload` is the event's, if its body is JSON.
    ///
    /// # Errors
    /// Permanent, `handler.param.NAME`: the payload's value does not fit.
    pub(super) fn value(
        &self,
        event: &Event,
        payload: Option<Payload<'_>>,
        operation: &str,
    ) -> Result<Param, HandlerError> {
        match self {
            Self::BuiltIn(name) => Ok(built_in(name, event, operation)),
            Self::Own { name, from } => own(name, from, payload),
        }
    }

    /// NULL of its type.
    pub(super) fn null(&self) -> Param {
        match self {
            Self::BuiltIn("payload" | "body") => Param::Bytes(None),
            Self::BuiltIn("received_at" | "occurred_at") => Param::Timestamptz(None),
            Self::BuiltIn(_) => Param::Text(None),
            Self::Own { from, .. } => value::null(from.kind),
        }
    }
}

fn built_in(name: &str, event: &Event, operation: &str) -> Param {
    let text = |text: &str| Param::Text(Some(text.into()));
    match name {
        "event_id" => text(&event.key.event_id),
        "event_type" => text(&event.event_type),
        "provider" => text(&event.key.provider),
        "endpoint" => text(&event.key.endpoint),
        "content_type" => Param::Text(event.content_type.clone()),
        "received_at" => Param::Timestamptz(Some(event.received_at)),
        "occurred_at" => Param::Timestamptz(event.occurred_at),
        "account" => Param::Text(event.account.clone()),
        "ordering_key" => Param::Text(event.ordering_key.clone()),
        "idempotency_key" => text(&event.idempotency_key(operation)),
        // Made JSON in the database.
        "payload" => Param::Bytes(Some(event.json().clone())),
        _ => Param::Bytes(Some(event.body.clone())),
    }
}

fn own(name: &str, from: &SqlParam, payload: Option<Payload<'_>>) -> Result<Param, HandlerError> {
    let Some(raw) = payload.and_then(|payload| payload.get(&from.pointer)) else {
        return Ok(value::null(from.kind));
    };
    value::convert(raw, from.kind).ok_or_else(|| {
        let detail =
            format!("what the payload has at {} is no {}", from.pointer, type_name(&value::null(from.kind)));
        HandlerError::permanent(format!("handler.param.{name}"), detail)
    })
}

impl Named for Parameter {
    fn name(&self) -> &str {
        match self {
            Self::BuiltIn(name) => name,
            Self::Own { name, .. } => name,
        }
    }

    /// PostgreSQL must be told the type of a parameter, or it guesses from the surroundings, and not always the one
    /// that is sent. The brackets keep a following `[1]` from being read as a part of the type.
    fn expression(&self, number: usize, dialect: Dialect) -> String {
        match (self, dialect) {
            (Self::BuiltIn("payload"), Dialect::Postgres) => format!("hookgate_json(${number}::bytea)"),
            // As in the view.
            (Self::BuiltIn("payload"), Dialect::Sqlite) => format!(
                "(CASE WHEN instr(${number}, x'00') = 0 AND json_valid(CAST(${number} AS TEXT)) \
                 THEN CAST(${number} AS TEXT) END)"
            ),
            (_, Dialect::Postgres) => format!("(${number}::{})", type_name(&self.null())),
            (_, Dialect::Sqlite) => format!("${number}"),
        }
    }
}

/// PostgreSQL's name of a value's type.
fn type_name(param: &Param) -> &'static str {
    match param {
        Param::Text(_) => "text",
        Param::Bigint(_) => "bigint",
        Param::Double(_) => "double precision",
        Param::Boolean(_) => "boolean",
        Param::Bytes(_) => "bytea",
        Param::Json(_) => "jsonb",
        Param::Timestamptz(_) => "timestamptz",
    }
}

/// The parameters that a route gives its module.
///
/// # Errors
/// What is wrong with one of them.
pub(super) fn own_params<'a>(
    given: impl IntoIterator<Item = (&'a String, &'a SqlParam)>,
) -> Result<Vec<Parameter>, String> {
    given
        .into_iter()
        .map(|(name, from)| {
            let starts_well = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_');
            if !starts_well
                || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            {
                return Err(format!("`{name}` cannot be a parameter's name: use a-z, 0-9 and _"));
            }
            if BUILT_IN_PARAMS.contains(&name.as_str()) {
                return Err(format!("the parameter `{name}` is there already; give yours another name"));
            }
            if !from.pointer.is_empty() && !from.pointer.starts_with('/') {
                return Err(format!("the pointer of `{name}` must begin with /, as in /data/object/id"));
            }
            Ok(Parameter::Own { name: name.clone(), from: from.clone() })
        })
        .collect()
}
