//! The invariants, over what was brought together.

use std::collections::BTreeSet;

use super::evidence::{Evidence, Key, Row, Told};
use super::{Report, Strictness};

/// How many crashes put a row aside.
const CRASHES: u32 = 5;

/// Judges everything but what the gateways said.
pub fn judge(evidence: &Evidence, strictness: Strictness, report: &mut Report) {
    receipts(evidence, report);
    effects(evidence, report);
    bytes(evidence, report);
    ends(evidence, report);
    reviews(evidence, strictness, report);
    messages(evidence, report);
    arrivals(evidence, report);
}

/// What was acknowledged is there; what is there was sent, and signed.
fn receipts(evidence: &Evidence, report: &mut Report) {
    let acknowledged = || evidence.told.iter().filter(|(_, told)| told.acknowledged).map(|(key, _)| key);
    report.count("requests", evidence.attempts);
    report.count("events acknowledged", acknowledged().count());
    report.count("events stored", evidence.rows.len());
    report.hold(
        "I2 acknowledged and lost",
        acknowledged().filter(|key| !evidence.rows.contains_key(*key)).map(show),
    );
    let known = |key: &Key| evidence.told.contains_key(key);
    let stored = evidence.rows.keys().chain(evidence.effects.keys());
    let sent = evidence.messages.iter().map(|message| &message.key);
    let strange: BTreeSet<&Key> = stored.chain(sent).filter(|key| !known(key)).collect();
    report.hold(
        "I3 foreign: stored, worked on or queued, but never genuinely sent",
        strange.into_iter().map(show),
    );
    report.hold("I3 forged and answered as a success", evidence.forged_accepted.iter().cloned());
}

/// Work that is done has its effect once; work that is not done has none.
fn effects(evidence: &Evidence, report: &mut Report) {
    let times = |key: &Key| evidence.effects.get(key).map_or(0, Vec::len);
    let done = || evidence.rows.iter().filter(|(_, row)| row.is_done());
    let undone = evidence.rows.iter().filter(|(_, row)| !row.is_done());
    report.count("effects", evidence.effects.values().map(Vec::len).sum());
    report.hold(
        "I1 doubled: more than one effect",
        evidence.effects.keys().filter(|key| times(key) > 1).map(show),
    );
    report.hold(
        "I1 done without an effect",
        done().filter(|(key, _)| times(key) == 0).map(|(key, _)| show(key)),
    );
    report.hold(
        "I1 an effect of work that is not done",
        undone.filter(|(key, _)| times(key) > 0).map(|(key, _)| show(key)),
    );
}

/// The bytes that came first are those that are kept, worked on and forwarded.
fn bytes(evidence: &Evidence, report: &mut Report) {
    let mut unequal = Vec::new();
    let mut compare = |key: &Key, sha256: &str, what: &str| {
        if evidence.told.get(key).is_some_and(|told| told.sha256 != sha256) {
            unequal.push(format!("{}: {what}", show(key)));
        }
    };
    for (key, row) in &evidence.rows {
        compare(key, &row.sha256, "stored");
        compare(key, &row.noted_sha256, "noted as the hash of what is stored");
    }
    for (key, bodies) in &evidence.effects {
        for sha256 in bodies {
            compare(key, sha256, "read by the handler");
        }
    }
    for arrival in &evidence.arrivals {
        let key = (arrival.endpoint.clone(), arrival.event.clone());
        compare(&key, &arrival.sha256, &format!("arrived at {}", arrival.destination));
    }
    report.hold("I8 other bytes than were sent first", unequal);
}

/// Nothing is left that nobody will do and nobody is asked to look at.
fn ends(evidence: &Evidence, report: &mut Report) {
    let rows = evidence.rows.iter().filter(|(_, row)| !row.is_done() && !row.in_review);
    let messages = evidence.messages.iter().filter(|message| !message.published && !message.in_review);
    let rows = rows.map(|(key, _)| format!("{} in the inbox", show(key)));
    let messages = messages.map(|message| format!("{} to {}", show(&message.key), message.destination));
    report.hold("I7 rows without an exit", rows.chain(messages));
}

/// Hopeless work waits for a person, and takes no other with it.
fn reviews(evidence: &Evidence, strictness: Strictness, report: &mut Report) {
    let none = Told::default();
    let told = |key: &Key| evidence.told.get(key).unwrap_or(&none);
    let in_review = || evidence.rows.iter().filter(|(_, row)| row.in_review);
    let excused = |row: &Row| strictness.crashes_may_hit_anybody && row.crashes >= CRASHES;
    let innocent = in_review().filter(|(key, row)| !told(key).due.hopeless && !excused(row));
    let escaped = evidence.rows.iter().filter(|(key, row)| told(key).due.hopeless && !row.in_review);
    report.count("events that wait for a person", in_review().count());
    report.count("events hit by a crash", evidence.rows.values().filter(|row| row.crashes > 0).count());
    report.hold(
        "I1 an innocent event waits for a person",
        innocent.map(|(key, row)| format!("{} after {} crashes", show(key), row.crashes)),
    );
    report.hold("I1 hopeless work that does not wait for a person", escaped.map(|(key, _)| show(key)));
    let rows = evidence.rows.iter().map(|(key, row)| (key, row.crashes));
    let crashes = rows.chain(evidence.messages.iter().map(|message| (&message.key, message.crashes)));
    let too_many = crashes.filter(|(_, crashes)| *crashes > CRASHES);
    report.hold(
        "more crashes than are allowed",
        too_many.map(|(key, crashes)| format!("{}: {crashes}", show(key))),
    );
}

/// Each event that is done has one message for each of its destinations, and no other.
fn messages(evidence: &Evidence, report: &mut Report) {
    report.count("messages", evidence.messages.len());
    report.count(
        "messages that wait for a person",
        evidence.messages.iter().filter(|message| message.in_review).count(),
    );
    let mut written: Vec<(&Key, &str)> =
        evidence.messages.iter().map(|message| (&message.key, message.destination.as_str())).collect();
    let done = evidence.told.iter().filter(|(key, _)| evidence.rows.get(*key).is_some_and(Row::is_done));
    let mut due: Vec<(&Key, &str)> = done
        .flat_map(|(key, told)| told.due.forwards.iter().map(move |destination| (key, destination.as_str())))
        .collect();
    written.sort_unstable();
    due.sort_unstable();
    let say = |(key, destination): &(&Key, &str)| format!("{} to {destination}", show(key));
    let missing = due.iter().filter(|one| written.binary_search(one).is_err()).map(say);
    report.hold("I4 done without its message", missing);
    let excess = written.iter().filter(|one| due.binary_search(one).is_err()).map(say);
    let twice = written.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| say(&pair[0]));
    report.hold("I4 a message that is not due", excess.chain(twice));
}

/// What counts as published has arrived; whatever arrived did so under one id, that of its row.
fn arrivals(evidence: &Evidence, report: &mut Report) {
    let ids = evidence.ids();
    report.count("deliveries", evidence.arrivals.len());
    report.count(
        "deliveries that were copies",
        evidence.arrivals.len() - ids.values().map(BTreeSet::len).sum::<usize>(),
    );
    let arrived = |key: &Key, destination: &str, id: &str| {
        ids.get(&(key.clone(), destination)).is_some_and(|ids| ids.contains(id))
    };
    let published = evidence.messages.iter().filter(|message| message.published);
    let vanished = published.filter(|message| !arrived(&message.key, &message.destination, &message.id));
    report.hold(
        "I4 published and never arrived",
        vanished.map(|message| format!("{} to {}", show(&message.key), message.destination)),
    );
    let several = ids.iter().filter(|(_, ids)| ids.len() > 1);
    report.hold(
        "I4 delivered under two ids",
        several.map(|((key, destination), ids)| format!("{} to {destination}: {ids:?}", show(key))),
    );
    let without = evidence.arrivals.iter().filter(|arrival| !arrival.message.starts_with("msg_"));
    report.hold(
        "I4 delivered without a message id",
        without.map(|arrival| format!("{} to {}", arrival.event, arrival.destination)),
    );
    let rows: BTreeSet<(&Key, &str, &str)> = evidence
        .messages
        .iter()
        .map(|message| (&message.key, message.destination.as_str(), message.id.as_str()))
        .collect();
    let of_row = |key: &Key, destination: &str, id: &&str| rows.contains(&(key, destination, *id));
    let without_row =
        ids.iter().filter(|((key, destination), ids)| !ids.iter().all(|id| of_row(key, destination, id)));
    report.hold(
        "I4 delivered without a row",
        without_row.map(|((key, destination), _)| format!("{} to {destination}", show(key))),
    );
}

impl Row {
    /// All handlers of a story do something.
    fn is_done(&self) -> bool {
        self.outcome == "processed"
    }
}

fn show((endpoint, event): &Key) -> String {
    format!("{endpoint}/{event}")
}
