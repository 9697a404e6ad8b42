//! The face of a handler.

use async_trait::async_trait;

use super::HandlerError;
use crate::model::Event;
use crate::store::Tx;

/// Something that handles events, inside the transaction of each.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Does the event's work through `tx`.
    ///
    /// It runs under a savepoint and a time limit. It must not end the transaction, and must not go on after an SQL
    /// error: both are noticed, and nothing of the event is kept then.
    ///
    /// # Errors
    /// [`HandlerError`]: everything is rolled back, other handlers' work on the event too.
    async fn handle(&self, tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError>;

    /// Checks at start, without an event, what can be checked (do the statements fit the schema?). The transaction
    /// is rolled back afterwards. Nothing unless said otherwise.
    ///
    /// # Errors
    /// [`HandlerError`] for the operator: what is wrong and where.
    async fn prepare(&self, tx: &mut Tx) -> Result<(), HandlerError> {
        let _ = tx;
        Ok(())
    }
}

/// How a handler ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The work is done.
    Done,
    /// The event is new, but what it speaks of was done before; nothing was changed.
    Idempotent {
        /// The business key, for the log: an invoice's id, a checkout session's id.
        key: String,
    },
    /// Not an event for this handler; nothing was changed.
    Ignored,
    /// Committed as it is, but a person must look.
    Flagged {
        /// One short sentence for that person.
        reason: String,
    },
}
