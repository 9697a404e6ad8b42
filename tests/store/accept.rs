//! Events that become durable.

use hookgate::store::{Insertion, Quarantined, RowState, StoreError};
use std::sync::Arc;
use uuid::Uuid;

use super::fixture::{Fixture, event, existing, time, with_body};
use crate::support::database::{Engine, both_engines};

both_engines!(
    an_event_is_kept_byte_for_byte,
    a_second_copy_meets_the_first,
    another_body_under_the_same_id_brings_the_first_body_back,
    twins_in_one_batch_are_one_row,
    a_batch_is_numbered_in_the_order_of_arrival,
    another_endpoint_or_provider_is_another_event,
    a_refused_event_takes_its_batch_with_it_and_nothing_else,
    a_time_of_nonsense_is_no_time,
    a_genuine_request_is_quarantined_once,
    batches_with_the_same_keys_at_once_are_all_accepted,
);

async fn an_event_is_kept_byte_for_byte(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = with_body("evt_1", b"{\"a\":\"\\u0000\"}\xff\x00 \r\n");
    let Insertion::Inserted { received_at } = fixture.accept(&event).await else {
        panic!("the event is new")
    };
    let found = fixture.store.ledger.find(&event.key).await.unwrap().expect("the event is there");
    assert_eq!(found.key, event.key);
    assert_eq!(found.body, event.body);
    assert_eq!(found.headers, event.headers);
    assert_eq!(found.event_type, event.event_type);
    assert_eq!(found.occurred_at, event.occurred_at);
    assert_eq!(found.received_at, received_at);
    assert_eq!(found.account, event.account);
    assert_eq!(found.ordering_key, event.ordering_key);
    assert_eq!(found.content_type, event.content_type);
    assert_eq!(found.trace_context, event.trace_context);
    let request =
        format!("SELECT count(*) FROM webhook_inbox WHERE CAST(request_id AS text) = '{}'", event.request_id);
    assert_eq!(fixture.raw.count(&request).await, 1);
}

async fn a_second_copy_meets_the_first(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = event("evt_1");
    let Insertion::Inserted { received_at } = fixture.accept(&event).await else {
        panic!("the event is new")
    };
    let first = existing(fixture.accept(&event).await);
    assert_eq!(first.received_at, received_at);
    assert_eq!(first.state, RowState::Unprocessed);
    assert_eq!(first.body_sha256, event.body_sha256);
    assert_eq!(first.body, None);
    fixture.claim_one().await;
    assert_eq!(existing(fixture.accept(&event).await).state, RowState::Leased);
    fixture.expire("webhook_inbox").await;
    assert_eq!(existing(fixture.accept(&event).await).state, RowState::Unprocessed);
    let leased = fixture.claim_one().await;
    super::fixture::settle_as_done(&fixture, &leased).await;
    assert_eq!(existing(fixture.accept(&event).await).state, RowState::Processed);
}

async fn another_body_under_the_same_id_brings_the_first_body_back(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept(&with_body("evt_1", b"first")).await;
    let first = existing(fixture.accept(&with_body("evt_1", b"second")).await);
    assert_eq!(first.body.as_deref(), Some(b"first".as_slice()));
    let twice = [with_body("evt_1", b"first"), with_body("evt_1", b"third"), with_body("evt_1", b"first")];
    let answers = fixture.store.inbox.accept(&twice).await.unwrap();
    let bodies: Vec<_> = answers.into_iter().map(|answer| existing(answer).body).collect();
    assert_eq!(bodies, [None, Some("first".into()), None]);
}

async fn twins_in_one_batch_are_one_row(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let batch =
        [with_body("evt_1", b"one"), event("evt_2"), with_body("evt_1", b"one"), with_body("evt_1", b"two")];
    let mut answers = fixture.store.inbox.accept(&batch).await.unwrap().into_iter();
    let Some(Insertion::Inserted { received_at }) = answers.next() else { panic!("the first copy is new") };
    assert!(matches!(answers.next(), Some(Insertion::Inserted { .. })));
    let twin = existing(answers.next().unwrap());
    assert_eq!((twin.received_at, twin.state, twin.body), (received_at, RowState::Unprocessed, None));
    let conflict = existing(answers.next().unwrap());
    assert_eq!(conflict.body.as_deref(), Some(b"one".as_slice()));
    assert!(answers.next().is_none());
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 2);
}

async fn a_batch_is_numbered_in_the_order_of_arrival(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_c", "evt_a", "evt_d", "evt_b"]).await;
    fixture.accept_ids(&["evt_0", "evt_a", "evt_1"]).await;
    let rows = fixture.raw.pairs("SELECT event_id, event_type FROM webhook_inbox ORDER BY seq").await;
    let order: Vec<_> = rows.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(order, ["evt_c", "evt_a", "evt_d", "evt_b", "evt_0", "evt_1"]);
}

async fn another_endpoint_or_provider_is_another_event(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let here = event("evt_1");
    let mut there = event("evt_1");
    there.key.endpoint = "other".into();
    let mut elsewhere = event("evt_1");
    elsewhere.key.provider = "github".into();
    for event in [&here, &there, &elsewhere] {
        assert!(matches!(fixture.accept(event).await, Insertion::Inserted { .. }));
    }
}

async fn a_refused_event_takes_its_batch_with_it_and_nothing_else(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let mut poisoned = event("evt_2");
    poisoned.event_type = "with\0nul".into();
    let batch = [event("evt_1"), poisoned.clone(), event("evt_3")];
    let refused = fixture.store.inbox.accept(&batch).await;
    assert!(matches!(refused, Err(StoreError::Sql { code: Some(_), .. })), "{refused:?}");
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 0);
    for (event, is_taken) in [(&batch[0], true), (&poisoned, false), (&batch[2], true)] {
        assert_eq!(fixture.store.inbox.accept(std::slice::from_ref(event)).await.is_ok(), is_taken);
    }
}

async fn a_time_of_nonsense_is_no_time(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let mut event = event("evt_1");
    event.occurred_at = Some(time("2026-01-01T00:00:00Z") + chrono::Duration::days(20_000_000));
    fixture.accept(&event).await;
    assert_eq!(fixture.store.ledger.find(&event.key).await.unwrap().unwrap().occurred_at, None);
}

async fn a_genuine_request_is_quarantined_once(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = event("evt_1");
    let mut kept = Quarantined {
        provider: "stripe".into(),
        endpoint: "billing".into(),
        reason: "conflict",
        hint: None,
        detail: "the same id with another body".into(),
        event_id: Some("evt\0_1".into()),
        headers: Arc::clone(&event.headers),
        body: event.body.clone(),
        body_sha256: event.body_sha256,
        digest: event.body_sha256,
        verified: true,
        request_id: Uuid::now_v7(),
        sent: None,
        age: std::time::Duration::ZERO,
    };
    fixture.store.inbox.quarantine(&kept).await.unwrap();
    fixture.store.inbox.quarantine(&kept).await.unwrap();
    assert_eq!(fixture.raw.count("SELECT count(*) FROM quarantine").await, 1);
    assert_eq!(fixture.raw.count("SELECT copies FROM quarantine").await, 2);
    kept.reason = "no_event_id";
    fixture.store.inbox.quarantine(&kept).await.unwrap();
    assert_eq!(fixture.raw.count("SELECT count(*) FROM quarantine").await, 2);
    // The same bytes under a second id contradict a second event.
    kept.event_id = Some("evt_2".into());
    fixture.store.inbox.quarantine(&kept).await.unwrap();
    assert_eq!(fixture.raw.count("SELECT count(*) FROM quarantine").await, 3);
    assert_eq!(fixture.raw.bytes("SELECT body FROM quarantine").await[0], event.body);
}

async fn batches_with_the_same_keys_at_once_are_all_accepted(engine: Engine) {
    let fixture = Arc::new(Fixture::new(engine).await);
    let mut tasks = tokio::task::JoinSet::new();
    for round in 0..4 {
        for reversed in [false, true] {
            let fixture = Arc::clone(&fixture);
            tasks.spawn(async move {
                let mut batch: Vec<_> = (0..50).map(|n| event(&format!("evt_{round}_{n}"))).collect();
                if reversed {
                    batch.reverse();
                }
                fixture.store.inbox.accept(&batch).await.map(|answers| answers.len())
            });
        }
    }
    while let Some(result) = tasks.join_next().await {
        assert_eq!(result.unwrap().unwrap(), 50);
    }
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 200);
}
