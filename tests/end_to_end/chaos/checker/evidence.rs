//! What the files and the database say, brought together by event.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::Files;
use crate::end_to_end::chaos::history::{self, Due, Ended, Line, Sent};
use crate::end_to_end::chaos::targets::{self, Arrival};
use crate::support::database::Database;

/// Endpoint and event id: an event's identity in a story, for all have one provider.
pub type Key = (String, String);

/// Everything.
pub struct Evidence {
    /// The genuine events that were sent.
    pub told: BTreeMap<Key, Told>,
    /// How many requests were sent.
    pub attempts: usize,
    /// The forged requests that were answered as a success.
    pub forged_accepted: Vec<String>,
    /// The rows of the inbox.
    pub rows: BTreeMap<Key, Row>,
    /// The bodies that handlers had, by hash, of each event.
    pub effects: BTreeMap<Key, Vec<String>>,
    /// The rows of the outbox.
    pub messages: Vec<Message>,
    /// What the destinations had.
    pub arrivals: Vec<Arrival>,
}

/// What the senders say of one event.
#[derive(Default)]
pub struct Told {
    /// Of the body that was sent first.
    pub sha256: String,
    /// Whether a copy was answered as a success.
    pub acknowledged: bool,
    /// What is to become of it.
    pub due: Due,
}

/// One row of the inbox.
pub struct Row {
    /// Of the body that is stored.
    pub sha256: String,
    /// `body_sha256`, in hexadecimal.
    pub noted_sha256: String,
    /// `outcome`, or empty.
    pub outcome: String,
    /// `review_at` is set.
    pub in_review: bool,
    /// `crash_attempts`
    pub crashes: u32,
}

/// One row of the outbox.
pub struct Message {
    /// The event it comes from.
    pub key: Key,
    /// Its destination.
    pub destination: String,
    /// Its `webhook-id`.
    pub id: String,
    /// `published_at` is set.
    pub published: bool,
    /// `review_at` is set.
    pub in_review: bool,
    /// `crash_attempts`
    pub crashes: u32,
}

/// Reads it.
pub async fn read(files: &Files, database: &Database) -> Evidence {
    let (sent, ended) = attempts(history::read(&files.history()));
    let mut told = BTreeMap::<Key, Told>::new();
    let mut forged_accepted = Vec::new();
    for sent in &sent {
        let accepted = ended.get(&sent.attempt).is_some_and(is_success);
        let key = (sent.endpoint.clone(), sent.event.clone());
        if sent.genuine {
            let told = told.entry(key).or_insert_with(|| Told {
                sha256: sent.sha256.clone(),
                due: sent.due.clone(),
                acknowledged: false,
            });
            told.acknowledged |= accepted;
        } else if accepted {
            forged_accepted.push(format!("{key:?}, attempt {}", sent.attempt));
        }
    }
    Evidence {
        told,
        attempts: sent.len(),
        forged_accepted,
        rows: rows(database).await,
        effects: effects(database).await,
        messages: messages(database).await,
        arrivals: targets::read(&files.arrivals()),
    }
}

/// In the order of their numbers, which is that of each event's own attempts.
fn attempts(lines: Vec<Line>) -> (Vec<Sent>, BTreeMap<u64, Ended>) {
    let (mut sent, mut ended) = (Vec::new(), BTreeMap::new());
    for line in lines {
        match line {
            Line::Sent(line) => sent.push(line),
            Line::Ended(line) => {
                ended.insert(line.attempt, line);
            }
        }
    }
    sent.sort_by_key(|sent| sent.attempt);
    (sent, ended)
}

fn is_success(ended: &Ended) -> bool {
    ended.status.is_some_and(|status| (200..300).contains(&status))
}

async fn rows(database: &Database) -> BTreeMap<Key, Row> {
    let sql = format!(
        "SELECT endpoint, event_id, {}, {}, outcome, CAST(review_at AS text), CAST(crash_attempts AS text) \
         FROM webhook_inbox",
        database.hex("body"),
        database.hex("body_sha256"),
    );
    let row = |row: Vec<String>| {
        let [endpoint, event, body, noted_sha256, outcome, review, crashes] =
            row.try_into().expect("seven columns");
        let row = Row {
            sha256: sha256_of(&body),
            noted_sha256,
            outcome,
            in_review: !review.is_empty(),
            crashes: crashes.parse().expect("a number"),
        };
        ((endpoint, event), row)
    };
    database.texts(&sql).await.into_iter().map(row).collect()
}

async fn effects(database: &Database) -> BTreeMap<Key, Vec<String>> {
    let sql = format!("SELECT endpoint, event_id, {} FROM effects", database.hex("body"));
    let mut effects = BTreeMap::<Key, Vec<String>>::new();
    for row in database.texts(&sql).await {
        let [endpoint, event, body] = row.try_into().expect("three columns");
        effects.entry((endpoint, event)).or_default().push(sha256_of(&body));
    }
    effects
}

async fn messages(database: &Database) -> Vec<Message> {
    let sql = "SELECT endpoint, event_id, destination, message_id, CAST(published_at AS text), \
               CAST(review_at AS text), CAST(crash_attempts AS text) FROM outbox";
    let message = |row: Vec<String>| {
        let [endpoint, event, destination, id, published, review, crashes] =
            row.try_into().expect("seven columns");
        Message {
            key: (endpoint, event),
            destination,
            id,
            published: !published.is_empty(),
            in_review: !review.is_empty(),
            crashes: crashes.parse().expect("a number"),
        }
    };
    database.texts(sql).await.into_iter().map(message).collect()
}

fn sha256_of(body: &str) -> String {
    hex::encode(Sha256::digest(hex::decode(body).expect("hexadecimal")))
}

impl Evidence {
    /// The ids under which each event came to each destination.
    pub fn ids(&self) -> BTreeMap<(Key, &str), BTreeSet<&str>> {
        let mut ids = BTreeMap::<_, BTreeSet<&str>>::new();
        for arrival in &self.arrivals {
            let key = (arrival.endpoint.clone(), arrival.event.clone());
            ids.entry((key, arrival.destination.as_str())).or_default().insert(&arrival.message);
        }
        ids
    }
}
