//! How handlers fail.

use std::error::Error;
use std::fmt;

use crate::store::StoreError;

type Source = Box<dyn Error + Send + Sync>;

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
    /// The cause. Its text may hold values (PostgreSQL's "Key (email)=(…)"), so it is for the handler's own author
    /// and stays out of logs.
    source: Option<Source>,
}

impl HandlerError {
    /// A failure that no further attempt can heal. `detail` goes to the log: no values of the payload.
    #[must_use]
    pub fn permanent(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { code: code.into(), retryable: false, detail: Some(detail.into()), source: None }
    }

    /// A failure that another attempt may heal. `detail` goes to the log: no values of the payload.
    #[must_use]
    pub fn retryable(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::permanent(code, detail) }
    }

    /// The same failure, with its cause.
    #[must_use]
    pub fn caused_by(self, source: impl Into<Source>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// The same failure, with the place where it happened for the log.
    #[must_use]
    pub(super) fn at(self, place: impl Into<String>) -> Self {
        Self { detail: Some(place.into()), ..self }
    }
}

impl From<StoreError> for HandlerError {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::Sql { code: Some(code), .. } => format!("handler.sql.{code}"),
            StoreError::Sql { code: None, .. } => "handler.sql".into(),
            other => other.code(),
        };
        Self { code, retryable: true, detail: None, source: Some(error.into()) }
    }
}

impl From<sqlx::Error> for HandlerError {
    fn from(error: sqlx::Error) -> Self {
        let code = match &error {
            sqlx::Error::Database(refusal) => match refusal.code() {
                Some(code) => format!("handler.sql.{code}"),
                None => "handler.sql".into(),
            },
            sqlx::Error::RowNotFound => "handler.sql.row_not_found".into(),
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => "handler.sql.decode".into(),
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => "handler.sql.connection".into(),
            _ => "handler.sql".into(),
        };
        Self { code, retryable: true, detail: None, source: Some(error.into()) }
    }
}

/// A body that is not the JSON a handler expects stays so: permanent.
impl From<serde_json::Error> for HandlerError {
    fn from(error: serde_json::Error) -> Self {
        Self::permanent("handler.payload", "the body is not the JSON that this handler expects").caused_by(error)
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

/// Like the display: the cause, whose text may hold values, is not printed by accident.
impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerError")
            .field("code", &self.code)
            .field("retryable", &self.retryable)
            .field("detail", &self.detail)
            .finish_non_exhaustive()
    }
}

impl Error for HandlerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
