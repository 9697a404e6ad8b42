//! `mode = "async"`: the inbox rows commit, then the reply; workers do the rest.

use std::sync::Arc;

use tracing::info;

use super::receiver::{Receiver, is_conflict};
use super::{EventReceipt, Fault, Receipt};
use crate::config::Endpoint;
use crate::model::{NewEvent, Outcome};
use crate::store::Insertion;

impl Receiver {
    /// All events of the request become durable together, or none and the provider sends again.
    pub(super) async fn accept_for_worker(
        &self,
        mut receipt: Receipt,
        endpoint: &Arc<Endpoint>,
        events: Vec<NewEvent>,
    ) -> Receipt {
        let events: Arc<[NewEvent]> = events.into();
        let insertions = match self.gatherer.accept(Arc::clone(&events)).await {
            Ok(insertions) => insertions,
            Err(code) => return receipt.faulty(Fault::Busy { code }),
        };
        for (event, insertion) in events.iter().zip(insertions) {
            match self.answer(endpoint, event, insertion).await {
                Ok(done) => receipt.add(done),
                Err(fault) => return receipt.faulty(fault),
            }
        }
        if receipt.events.iter().any(|event| event.outcome == Outcome::Accepted) {
            self.wake.worker.notify_one();
        }
        receipt
    }

    async fn answer(
        &self,
        endpoint: &Endpoint,
        event: &NewEvent,
        insertion: Insertion,
    ) -> Result<EventReceipt, Fault> {
        match insertion {
            Insertion::Inserted { .. } => {
                info!(
                    endpoint = &*endpoint.name,
                    event_id = event.key.event_id,
                    event_type = event.event_type,
                    "event.accepted"
                );
                Ok(EventReceipt::new(event, Outcome::Accepted))
            }
            Insertion::Existing(first) if is_conflict(endpoint, event, &first) => {
                self.conflict(endpoint, event, &first).await
            }
            Insertion::Existing(first) => Ok(Self::duplicate(endpoint, event, first.received_at)),
        }
    }
}
