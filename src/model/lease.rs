//! Leases: the right to work on one queued row for a time.

use std::time::Duration;

/// A row of a queue that this worker may work on until its lease ends.
///
/// It is not `Clone`: settling takes it by value, so that no row is settled twice. The lease guards time, the
/// epoch guards truth: each claim raises it, and a settlement that carries an older one changes nothing.
#[derive(Debug)]
pub struct Leased<T> {
    /// What was claimed.
    pub item: T,
    /// The fencing token of this claim.
    pub epoch: i64,
    /// How often it has been claimed, this time included.
    pub attempts: i32,
    /// How many of those claims ended without a settlement (the worker died or lost its lease).
    pub crash_attempts: i32,
}

impl<T> Leased<T> {
    /// Attempts that ended in a failure of the work itself, this one included if it fails.
    #[must_use]
    pub fn failures(&self) -> i32 {
        self.attempts - self.crash_attempts
    }
}

/// Why a unit of work did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A type or code such as `handler.sql.23505` or `timeout`: never a message, a value or a piece of the
    /// payload. It is what `last_error` shows.
    pub code: String,
    /// Whether another attempt can help.
    pub retryable: bool,
}

/// What becomes of a row whose work did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is due again after this time (the database's clock).
    Retry {
        /// From now.
        after: Duration,
    },
    /// A person must look: it is claimed no more until it is redriven.
    Review {
        /// For the person, one short sentence.
        reason: String,
    },
}
