//! Answers that are kept. Pure: time is an argument.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;

use super::exchange::Got;
use crate::clock::Timestamp;
use crate::verify::{Answer, Identity};

/// Entries; each is at most 64 KiB, and strangers can make the negative ones only.
const MAX_ENTRIES: usize = 256;
/// The shortest age, whatever the provider says: a key that may not be kept at all would be fetched for every request.
const MIN_AGE: Duration = Duration::from_mins(1);
/// For how long a provider's "there is no such key" counts.
const MISSING: Duration = Duration::from_mins(5);
/// The pause after a failure.
const FAILURE: Duration = Duration::from_secs(10);
/// For how long a key serves on while its provider cannot be asked.
const STALE: Duration = Duration::from_hours(24);
/// A set of keys that was fetched within this time is not fetched again because of a key id that it has not got.
const RENEW: Duration = Duration::from_mins(1);

/// What an answer means for the cache.
#[derive(Debug)]
pub(super) enum Known {
    /// It is a key, good for so long.
    Key { body: Bytes, age: Duration },
    /// The provider has no such key.
    NoSuchKey { status: u16 },
    /// Nobody knows.
    Failed(String),
}

impl Known {
    /// `age`: how long the definition lets it be kept.
    pub(super) fn of(got: Got, age: Duration) -> Self {
        let reply = match got {
            Ok(reply) => reply,
            Err(fault) => return Self::Failed(fault.to_string()),
        };
        match reply.status {
            200..=299 => {
                let age = reply.max_age.map_or(age, |said| said.min(age)).max(MIN_AGE);
                Self::Key { body: reply.body, age }
            }
            300..=399 => {
                Self::Failed(format!("the answer has status {}: redirects are not followed", reply.status))
            }
            401 | 403 | 408 | 425 | 429 => Self::Failed(format!("the answer has status {}", reply.status)),
            400..=499 => Self::NoSuchKey { status: reply.status },
            status => Self::Failed(format!("the answer has status {status}")),
        }
    }
}

#[derive(Default)]
pub(super) struct Cache {
    entries: HashMap<Identity, Entry>,
}

#[derive(Default)]
struct Entry {
    key: Option<Key>,
    trouble: Option<Trouble>,
    used: Timestamp,
}

struct Key {
    body: Bytes,
    fetched: Timestamp,
    age: Duration,
}

/// The last fetch brought no key.
struct Trouble {
    answer: Answer,
    until: Timestamp,
}

impl Cache {
    /// A kept answer that will do. `renew`: the kept one has been looked at and is short of the key.
    pub(super) fn get(&mut self, identity: &Identity, renew: bool, now: Timestamp) -> Option<Answer> {
        let entry = self.entries.get_mut(identity)?;
        entry.used = now;
        let trouble = entry.trouble.as_ref().filter(|trouble| now < trouble.until);
        if let Some(key) = &entry.key {
            let age = since(key.fetched, now);
            if renew {
                // No newer one will come for now, so this is as new as it gets.
                return (age < RENEW || trouble.is_some()).then(|| key.answer(true));
            }
            if age < key.age || (trouble.is_some() && age < key.age + STALE) {
                return Some(key.answer(trouble.is_some()));
            }
        }
        trouble.map(|trouble| trouble.answer.clone())
    }

    /// The key that was known, while its provider cannot be asked.
    pub(super) fn stale(&self, identity: &Identity, now: Timestamp) -> Option<Answer> {
        let key = self.entries.get(identity)?.key.as_ref()?;
        (since(key.fetched, now) < key.age + STALE).then(|| key.answer(true))
    }

    pub(super) fn put(&mut self, identity: Identity, body: Bytes, age: Duration, now: Timestamp) {
        let entry = self.entry(identity, now);
        entry.key = Some(Key { body, fetched: now, age });
        entry.trouble = None;
    }

    /// The provider has no such key, or no more: what was known counts no longer.
    pub(super) fn put_missing(&mut self, identity: Identity, status: u16, now: Timestamp) {
        let entry = self.entry(identity, now);
        entry.key = None;
        let answer = Answer::Reply { status, body: Bytes::new(), fresh: true };
        entry.trouble = Some(Trouble { answer, until: now + MISSING });
    }

    pub(super) fn put_failure(&mut self, identity: Identity, why: &str, now: Timestamp) {
        let answer = Answer::Failed(why.to_owned());
        self.entry(identity, now).trouble = Some(Trouble { answer, until: now + FAILURE });
    }

    /// Makes room first: what strangers can make goes before keys, and what was not used for longest before the rest.
    fn entry(&mut self, identity: Identity, now: Timestamp) -> &mut Entry {
        if self.entries.len() >= MAX_ENTRIES && !self.entries.contains_key(&identity) {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| (entry.key.is_some(), entry.used));
            if let Some(oldest) = oldest.map(|(identity, _)| *identity) {
                self.entries.remove(&oldest);
            }
        }
        let entry = self.entries.entry(identity).or_default();
        entry.used = now;
        entry
    }
}

impl Key {
    fn answer(&self, fresh: bool) -> Answer {
        Answer::Reply { status: 200, body: self.body.clone(), fresh }
    }
}

/// A clock that was set back makes nothing older than it is.
fn since(then: Timestamp, now: Timestamp) -> Duration {
    (now - then).to_std().unwrap_or_default()
}
