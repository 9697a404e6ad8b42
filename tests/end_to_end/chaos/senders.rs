//! Providers: each sends event after event, again and again until it has a success, and sometimes too often.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::history::{History, Sent};
use super::kinds::Kind;
use crate::support::{http, stripe};

/// An endpoint of a story.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// Its name.
    pub name: &'static str,
    /// Its path.
    pub path: &'static str,
    /// Whether it answers before the work is done.
    pub is_async: bool,
}

/// All that the senders share.
pub struct Senders<'a> {
    /// What they write down.
    pub history: &'a History,
    /// Where the gateways are, while they are.
    pub places: Vec<watch::Receiver<Option<SocketAddr>>>,
    /// What they choose among.
    pub endpoints: &'a [Endpoint],
    /// Chooses an event's kind.
    pub kinds: fn(&mut StdRng) -> Kind,
    /// Kinds to be sent next, before those that chance chooses.
    pub orders: Mutex<VecDeque<Kind>>,
    /// Between two events of one sender, in milliseconds.
    pub pause: std::ops::Range<u64>,
}

/// One body for one endpoint, with what is to become of it.
struct Letter {
    endpoint: Endpoint,
    kind: Kind,
    id: String,
    body: Vec<u8>,
}

impl Senders<'_> {
    /// `count` of them work until told to stop. Each ends when its last event has been acknowledged.
    pub async fn run(&self, count: u64, seed: u64, stopped: &watch::Receiver<bool>) {
        let sender = async |number: u64| {
            let mut random = StdRng::seed_from_u64(seed.wrapping_mul(1_000).wrapping_add(number));
            for event in 0_u64.. {
                if *stopped.borrow() {
                    return;
                }
                self.event(&format!("{number}_{event}"), &mut random).await;
                // A pace, not a wait for a condition.
                tokio::time::sleep(Duration::from_millis(random.random_range(self.pause.clone()))).await;
            }
        };
        join_all((0..count).map(sender)).await;
    }

    /// The next event is to be of this kind.
    pub fn order(&self, kind: Kind) {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).push_back(kind);
    }

    /// The whole story of one event.
    async fn event(&self, name: &str, random: &mut StdRng) {
        let letter = self.letter(&format!("evt_{name}"), random);
        if random.random_bool(0.02) {
            self.forgery(&letter, name, random).await;
        }
        if random.random_bool(0.05) {
            // Twins: two copies at the same time, to whichever gateways.
            let mut other = StdRng::seed_from_u64(random.random());
            tokio::join!(self.deliver(&letter, random), self.deliver(&letter, &mut other));
        } else {
            self.deliver(&letter, random).await;
        }
        if random.random_bool(0.05) {
            self.deliver(&letter, random).await;
        }
        if random.random_bool(0.01) {
            let altered = Letter { body: body(&letter.id, letter.kind, random), ..letter };
            self.deliver(&altered, random).await;
        }
    }

    fn letter(&self, id: &str, random: &mut StdRng) -> Letter {
        let ordered = self.orders.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let kind = ordered.unwrap_or_else(|| (self.kinds)(random));
        let fitting: Vec<&Endpoint> =
            self.endpoints.iter().filter(|endpoint| endpoint.is_async || !kind.needs_a_worker()).collect();
        let endpoint = *fitting[random.random_range(0..fitting.len())];
        Letter { endpoint, kind, id: id.to_owned(), body: body(id, kind, random) }
    }

    /// A stranger's request, under a made-up id or under that of an event that is about to come. Once.
    async fn forgery(&self, letter: &Letter, name: &str, random: &mut StdRng) {
        let id = if random.random_bool(0.5) { letter.id.clone() } else { format!("evt_forged_{name}") };
        let forged = Letter { body: body(&id, letter.kind, random), id, ..*letter };
        let signature = stripe::signature_at("whsec_a_stranger_guesses", &forged.body, stripe::now());
        self.attempt(&forged, &signature, false, random).await;
    }

    /// Until it is acknowledged.
    async fn deliver(&self, letter: &Letter, random: &mut StdRng) {
        loop {
            let signature = stripe::signature(&letter.body);
            if self.attempt(letter, &signature, true, random).await {
                return;
            }
            // A provider's pause before the redelivery, much shortened.
            tokio::time::sleep(Duration::from_millis(random.random_range(20..200))).await;
        }
    }

    /// One request to any gateway that is there. One in thirty is cut by an impatient client.
    async fn attempt(&self, letter: &Letter, signature: &str, genuine: bool, random: &mut StdRng) -> bool {
        let gateway = random.random_range(0..self.places.len());
        let Some(to) = *self.places[gateway].borrow() else { return false };
        let sent = Sent {
            attempt: 0,
            at: 0,
            gateway,
            endpoint: letter.endpoint.name.to_owned(),
            event: letter.id.clone(),
            sha256: hex::encode(Sha256::digest(&letter.body)),
            genuine,
            due: letter.kind.due(),
        };
        let number = self.history.sent(sent).await;
        let headers: [(&str, &[u8]); 1] = [("stripe-signature", signature.as_bytes())];
        let (path, body) = (letter.endpoint.path, letter.body.clone());
        let (status, outcome) = if random.random_bool(0.03) {
            let patience = Duration::from_millis(random.random_range(1..40));
            http::post_and_hang_up(to, path, &headers, body, patience).await;
            (None, "hung up".to_owned())
        } else {
            match http::post(to, path, &headers, body).await {
                Ok(answer) => (Some(answer.status.as_u16()), answer.outcome().to_owned()),
                Err(error) => (None, error),
            }
        };
        self.history.ended(number, status, outcome).await;
        status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// Mostly small, now and then large, never twice the same.
fn body(id: &str, kind: Kind, random: &mut StdRng) -> Vec<u8> {
    let length = if random.random_bool(0.02) { 40_000 } else { random.random_range(0..600) };
    let note: String = (0..length).map(|_| random.random_range('!'..'ÿ')).collect();
    let customer = random.random_range(0..50);
    let object = serde_json::json!({ "id": format!("cus_{customer}"), "note": note });
    stripe::event(id, kind.event_type(), &object)
}
