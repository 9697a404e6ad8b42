//! A migrated store, and events to put into it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hookgate::clock::Timestamp;
use hookgate::config::{self, DatabaseUrl};
use hookgate::model::{DueEvent, Event, EventKey, Headers, Leased, NewEvent};
use hookgate::store::{self, Existing, Finish, Insertion, Lane, Sql, Store};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::support::database::{Database, Engine};
use crate::support::pooler;

/// Longer than anything takes here.
pub const LONG: Duration = Duration::from_secs(30);

pub const DONE: Finish = Finish { outcome: "processed", review_reason: None };

pub struct Fixture {
    pub engine: Engine,
    /// Questions past the store.
    pub raw: Database,
    pub config: config::Database,
    pub store: Store,
}

impl Fixture {
    pub async fn new(engine: Engine) -> Self {
        let raw = Database::new(engine).await;
        let config = config(&raw);
        store::migrate(&config).await.expect("migrate");
        let store = store::connect(&config).await.expect("connect");
        Self { engine, raw, config, store }
    }

    /// Accepts one event.
    pub async fn accept(&self, event: &NewEvent) -> Insertion {
        self.store.inbox.accept(std::slice::from_ref(event)).await.expect("accept").remove(0)
    }

    /// Accepts events with these ids.
    pub async fn accept_ids(&self, ids: &[&str]) {
        let events: Vec<NewEvent> = ids.iter().map(|id| event(id)).collect();
        self.store.inbox.accept(&events).await.expect("accept");
    }

    pub async fn claim(&self, limit: u32) -> Vec<Leased<DueEvent>> {
        self.store.events.claim(limit, &[lane("billing", limit)]).await.expect("claim")
    }

    pub async fn claim_one(&self) -> Leased<DueEvent> {
        let mut claimed = self.claim(1).await;
        assert_eq!(claimed.len(), 1, "one row is due");
        claimed.remove(0)
    }

    /// Ends all leases of a table: what happens when a worker dies.
    pub async fn expire(&self, table: &str) {
        let past = self.dialect("now() - interval '1 second'", "'2000-01-01T00:00:00.000Z'");
        self.raw
            .execute(&format!("UPDATE {table} SET lease_until = {past} WHERE lease_until IS NOT NULL"))
            .await;
    }

    /// Does the whole unit of work of an event without handlers.
    pub async fn process(&self, event: &NewEvent) {
        let mut unit = self.store.inbox.begin(LONG).await.expect("begin");
        unit.insert(event).await.expect("insert");
        unit.finish(&event.key, &DONE).await.expect("finish");
        unit.commit().await.expect("commit");
    }

    /// Writes one message for a destination (or for the user's own relay) in the unit of work of a new event.
    pub async fn message(&self, id: &str, destination: Option<&str>) {
        let event = event(id);
        let mut unit = self.store.inbox.begin(LONG).await.expect("begin");
        unit.insert(&event).await.expect("insert");
        unit.enter(&stored(&event), "notify", LONG).await.expect("enter");
        unit.execute(BARE_MESSAGE, &[]).await.expect("insert the message");
        unit.leave().await.expect("leave");
        let emitted = unit.emitted(&event.key).await.expect("emitted");
        if let Some(destination) = destination {
            unit.address(emitted[0].id, &[(destination, &format!("msg_{id}"))]).await.expect("address");
        }
        unit.finish(&event.key, &DONE).await.expect("finish");
        unit.commit().await.expect("commit");
    }

    pub fn dialect<'a>(&self, postgres: &'a str, sqlite: &'a str) -> &'a str {
        match self.engine {
            Engine::Postgres => postgres,
            Engine::Sqlite => sqlite,
        }
    }
}

/// What a handler's author would write.
pub const BARE_MESSAGE: Sql = Sql {
    postgres: r#"INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload) VALUES ('Invoice', 'in_1', 'Booked', '{"amount": 5}')"#,
    sqlite: r#"INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload) VALUES ('Invoice', 'in_1', 'Booked', '{"amount": 5}')"#,
};

/// The same text in both dialects.
pub fn sql(text: &'static str) -> Sql {
    Sql { postgres: text, sqlite: text }
}

pub fn config(database: &Database) -> config::Database {
    let url = match database.url.strip_prefix("sqlite://") {
        Some(path) => DatabaseUrl::Sqlite(PathBuf::from(path)),
        None => DatabaseUrl::Postgres(pooler::of_this_run(&database.url)),
    };
    config::Database { url, max_connections: 4, migrate: true }
}

pub fn lane(name: &str, limit: u32) -> Lane {
    Lane {
        name: name.into(),
        limit,
        lease: Duration::from_mins(1),
        max_attempts: 3,
        breaker: true,
        order: None,
        skips_dead: false,
        takers: Vec::new(),
    }
}

pub fn key(id: &str) -> EventKey {
    EventKey { provider: "stripe".into(), endpoint: "billing".into(), event_id: id.into() }
}

pub fn event(id: &str) -> NewEvent {
    with_body(id, format!(r#"{{"id":"{id}"}}"#).as_bytes())
}

/// Of another endpoint and type.
pub fn event_at(endpoint: &str, event_type: &str, id: &str) -> NewEvent {
    let event = event(id);
    let key = EventKey { endpoint: endpoint.into(), ..event.key };
    NewEvent { key, event_type: event_type.into(), ..event }
}

pub fn with_body(id: &str, body: &[u8]) -> NewEvent {
    let mut headers = Headers::new();
    headers.push("content-type", "application/json");
    headers.push("x-odd", vec![0xff, b'a']);
    NewEvent {
        key: key(id),
        event_type: "invoice.paid".into(),
        occurred_at: Some(time("2026-01-31T12:34:56.789Z")),
        account: Some("acct_1".into()),
        ordering_key: Some("in_1".into()),
        ordered: false,
        version: None,
        content_type: Some("application/json".into()),
        headers: Arc::new(headers),
        body: Bytes::copy_from_slice(body),
        body_sha256: Sha256::digest(body).into(),
        request_id: Uuid::now_v7(),
        item_index: 0,
        request: None,
        trace_context: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into()),
    }
}

/// The event as a handler gets it.
pub fn stored(event: &NewEvent) -> Event {
    Event {
        key: event.key.clone(),
        event_type: event.event_type.clone(),
        occurred_at: event.occurred_at,
        received_at: time("2026-02-01T00:00:00.123Z"),
        account: event.account.clone(),
        ordering_key: event.ordering_key.clone(),
        version: event.version,
        content_type: event.content_type.clone(),
        headers: Arc::clone(&event.headers),
        body: event.body.clone(),
        document: None,
        trace_context: event.trace_context.clone(),
    }
}

pub fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// The row that was there before.
pub fn existing(insertion: Insertion) -> Existing {
    match insertion {
        Insertion::Existing(existing) => existing,
        Insertion::Inserted { .. } => panic!("the event is new"),
    }
}

pub fn ids(claimed: &[Leased<DueEvent>]) -> Vec<&str> {
    claimed.iter().map(|leased| leased.item.event_id.as_str()).collect()
}

/// Locks a claimed row and finishes it.
pub async fn settle_as_done(fixture: &Fixture, leased: &Leased<DueEvent>) {
    let mut unit = fixture.store.inbox.begin(LONG).await.expect("begin");
    unit.lock(leased).await.expect("lock");
    unit.finish(&leased.item, &DONE).await.expect("finish");
    unit.commit().await.expect("commit");
}

/// So long for events, and for ever for everything else.
pub fn retention(payload: Duration, keys: Duration) -> config::Retention {
    let other = Duration::from_hours(24 * 366 * 100);
    config::Retention {
        payload,
        keys,
        outbox: other,
        attempts: other,
        quarantine: other,
        audit: other,
        replays: other,
    }
}
