//! The destinations of this process: the hands, the pace and the turn of each.
//!
//! Each destination has one hand of its own, which no other can take; all others come from `[outbox] concurrency`. So
//! any number of destinations that do not answer leave the rest a way out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::pace::Pace;
use crate::config::{Destination, OnDead};
use crate::model::{Leased, Message};
use crate::store::{InOrder, Lane};

pub(super) struct Lines {
    lines: BTreeMap<Arc<str>, Line>,
    /// Hands beyond the first of each destination.
    shared: usize,
}

/// One destination.
pub(super) struct Line {
    pub(super) destination: Arc<Destination>,
    hands: Arc<Semaphore>,
    pace: Option<Mutex<Pace>>,
    /// Of an ordered destination: the key that was served last.
    served: Mutex<Option<String>>,
}

impl Lines {
    pub(super) fn new<'a>(
        destinations: impl IntoIterator<Item = &'a Arc<Destination>>,
        shared: usize,
    ) -> Self {
        let lines = destinations.into_iter().map(|it| (Arc::clone(&it.name), Line::new(it))).collect();
        Self { lines, shared }
    }

    pub(super) fn get(&self, destination: &str) -> Option<&Line> {
        self.lines.get(destination)
    }

    /// How many loops' hands serve all of it: the shared ones, and of each destination its own. A claim can take as many
    /// again, where rows come for other destinations than those whose hands were free.
    pub(super) fn hands(&self) -> usize {
        self.shared + 2 * self.lines.len()
    }

    /// What can be claimed now, and how much in all.
    pub(super) fn lanes(&self, now: Instant) -> (Vec<Lane>, usize) {
        let spare = self.spare();
        let idle = self.lines.values().filter(|line| line.at_work() == 0).count();
        let lane = |line: &Line| {
            let hands = line.hands.available_permits().min(spare + usize::from(line.at_work() == 0));
            line.lane(hands.min(line.pace_allows(now)))
        };
        (self.lines.values().map(lane).filter(|lane| lane.limit > 0).collect(), spare + idle)
    }

    /// Takes a hand for a claimed row. Only the loop that claims does, so that there is one.
    pub(super) fn take(&self, leased: &Leased<Message>, now: Instant) -> Option<OwnedSemaphorePermit> {
        let line = self.get(&leased.item.destination)?;
        if let Some(pace) = &line.pace {
            lock(pace).take(now);
        }
        if line.destination.flow.order.is_some() {
            lock(&line.served).clone_from(&leased.item.ordering_key);
        }
        Arc::clone(&line.hands).try_acquire_owned().ok()
    }

    /// Whether a hand that comes free lets something be claimed that could not be before.
    pub(super) fn is_short_of_hands(&self, line: &Line) -> bool {
        line.hands.available_permits() == 0 || self.spare() == 0
    }

    /// Until the pace of a destination that waits for nothing else lets something go.
    pub(super) fn next_pace(&self, now: Instant) -> Option<Duration> {
        let waits =
            self.lines.values().filter(|line| line.hands.available_permits() > 0).filter_map(|line| {
                let wait = lock(line.pace.as_ref()?).wait(now);
                (!wait.is_zero()).then_some(wait)
            });
        waits.min()
    }

    fn spare(&self) -> usize {
        let taken: usize = self.lines.values().map(|line| line.at_work().saturating_sub(1)).sum();
        self.shared.saturating_sub(taken)
    }
}

impl Line {
    fn new(destination: &Arc<Destination>) -> Self {
        Self {
            destination: Arc::clone(destination),
            hands: Arc::new(Semaphore::new(destination.concurrency)),
            pace: destination.flow.rate.map(|rate| Mutex::new(Pace::new(rate, Instant::now()))),
            served: Mutex::default(),
        }
    }

    fn at_work(&self) -> usize {
        self.destination.concurrency.saturating_sub(self.hands.available_permits())
    }

    fn pace_allows(&self, now: Instant) -> usize {
        self.pace.as_ref().map_or(usize::MAX, |pace| lock(pace).free(now))
    }

    fn lane(&self, limit: usize) -> Lane {
        let Destination { name, queue, flow, .. } = &*self.destination;
        let order = flow
            .order
            .map(|on_dead| InOrder { skip_dead: on_dead == OnDead::Skip, after: lock(&self.served).clone() });
        Lane {
            name: Arc::clone(name),
            limit: limit.try_into().unwrap_or(u32::MAX),
            lease: queue.lease,
            max_attempts: queue.max_attempts,
            breaker: flow.circuit.is_some(),
            order,
            skips_dead: false,
            takers: Vec::new(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
