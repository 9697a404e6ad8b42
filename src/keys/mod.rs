//! What verification needs and does not have: keys that providers publish, their word that an event is true, and the
//! secrets that they hand over in band.
//!
//! Who acts: `receive`, when `verify` says that it needs something. What holds: only hosts that the definition names are
//! asked, at addresses that the guard admits; many requests for one key cost one fetch; a stranger who makes up key
//! ids costs one fetch a minute; an answer is read up to [`crate::verify::MAX_FETCHED`] bytes within
//! [`LIMIT`]. Kept answers are short of a key at most for a minute after it was published, and outlive the provider's
//! outage by a day. What is absent: what an answer means (`verify` says), the inbox.

mod budget;
mod cache;
mod exchange;
mod learned;
mod token;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OnceCell, Semaphore};

use crate::clock::Timestamp;
use crate::egress::Network;
use crate::verify::{Answer, Identity, KeyRequest};
use budget::{Budgets, Ticket};
use cache::{Cache, Known};
use exchange::Got;
use token::Tokens;

pub use learned::LearnedKeys;

pub(crate) use exchange::Exchange;

/// How long a fetch may take, from the look-up of the name to the last byte.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Requests that ask a provider about one event each, at one time and for one endpoint.
const ASKING: usize = 8;

/// Gets keys, keeps them, and asks providers about events.
pub struct Keys {
    exchange: Exchange,
    tokens: Tokens,
    cache: Mutex<Cache>,
    budgets: Arc<Budgets>,
    flights: Mutex<HashMap<Identity, Arc<OnceCell<Answer>>>>,
    asking: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Keys {
    /// Over a network: `Network::default()` but in tests. `https` without root certificates fails when it is used.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        Self {
            exchange: Exchange::new(network),
            tokens: Tokens::default(),
            cache: Mutex::default(),
            budgets: Arc::default(),
            flights: Mutex::default(),
            asking: Mutex::default(),
        }
    }

    /// The answer to what `endpoint` needs: a kept one if that will do, else a new one.
    pub async fn answer(&self, endpoint: &str, request: &KeyRequest, now: Timestamp) -> Answer {
        if request.cache.is_none() {
            return self.ask(endpoint, request, now).await;
        }
        match self.known(request, now) {
            Some(answer) => answer,
            None => self.fetch_once(endpoint, request, now).await,
        }
    }

    fn known(&self, request: &KeyRequest, now: Timestamp) -> Option<Answer> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get(&request.identity(), request.renew, now)
    }

    /// One fetch for all who wait for the same.
    async fn fetch_once(&self, endpoint: &str, request: &KeyRequest, now: Timestamp) -> Answer {
        let identity = request.identity();
        let flight = {
            let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(flights.entry(identity).or_default())
        };
        let answer = flight.get_or_init(|| self.fetch(endpoint, request, now)).await.clone();
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        if flights.get(&identity).is_some_and(|known| Arc::ptr_eq(known, &flight)) {
            flights.remove(&identity);
        }
        answer
    }

    async fn fetch(&self, endpoint: &str, request: &KeyRequest, now: Timestamp) -> Answer {
        let identity = request.identity();
        // Whoever was first may have ended between this one's look and its turn.
        if let Some(answer) = self.known(request, now) {
            return answer;
        }
        let refused = "this endpoint asked for a key that the provider does not have, or asks for another at the \
                       moment; the next fetch may come within a minute";
        let Some(ticket) = self.budgets.take(endpoint, now) else {
            return self.stale(&identity, now).unwrap_or_else(|| Answer::Failed(refused.into()));
        };
        let got = self.send(request, now).await;
        self.keep(&identity, request, got, ticket, now)
    }

    fn keep(
        &self,
        identity: &Identity,
        request: &KeyRequest,
        got: Got,
        ticket: Ticket,
        now: Timestamp,
    ) -> Answer {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        match Known::of(got, request.cache.unwrap_or_default()) {
            Known::Key { body, age } => {
                ticket.fruitful(request.renew, now);
                cache.put(*identity, body.clone(), age, now);
                Answer::Reply { status: 200, body, fresh: true }
            }
            Known::NoSuchKey { status } => {
                ticket.unfruitful(now);
                cache.put_missing(*identity, status, now);
                Answer::Reply { status, body: bytes::Bytes::new(), fresh: true }
            }
            Known::Failed(why) => {
                ticket.failed(now);
                cache.put_failure(*identity, &why, now);
                cache.stale(identity, now).unwrap_or(Answer::Failed(why))
            }
        }
    }

    fn stale(&self, identity: &Identity, now: Timestamp) -> Option<Answer> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).stale(identity, now)
    }

    /// Asks about one event: the answer belongs to this request and is not kept.
    async fn ask(&self, endpoint: &str, request: &KeyRequest, now: Timestamp) -> Answer {
        let slots = {
            let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
            let slots = asking.entry(endpoint.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(ASKING)));
            Arc::clone(slots)
        };
        let Ok(_slot) = slots.try_acquire() else {
            return Answer::Failed(format!("{ASKING} questions to the provider are open already"));
        };
        if !self.budgets.may_ask(endpoint, now) {
            let why = "the provider did not know what this endpoint asked for again and again: asking pauses for a minute";
            return Answer::Failed(why.into());
        }
        match self.send(request, now).await {
            Ok(got) => {
                if matches!(got.status, 404 | 410) {
                    self.budgets.asked_in_vain(endpoint, now);
                }
                Answer::Reply { status: got.status, body: got.body, fresh: true }
            }
            Err(fault) => Answer::Failed(fault.to_string()),
        }
    }

    /// One request, with the token that it needs.
    async fn send(&self, request: &KeyRequest, now: Timestamp) -> Got {
        let Some(oauth) = &request.oauth else { return self.exchange.send(request, None).await };
        let token = self.tokens.get(oauth, request.allow_private, &self.exchange, now).await?;
        let got = self.exchange.send(request, Some(&token)).await?;
        if got.status != 401 {
            return Ok(got);
        }
        // It was taken back before its time: once more with a new one.
        self.tokens.forget(oauth);
        let token = self.tokens.get(oauth, request.allow_private, &self.exchange, now).await?;
        self.exchange.send(request, Some(&token)).await
    }
}
