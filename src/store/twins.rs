//! Copies of one event inside one batch: only the first goes to the database.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::{Existing, Insertion, RowState};
use crate::model::{BatchRequest, EventKey, NewEvent};

/// What became of the first copies.
pub(super) type Found = HashMap<EventKey, Insertion>;

/// The first copy of each event, in order.
pub(super) fn firsts(events: &[NewEvent]) -> Vec<&NewEvent> {
    let mut seen = HashSet::new();
    events.iter().filter(|event| seen.insert(&event.key)).collect()
}

/// The requests of those that are new, each once.
pub(super) fn requests<'a>(firsts: &[&'a NewEvent], found: &Found) -> Vec<&'a BatchRequest> {
    let is_new = |event: &&&NewEvent| matches!(found.get(&event.key), Some(Insertion::Inserted { .. }));
    let mut seen = HashSet::new();
    let requests = firsts.iter().filter(is_new).filter_map(|event| event.request.as_deref());
    requests.filter(|request| seen.insert(request.id)).collect()
}

/// One answer for each event of the batch. `found` knows all keys.
pub(super) fn answer(events: &[NewEvent], found: &Found) -> Vec<Insertion> {
    let mut firsts = HashMap::new();
    let answers = events.iter().filter_map(|event| {
        let insertion = found.get(&event.key)?;
        Some(match firsts.entry(&event.key) {
            Entry::Vacant(place) => {
                place.insert(event);
                insertion.clone()
            }
            Entry::Occupied(first) => Insertion::Existing(twin(event, first.get(), insertion)),
        })
    });
    answers.collect()
}

/// A later copy, beside the first one of its batch.
fn twin(event: &NewEvent, first: &NewEvent, insertion: &Insertion) -> Existing {
    let stored = match insertion {
        Insertion::Inserted { received_at } => Existing {
            received_at: *received_at,
            body_sha256: first.body_sha256,
            body: None,
            state: RowState::Unprocessed,
        },
        Insertion::Existing(row) => row.clone(),
    };
    // Where the first copy has the stored hash, it has the stored body too, which was not read then.
    let body = (stored.body_sha256 != event.body_sha256)
        .then(|| stored.body.clone().unwrap_or_else(|| first.body.clone()));
    Existing { body, ..stored }
}
