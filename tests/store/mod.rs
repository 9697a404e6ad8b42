//! The store's conformance suite: every behaviour on both engines, a new database for each test.

mod accept;
mod circuits;
mod events;
mod exchanges;
mod fairness;
mod fixture;
mod guards;
mod in_order;
mod learned;
mod ledger;
mod operations;
mod order;
mod outbox;
mod pauses;
mod pooler;
mod postgres;
mod prune;
mod quarantine;
mod replays;
mod requests;
mod schema;
mod sqlite;
mod unit;
