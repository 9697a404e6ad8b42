//! What the inbox's loop may take at a moment: its own hands, and those of endpoints and handlers that have fewer.
//!
//! The claim is told how many events each of them can take, so that what it brings has a hand for each.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::{Queue as Settings, Route};
use crate::model::DueEvent;
use crate::routing::TypeGlob;
use crate::store::{Lane, Taker};

/// The endpoints that this process serves, and the hands that are free for each and for its handlers.
pub struct Shares(BTreeMap<Arc<str>, Share>);

struct Share {
    skips_dead: bool,
    hands: Option<Arc<Semaphore>>,
    handlers: Vec<Handler>,
}

struct Handler {
    name: Arc<str>,
    types: Arc<[String]>,
    globs: Vec<TypeGlob>,
    hands: Option<Arc<Semaphore>>,
}

impl Shares {
    /// `endpoints`: the name, how many of its events are worked on at once if not as many as there are hands, and
    /// whether dead events are passed over by those behind them. `handlers`: how many events each works on at once.
    pub fn new<'a>(
        endpoints: impl IntoIterator<Item = (&'a Arc<str>, Option<usize>, bool)>,
        routes: &[Route],
        handlers: &BTreeMap<String, usize>,
    ) -> Self {
        let hands: BTreeMap<&str, Arc<Semaphore>> =
            handlers.iter().map(|(name, count)| (name.as_str(), Arc::new(Semaphore::new(*count)))).collect();
        let share = |(name, concurrency, skips_dead): (&'a Arc<str>, Option<usize>, bool)| {
            let share = Share {
                skips_dead,
                hands: concurrency.map(|count| Arc::new(Semaphore::new(count))),
                handlers: handlers_of(name, routes, &hands),
            };
            (Arc::clone(name), share)
        };
        Self(endpoints.into_iter().map(share).collect())
    }

    /// What may be claimed now. Events of other endpoints are left to the gateways that serve them: this one would find
    /// no route and take them for ignored.
    pub(super) fn lanes(&self, free: u32, settings: &Settings) -> Vec<Lane> {
        let lanes = self.0.iter().map(|(name, share)| Lane {
            name: Arc::clone(name),
            limit: share.hands.as_ref().map_or(free, |hands| room(hands).min(free)),
            lease: settings.lease,
            max_attempts: settings.max_attempts,
            skips_dead: share.skips_dead,
            takers: share.handlers.iter().map(Handler::taker).collect(),
            breaker: false,
            order: None,
        });
        lanes.filter(|lane| lane.limit > 0).collect()
    }

    /// The hands for one claimed event; `None` if one is missing. Only the loop takes hands, so that what was free when
    /// it claimed is free still.
    pub(super) fn take(&self, event: &DueEvent) -> Option<Vec<OwnedSemaphorePermit>> {
        let Some(share) = self.0.get(&event.key.endpoint) else { return Some(Vec::new()) };
        let handlers = share.handlers.iter().filter(|handler| handler.wants(&event.event_type));
        let wanted = share.hands.iter().chain(handlers.filter_map(|handler| handler.hands.as_ref()));
        wanted.map(|hands| Arc::clone(hands).try_acquire_owned().ok()).collect()
    }
}

impl Handler {
    fn taker(&self) -> Taker {
        Taker {
            handler: Arc::clone(&self.name),
            types: Arc::clone(&self.types),
            room: self.hands.as_ref().map(|hands| room(hands)),
        }
    }

    fn wants(&self, event_type: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(event_type))
    }
}

/// The handlers of one endpoint, each with the globs of all its routes.
fn handlers_of(
    endpoint: &Arc<str>,
    routes: &[Route],
    hands: &BTreeMap<&str, Arc<Semaphore>>,
) -> Vec<Handler> {
    let mut types: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for route in routes.iter().filter(|route| route.endpoints.contains(endpoint)) {
        if let Some(handler) = route.handler() {
            types.entry(handler).or_default().extend(route.types.iter().cloned());
        }
    }
    let handler = |(name, types): (&str, Vec<String>)| Handler {
        name: name.into(),
        globs: types.iter().map(|glob| TypeGlob::new(glob)).collect(),
        types: types.into(),
        hands: hands.get(name).cloned(),
    };
    types.into_iter().map(handler).collect()
}

fn room(hands: &Semaphore) -> u32 {
    hands.available_permits().try_into().unwrap_or(u32::MAX)
}
