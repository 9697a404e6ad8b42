//! The requests of batches: kept once, with the first of their events, until the last one's payload goes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hookgate::config::Retention;
use hookgate::model::{BatchRequest, NewEvent};
use hookgate::store::Insertion;
use uuid::Uuid;

use super::fixture::{DONE, Fixture, LONG, event};
use crate::support::database::{Engine, both_engines};

both_engines!(
    a_request_is_kept_once_with_the_events_it_brought,
    a_request_that_brought_nothing_new_is_not_kept,
    a_refused_event_leaves_no_request,
    units_of_work_keep_the_request_with_the_first_that_commits,
    a_request_goes_with_its_last_payload,
    any_number_of_gateways_drop_every_request,
);

const REQUESTS: &str = "SELECT count(*) FROM webhook_requests";

/// Items of one request.
fn batch(ids: &[&str]) -> Vec<NewEvent> {
    let mut events: Vec<NewEvent> = ids.iter().map(|id| event(id)).collect();
    let (id, headers) = (Uuid::now_v7(), Arc::clone(&events[0].headers));
    let body = Bytes::from(format!("[{}]", ids.join(",")));
    let request = Arc::new(BatchRequest { id, endpoint: "billing".into(), headers, body });
    for (index, event) in (1..).zip(&mut events) {
        (event.request_id, event.item_index, event.request) = (id, index, Some(Arc::clone(&request)));
    }
    events
}

fn is_new(insertions: &[Insertion]) -> Vec<bool> {
    insertions.iter().map(|insertion| matches!(insertion, Insertion::Inserted { .. })).collect()
}

async fn a_request_is_kept_once_with_the_events_it_brought(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let mut events = batch(&["a", "b", "c"]);
    events.push(event("single"));
    events.extend(batch(&["d"]));
    let answers = fixture.store.inbox.accept(&events).await.expect("accepts");
    assert_eq!(is_new(&answers), [true; 5]);
    let bodies = fixture.raw.bytes("SELECT body FROM webhook_requests ORDER BY length(body)").await;
    assert_eq!(bodies, [b"[d]".to_vec(), b"[a,b,c]".to_vec()]);
    let same = "SELECT count(*) FROM webhook_inbox i JOIN webhook_requests r ON r.id = i.request_id \
                AND r.headers = i.headers AND r.endpoint = i.endpoint WHERE i.item_index > 0";
    assert_eq!(fixture.raw.count(same).await, 4);
}

async fn a_request_that_brought_nothing_new_is_not_kept(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.store.inbox.accept(&batch(&["a", "b"])).await.expect("accepts");
    let again = fixture.store.inbox.accept(&batch(&["b", "a"])).await.expect("accepts");
    assert_eq!(is_new(&again), [false, false]);
    assert_eq!(fixture.raw.count(REQUESTS).await, 1);
    let partly = fixture.store.inbox.accept(&batch(&["a", "c"])).await.expect("accepts");
    assert_eq!(is_new(&partly), [false, true]);
    assert_eq!(fixture.raw.count(REQUESTS).await, 2);
}

async fn a_refused_event_leaves_no_request(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let mut events = batch(&["a", "b"]);
    events[1].event_type = "with\0nul".into();
    fixture.store.inbox.accept(&events).await.expect_err("refused");
    assert_eq!(fixture.raw.count(REQUESTS).await, 0);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 0);
    fixture.store.inbox.accept(&batch(&["a"])).await.expect("the connection is whole");
}

async fn units_of_work_keep_the_request_with_the_first_that_commits(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let events = batch(&["a", "b", "c"]);
    let mut unit = fixture.store.inbox.begin(LONG).await.expect("begins");
    unit.insert(&events[0]).await.expect("inserts");
    unit.rollback().await;
    assert_eq!(fixture.raw.count(REQUESTS).await, 0);
    for event in &events[1..] {
        fixture.process(event).await;
        assert_eq!(fixture.raw.count(REQUESTS).await, 1);
    }
}

const LATER: Duration = Duration::from_hours(10);
const NOW: Retention = Retention {
    payload: Duration::from_hours(1),
    keys: Duration::from_hours(2),
    outbox: LATER,
    attempts: LATER,
    quarantine: LATER,
    audit: LATER,
    replays: LATER,
};

async fn age(fixture: &Fixture, which: &str, hours: u32) {
    let past = match fixture.engine {
        Engine::Postgres => format!("now() - interval '{hours} h 1 s'"),
        Engine::Sqlite => format!("strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-{hours} hours', '-1 seconds')"),
    };
    let sql = format!("UPDATE webhook_inbox SET received_at = {past} WHERE event_id LIKE '{which}'");
    fixture.raw.execute(&sql).await;
}

async fn a_request_goes_with_its_last_payload(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let events = batch(&["a", "b", "c"]);
    fixture.store.inbox.accept(&events).await.expect("accepts");
    let prune = async || fixture.store.ledger.prune(&NOW, 10).await.expect("prunes");
    for leased in fixture.claim(2).await {
        let mut unit = fixture.store.inbox.begin(LONG).await.expect("begins");
        unit.lock(&leased).await.expect("locks");
        unit.finish(&leased.item, &DONE).await.expect("finishes");
        unit.commit().await.expect("commits");
    }
    // One is emptied, one deleted with all that it has; the third is not done.
    age(&fixture, "a", 1).await;
    age(&fixture, "b", 2).await;
    age(&fixture, "c", 2).await;
    let pruned = prune().await;
    assert_eq!((pruned.deleted, pruned.emptied), (1, 1));
    assert_eq!(fixture.raw.count(REQUESTS).await, 1);
    let leased = fixture.claim_one().await;
    let mut unit = fixture.store.inbox.begin(LONG).await.expect("begins");
    unit.lock(&leased).await.expect("locks");
    unit.finish(&leased.item, &DONE).await.expect("finishes");
    unit.commit().await.expect("commits");
    assert_eq!(prune().await.deleted, 1);
    assert_eq!(fixture.raw.count(REQUESTS).await, 0);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 1);
}

async fn any_number_of_gateways_drop_every_request(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for number in 0..20 {
        let ids: Vec<String> = (0..5).map(|item| format!("{number}-{item}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        fixture.store.inbox.accept(&batch(&ids)).await.expect("accepts");
    }
    fixture.raw.execute("UPDATE webhook_inbox SET processed_at = received_at, outcome = 'processed'").await;
    age(&fixture, "%", 1).await;
    let pruner = async || while fixture.store.ledger.prune(&NOW, 3).await.expect("prunes").emptied > 0 {};
    futures_util::future::join4(pruner(), pruner(), pruner(), pruner()).await;
    assert_eq!(fixture.raw.count(REQUESTS).await, 0);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 100);
}
