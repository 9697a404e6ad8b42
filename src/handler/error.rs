//! How handlers fail.

use std::error::Error;
use std::fmt;

use sqlx::error::DatabaseError;
use sqlx::sqlite::SqliteError;

use crate::store::StoreError;

type Cause = Box<dyn Error + Send + Sync>;

/// A handler's failure. Nothing of the event is kept.
///
/// **Retryable** failures are tried again with growing pauses until `max_attempts`, then the event needs review; a
/// **permanent** one needs review at once.
///
/// An SQL error is retryable, whatever its class. Only the handler knows what its statement meant: a foreign key may
/// wait for a row that another event brings, a column that is too short for a migration of tomorrow, a unique index
/// for a neighbour's rollback. Attempts are few, far apart and free of effects, so trying in vain costs little, while
/// giving up on what time would have healed costs a person's attention. A handler that knows better says
/// [`HandlerError::permanent`].
pub struct HandlerError {
    /// What `last_error` will show: a code such as `handler.sql.23505`, never a message or a value.
    pub code: String,
    /// Whether another attempt can help.
    pub retryable: bool,
    /// For the log: what and where, without values of the payload.
    detail: Option<String>,
    cause: Option<Cause>,
}

impl HandlerError {
    /// A failure that no further attempt can heal. `detail` goes to the log: no values of the payload.
    #[must_use]
    pub fn permanent(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { code: code.into(), retryable: false, detail: Some(detail.into()), cause: None }
    }

    /// A failure that another attempt may heal. `detail` goes to the log: no values of the payload.
    #[must_use]
    pub fn retryable(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::permanent(code, detail) }
    }

    /// The same failure, with its cause.
    #[must_use]
    pub fn caused_by(self, cause: impl Into<Cause>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// The cause. Its text may hold values of the payload.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }

    /// A statement that the database does not take, before any event: all that it says may be shown.
    pub(super) fn of_preparing(error: StoreError) -> Self {
        let said = match &error {
            StoreError::Sql { source: sqlx::Error::Database(refusal), .. } => refusal.message().to_owned(),
            other => other.to_string(),
        };
        Self { detail: Some(said), ..Self::from(error) }
    }

    /// The same failure, with the place where it happened put before its detail.
    #[must_use]
    pub(super) fn at(self, place: &str) -> Self {
        let detail = match self.detail {
            Some(detail) => format!("{place}: {detail}"),
            None => place.into(),
        };
        Self { detail: Some(detail), ..self }
    }
}

impl From<StoreError> for HandlerError {
    fn from(error: StoreError) -> Self {
        let StoreError::Sql { code, source } = error else {
            return Self { code: error.code(), retryable: true, detail: None, cause: Some(error.into()) };
        };
        let of_source = Self::from(source);
        Self { code: code.map_or(of_source.code, |code| format!("handler.sql.{code}")), ..of_source }
    }
}

impl From<sqlx::Error> for HandlerError {
    fn from(error: sqlx::Error) -> Self {
        let refusal = error.as_database_error();
        let code = match (&error, refusal.and_then(DatabaseError::code)) {
            (_, Some(code)) => format!("handler.sql.{code}"),
            (sqlx::Error::RowNotFound, _) => "handler.sql.row_not_found".into(),
            (sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_), _) => "handler.sql.decode".into(),
            (sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_), _) => {
                "handler.sql.connection".into()
            }
            _ => "handler.sql".into(),
        };
        let detail = refusal.and_then(text_without_values);
        Self { code, retryable: true, detail, cause: Some(error.into()) }
    }
}

/// What may be said of a refusal in a log: names of the schema, never data. PostgreSQL's messages quote values
/// (`invalid input syntax for type integer: "…"`) but in class 42, where the statement itself is at fault. SQLite's do
/// not where a constraint is violated (19, but for what a trigger raises: 1811) or something is not in the schema.
fn text_without_values(refusal: &dyn DatabaseError) -> Option<String> {
    let code = refusal.code()?;
    let message = refusal.message();
    let names_only = if refusal.try_downcast_ref::<SqliteError>().is_some() {
        let is_constraint = code.parse::<u32>().is_ok_and(|code| code & 0xff == 19 && code != 1811);
        is_constraint || message.starts_with("no such ")
    } else {
        code.starts_with("42")
    };
    if names_only {
        return Some(message.into());
    }
    refusal.constraint().map(|constraint| format!("constraint {constraint}"))
}

/// A body that is not the JSON a handler expects stays so: permanent.
impl From<serde_json::Error> for HandlerError {
    fn from(error: serde_json::Error) -> Self {
        Self::permanent("handler.payload", "the body is not the JSON that this handler expects")
            .caused_by(error)
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => write!(f, "{}: {detail}", self.code),
            None => f.write_str(&self.code),
        }
    }
}

/// Like the display: what may hold values is not printed by accident.
impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerError")
            .field("code", &self.code)
            .field("retryable", &self.retryable)
            .field("detail", &self.detail)
            .finish_non_exhaustive()
    }
}

/// There is no `source` on purpose: who logs an error logs its chain, and the cause may hold values. See
/// [`HandlerError::cause`].
impl Error for HandlerError {}

/// What is wrong with a route's handler, found before any event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError {
    /// File and line: of an SQL module, or of the route that names the handler.
    pub place: String,
    /// What is wrong there, and what would be right.
    pub problem: String,
}

impl SetupError {
    /// A problem whose place the caller knows.
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self { place: String::new(), problem: problem.into() }
    }

    /// The same problem, here unless it has a closer place.
    pub(super) fn at(self, place: &str) -> Self {
        if self.place.is_empty() { Self { place: place.into(), ..self } } else { self }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl Error for SetupError {}
