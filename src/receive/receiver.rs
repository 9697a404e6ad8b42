//! The receiver: from a request's bytes to the receipt.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task;
use tracing::{info, warn};
use uuid::Uuid;

use crate::clock::{Clock, Timestamp};
use crate::config::{Config, Endpoint, Mode};
use crate::failpoint;
use crate::keys::{Keys, LearnedKeys};
use crate::mapping;
use crate::model::{NewEvent, Outcome, Reason, Rejection, Request};
use crate::process::Processor;
use crate::store::{Existing, Inbox, Quarantined};
use crate::verify::{Decision, Verified};

use super::flights::Flights;
use super::gather::Gatherer;
use super::hint::Hints;
use super::judge::judge;
use super::{Courier, EventReceipt, Fault, Keeper, Receipt, keep};

/// Whom to wake after a commit. Both would find the rows by themselves at their next look.
#[derive(Clone, Debug, Default)]
pub struct Wake {
    /// The inbox's worker: an event waits.
    pub worker: Arc<Notify>,
    /// The outbox's worker: there may be messages.
    pub dispatcher: Arc<Notify>,
}

/// Takes requests in.
pub struct Receiver {
    pub(super) inbox: Arc<dyn Inbox>,
    pub(super) processor: Arc<Processor>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) keys: Arc<Keys>,
    pub(super) learned: LearnedKeys,
    pub(super) hints: Hints,
    pub(super) flights: Flights,
    pub(super) gatherer: Gatherer,
    pub(super) keeper: Keeper,
    pub(super) wake: Wake,
    pub(super) sync_timeout: Duration,
    pub(super) courier: Arc<dyn Courier>,
}

impl Receiver {
    /// A receiver for all endpoints of `config`.
    /// Needs a runtime: it starts the task that commits the waiting events of `async` endpoints together.
    #[must_use]
    pub fn new(
        config: &Config,
        inbox: Arc<dyn Inbox>,
        processor: Arc<Processor>,
        (keys, learned): (Arc<Keys>, LearnedKeys),
        (keeper, courier): (Keeper, Arc<dyn Courier>),
        clock: Arc<dyn Clock>,
        wake: Wake,
    ) -> Self {
        Self {
            keeper,
            keys,
            learned,
            gatherer: Gatherer::start(Arc::clone(&inbox)),
            hints: Hints::new(config.endpoints.values().cloned().collect()),
            flights: Flights::default(),
            sync_timeout: config.inbox.sync_timeout,
            inbox,
            processor,
            clock,
            wake,
            courier,
        }
    }

    /// Takes one request in. It never fails: what went wrong stands in the receipt.
    pub async fn receive(&self, endpoint: &Arc<Endpoint>, request: Request) -> Receipt {
        let mut receipt = Receipt::new(Uuid::now_v7());
        let now = self.clock.now();
        let learned = match self.learned.keyring(endpoint, now).await {
            Ok(learned) => learned,
            Err(error) => return receipt.faulty(Fault::Busy { code: error.code() }),
        };
        let keyring = learned.as_deref().unwrap_or(&endpoint.keyring);
        let verified = match judge(&self.keys, endpoint, &request, keyring, (now, now)).await {
            Decision::Verified(verified) => verified,
            Decision::Handshake { reply, verified, learn, confirm } => {
                let receipt = Receipt { verified, reply: Some(reply), ..receipt };
                return self.handshake(receipt, endpoint, &request, (learn, confirm), now).await;
            }
            Decision::Rejected(rejection) => {
                receipt.hint = self.hints.find(endpoint, &request, &rejection, now).await;
                return self.rejected(receipt, endpoint, &request, rejection);
            }
            Decision::Needs(key) => {
                let detail = format!("{} must be fetched again and again", key.url);
                let rejection = Rejection::new(Reason::KeyUnavailable, detail);
                return self.rejected(receipt, endpoint, &request, rejection);
            }
        };
        receipt.verified = true;
        receipt.secret = verified.secret_position();
        tracing::debug!(endpoint = &*endpoint.name, request_id = %receipt.request_id, secret = receipt.secret, "webhook.verified");
        match mapping::map(
            &verified,
            &endpoint.provider,
            &endpoint.name,
            &endpoint.expect,
            receipt.request_id,
        ) {
            Ok(events) => {
                receipt.reply = mapping::reply(&verified, &endpoint.provider);
                self.accept(receipt, endpoint, events).await
            }
            Err(rejection) => self.unusable(receipt, endpoint, &verified, rejection).await,
        }
    }

    async fn accept(&self, receipt: Receipt, endpoint: &Arc<Endpoint>, events: Vec<NewEvent>) -> Receipt {
        let receipt = match &endpoint.mode {
            Mode::Sync => self.accept_and_process(receipt, endpoint, events).await,
            Mode::Proxy { destination } => self.accept_and_ask(receipt, endpoint, destination, events).await,
            Mode::Async => self.accept_for_worker(receipt, endpoint, events).await,
        };
        failpoint::reach("receive.before_reply");
        receipt
    }

    /// It goes no further. Whether it is kept for a release is seen to later.
    pub(super) fn rejected(
        &self,
        receipt: Receipt,
        endpoint: &Arc<Endpoint>,
        request: &Request,
        rejection: Rejection,
    ) -> Receipt {
        warn!(
            endpoint = &*endpoint.name,
            request_id = %receipt.request_id,
            reason = rejection.reason.as_str(),
            detail = &*rejection.detail,
            hint = receipt.hint,
            bytes = request.body.len(),
            "webhook.rejected"
        );
        let about = (receipt.hint.as_ref(), receipt.verified, receipt.request_id);
        self.keeper.offer(endpoint, request, &rejection, about);
        Receipt { outcome: Outcome::Rejected, rejection: Some(rejection), ..receipt }
    }

    /// Genuine, but no event can be made of it: kept where an operator finds it, if it would vanish otherwise.
    async fn unusable(
        &self,
        receipt: Receipt,
        endpoint: &Arc<Endpoint>,
        verified: &Verified,
        rejection: Rejection,
    ) -> Receipt {
        let request = verified.request();
        if rejection.reason.must_be_kept() {
            let (of, sent) = (Arc::clone(endpoint), request.clone());
            let about = (rejection.reason.as_str(), rejection.detail.to_string());
            let row = task::spawn_blocking(move || keep::row(&of, &sent, about, &rand::random::<[u8; 16]>()));
            let Ok(row) = row.await else { return receipt.faulty(Fault::Busy { code: "panic".into() }) };
            let kept = Quarantined { request_id: receipt.request_id, ..row };
            if let Err(error) = self.inbox.quarantine(&kept).await {
                return receipt.faulty(Fault::Busy { code: error.code() });
            }
        }
        self.rejected(receipt, endpoint, request, rejection)
    }

    /// The first body stays; the second one is kept for an operator and answered as a success.
    pub(super) async fn conflict(
        &self,
        endpoint: &Endpoint,
        event: &NewEvent,
        first: &Existing,
    ) -> Result<EventReceipt, Fault> {
        warn!(
            endpoint = &*endpoint.name,
            event_id = event.key.event_id,
            event_type = event.event_type,
            first_received_at = %first.received_at.to_rfc3339(),
            "event.conflict"
        );
        let kept = Quarantined {
            provider: Arc::clone(&event.key.provider),
            endpoint: Arc::clone(&event.key.endpoint),
            reason: "conflict",
            hint: None,
            detail: "the same event id came before with another body; the first one is kept".into(),
            event_id: Some(event.key.event_id.clone()),
            headers: Arc::clone(&event.headers),
            body: event.body.clone(),
            body_sha256: event.body_sha256,
            digest: event.body_sha256,
            verified: true,
            request_id: event.request_id,
            sent: None,
            age: Duration::ZERO,
        };
        match self.inbox.quarantine(&kept).await {
            Ok(()) => Ok(EventReceipt::known(event, Outcome::Conflict, first.received_at)),
            Err(error) => Err(Fault::Busy { code: error.code() }),
        }
    }

    pub(super) fn duplicate(endpoint: &Endpoint, event: &NewEvent, first: Timestamp) -> EventReceipt {
        info!(
            endpoint = &*endpoint.name,
            event_id = event.key.event_id,
            event_type = event.event_type,
            duplicate = true,
            first_received_at = %first.to_rfc3339(),
            "event.duplicate"
        );
        EventReceipt::known(event, Outcome::Duplicate, first)
    }
}

/// Whether the row that was there holds another body than this event.
pub(super) fn is_conflict(endpoint: &Endpoint, event: &NewEvent, existing: &Existing) -> bool {
    match &existing.body {
        Some(first) if existing.body_sha256 != event.body_sha256 => {
            !first.is_empty() && !mapping::same_event(first, &event.body, &endpoint.provider)
        }
        _ => false,
    }
}
