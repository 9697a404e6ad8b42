//! `[[routes]]`, as the gateway uses it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::jq::{Expression, Question};
use crate::routing::Rule;

/// One `[[routes]]` entry: which events go where.
#[derive(Clone, Debug)]
pub struct Route {
    /// The endpoints it is for, already resolved from `endpoint`, `endpoints`, `provider` or `*`.
    pub endpoints: Vec<Arc<str>>,
    /// Globs over the event type.
    pub types: Vec<String>,
    /// Whether it wants an event of these types.
    pub filter: Option<Arc<Expression>>,
    /// What becomes of a body that it forwards.
    pub transform: Option<Arc<Expression>>,
    /// What it does.
    pub action: Action,
    /// The destinations of what its handler emits, or of the event itself.
    pub destinations: Vec<Arc<str>>,
    /// File and line, for messages.
    pub origin: String,
}

/// What a route does with an event.
#[derive(Clone, Debug)]
pub enum Action {
    /// A built-in handler, or one that the embedding program registered, by name.
    Handler(String),
    /// An SQL handler module.
    Sql(SqlModule),
    /// Forward the event as it came, or its transform.
    Forward,
}

/// An SQL handler module: a file and its own parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlModule {
    /// Its name in logs and metrics: the file's stem.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Its text, read at load.
    pub text: String,
    /// Parameters taken from the payload.
    pub params: BTreeMap<String, SqlParam>,
    /// The operation in `:idempotency_key`; the module's name unless said.
    pub operation: String,
}

/// One parameter of an SQL module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlParam {
    /// JSON pointer into the payload.
    pub pointer: String,
    /// How it is bound.
    pub kind: SqlType,
}

/// The type a parameter is bound as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SqlType {
    /// Text (numbers and booleans in their JSON form).
    #[default]
    Text,
    /// 64-bit integer.
    Bigint,
    /// Double precision.
    Double,
    /// Boolean.
    Boolean,
    /// JSON text (`jsonb` on PostgreSQL).
    Json,
    /// Time: RFC 3339 text or Unix seconds in the payload.
    Timestamptz,
}

impl Route {
    /// The handler's name in logs and metrics, if it is one.
    #[must_use]
    pub fn handler(&self) -> Option<&str> {
        match &self.action {
            Action::Handler(name) => Some(name),
            Action::Sql(module) => Some(&module.name),
            Action::Forward => None,
        }
    }

    /// What it asks of an event beyond its type.
    #[must_use]
    pub fn question(&self) -> Question {
        Question { filter: self.filter.clone(), transform: self.transform.clone() }
    }
}

impl Rule for Route {
    fn endpoints(&self) -> &[Arc<str>] {
        &self.endpoints
    }

    fn types(&self) -> &[String] {
        &self.types
    }
}
