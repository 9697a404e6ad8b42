//! What an operator holds back.

use super::Processor;
use crate::model::Event;
use crate::store::{Pausable, StoreError, Unit};

impl Processor {
    /// Whether the event's endpoint or one of its handlers is paused at this moment; filters are not asked.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn is_paused(&self, tx: &mut Unit, event: &Event) -> Result<bool, StoreError> {
        let pauses = tx.pauses().await?;
        if pauses.is_empty() {
            return Ok(false);
        }
        let handlers = self.handlers_of(event);
        Ok(pauses.iter().any(|pause| match pause.kind {
            Pausable::Endpoint => *pause.name == *event.key.endpoint,
            Pausable::Handler => handlers.iter().any(|handler| *pause.name == ***handler),
            Pausable::Destination => false,
        }))
    }
}
