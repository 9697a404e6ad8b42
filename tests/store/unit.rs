//! Units of work: one transaction, one effect.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hookgate::store::{Finish, Insertion, Locked, Param, RowState, Sql, StoreError};

use super::fixture::{BARE_MESSAGE, DONE, Fixture, LONG, event, existing, key, sql, stored, time, with_body};
use crate::support::database::{Engine, both_engines};

both_engines!(
    the_row_and_the_effect_commit_together,
    a_dropped_unit_leaves_nothing_and_holds_nothing_up,
    a_copy_waits_for_the_first_and_finds_it_processed,
    a_copy_takes_over_when_the_first_rolls_back,
    a_copy_waits_no_longer_than_it_may,
    an_unprocessed_row_is_taken_over,
    a_row_under_a_lease_or_in_review_is_told_apart,
    a_claim_is_checked_again_under_lock,
    nothing_is_finished_twice,
    a_flagged_event_is_processed_and_needs_review,
    a_statement_beyond_the_limit_is_stopped,
    a_bare_message_gets_the_events_key,
    an_emitted_message_is_addressed_and_copied,
    a_forwarded_event_carries_all_that_a_delivery_needs,
    a_message_from_outside_is_left_alone,
    values_go_in_and_come_out,
    statements_are_checked_without_running,
    a_unit_waits_for_a_connection_no_longer_than_it_may,
);

async fn the_row_and_the_effect_commit_together(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.raw.execute("CREATE TABLE effects (event_id text NOT NULL)").await;
    for (id, is_committed) in [("evt_1", true), ("evt_2", false)] {
        let event = event(id);
        let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
        assert!(matches!(unit.insert(&event).await, Ok(Insertion::Inserted { .. })));
        unit.enter(&stored(&event), "route", LONG).await.unwrap();
        let effect = sql("INSERT INTO effects (event_id) VALUES ($1)");
        assert_eq!(unit.execute(effect, &[Param::Text(Some(id.into()))]).await.unwrap(), 1);
        unit.leave().await.unwrap();
        unit.finish(&event.key, &DONE).await.unwrap();
        if is_committed {
            unit.commit().await.unwrap();
        } else {
            unit.rollback().await;
        }
    }
    let rows = "SELECT count(*) FROM webhook_inbox WHERE event_id = 'evt_1' AND outcome = 'processed'";
    assert_eq!(fixture.raw.count(rows).await, 1);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 1);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM effects").await, 1);
}

async fn a_dropped_unit_leaves_nothing_and_holds_nothing_up(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    // More often than there are connections.
    for round in 0..10 {
        let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
        unit.insert(&event(&format!("evt_{round}"))).await.unwrap();
        drop(unit);
    }
    fixture.process(&event("evt_1")).await;
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 1);
}

async fn a_copy_waits_for_the_first_and_finds_it_processed(engine: Engine) {
    let fixture = Arc::new(Fixture::new(engine).await);
    let event = event("evt_1");
    let mut first = fixture.store.inbox.begin(LONG).await.unwrap();
    first.insert(&event).await.unwrap();
    let copies: Vec<_> = (0..3).map(|_| tokio::spawn(copy(Arc::clone(&fixture), LONG))).collect();
    if engine == Engine::Postgres {
        crate::support::wait::until("the copies wait", async || {
            (fixture.raw.blocked().await == 3).then_some(())
        })
        .await;
    }
    assert!(copies.iter().all(|copy| !copy.is_finished()));
    first.finish(&event.key, &DONE).await.unwrap();
    first.commit().await.unwrap();
    for copy in copies {
        assert_eq!(existing(copy.await.unwrap().unwrap()).state, RowState::Processed);
    }
}

async fn a_copy_takes_over_when_the_first_rolls_back(engine: Engine) {
    let fixture = Arc::new(Fixture::new(engine).await);
    let mut first = fixture.store.inbox.begin(LONG).await.unwrap();
    first.insert(&event("evt_1")).await.unwrap();
    let copy = tokio::spawn(copy(Arc::clone(&fixture), LONG));
    if engine == Engine::Postgres {
        crate::support::wait::until("the copy waits", async || {
            (fixture.raw.blocked().await == 1).then_some(())
        })
        .await;
    }
    first.rollback().await;
    assert!(matches!(copy.await.unwrap(), Ok(Insertion::Inserted { .. })));
}

async fn a_copy_waits_no_longer_than_it_may(engine: Engine) {
    let fixture = Arc::new(Fixture::new(engine).await);
    let mut first = fixture.store.inbox.begin(LONG).await.unwrap();
    first.insert(&event("evt_1")).await.unwrap();
    let refused = copy(Arc::clone(&fixture), Duration::from_millis(200)).await;
    assert!(matches!(refused, Err(StoreError::Timeout)), "{refused:?}");
    first.finish(&key("evt_1"), &DONE).await.unwrap();
    first.commit().await.unwrap();
}

/// A second copy of `evt_1`, within a limit.
async fn copy(fixture: Arc<Fixture>, limit: Duration) -> Result<Insertion, StoreError> {
    let mut unit = fixture.store.inbox.begin(limit).await?;
    let insertion = unit.insert(&event("evt_1")).await;
    unit.rollback().await;
    insertion
}

async fn an_unprocessed_row_is_taken_over(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let first = with_body("evt_1", b"first");
    fixture.accept(&first).await;
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    let found = existing(unit.insert(&with_body("evt_1", b"second")).await.unwrap());
    assert_eq!(found.state, RowState::Unprocessed);
    assert_eq!(found.body, Some(first.body.clone()));
    assert_eq!(unit.stored(&first.key).await.unwrap().unwrap().body, first.body);
    unit.finish(&first.key, &DONE).await.unwrap();
    unit.commit().await.unwrap();
    assert!(fixture.claim(10).await.is_empty());
}

async fn a_row_under_a_lease_or_in_review_is_told_apart(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1", "evt_2"]).await;
    fixture.claim(1).await;
    let now = fixture.dialect("now()", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
    let review =
        format!("UPDATE webhook_inbox SET review_at = {now}, review_reason = 'why' WHERE event_id = 'evt_2'");
    fixture.raw.execute(&review).await;
    for (id, state) in [("evt_1", RowState::Leased), ("evt_2", RowState::NeedsReview)] {
        let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
        assert_eq!(existing(unit.insert(&event(id)).await.unwrap()).state, state);
        unit.rollback().await;
    }
}

async fn a_claim_is_checked_again_under_lock(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = event("evt_1");
    fixture.accept(&event).await;
    let stale = fixture.claim_one().await;
    fixture.expire("webhook_inbox").await;
    let fresh = fixture.claim_one().await;
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    assert!(matches!(unit.lock(&stale).await, Ok(Locked::Gone)));
    let Ok(Locked::Event(found)) = unit.lock(&fresh).await else { panic!("the row is ours") };
    assert_eq!((found.body, found.key), (event.body, event.key));
    unit.finish(&fresh.item, &DONE).await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    assert!(matches!(unit.lock(&fresh).await, Ok(Locked::Gone)));
    unit.rollback().await;
}

async fn nothing_is_finished_twice(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.process(&event("evt_1")).await;
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    assert!(matches!(unit.finish(&key("evt_1"), &DONE).await, Err(StoreError::Fenced)));
    assert!(matches!(unit.finish(&key("evt_2"), &DONE).await, Err(StoreError::Fenced)));
    unit.rollback().await;
}

async fn a_flagged_event_is_processed_and_needs_review(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = event("evt_1");
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&event).await.unwrap();
    let flagged = Finish { outcome: "flagged", review_reason: Some("paid though void".into()) };
    unit.finish(&event.key, &flagged).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(existing(fixture.accept(&event).await).state, RowState::Processed);
    let rows = "SELECT count(*) FROM webhook_inbox WHERE processed_at IS NOT NULL AND review_at IS NOT NULL \
                AND review_reason = 'paid though void'";
    assert_eq!(fixture.raw.count(rows).await, 1);
    let (inbox, _) = fixture.store.ledger.backlog().await.unwrap();
    assert_eq!((inbox[0].backlog, inbox[0].needs_review), (0, 1));
}

async fn a_statement_beyond_the_limit_is_stopped(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = event("evt_1");
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&event).await.unwrap();
    unit.enter(&stored(&event), "route", Duration::from_millis(100)).await.unwrap();
    let endless = Sql {
        postgres: "SELECT 'never' FROM pg_sleep(1000)",
        sqlite: "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'never' FROM n WHERE i < 0",
    };
    let stopped = unit.fetch_optional(endless, &[]).await;
    assert!(matches!(stopped, Err(StoreError::Timeout)), "{stopped:?}");
    unit.rollback().await;
    fixture.process(&event).await;
}

async fn a_bare_message_gets_the_events_key(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_0", None).await; // somebody else's
    let event = event("evt_1");
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&event).await.unwrap();
    for route in ["first", "second"] {
        unit.enter(&stored(&event), route, LONG).await.unwrap();
        unit.execute(BARE_MESSAGE, &[]).await.unwrap();
        unit.execute(BARE_MESSAGE, &[]).await.unwrap();
        unit.leave().await.unwrap();
    }
    let emitted = unit.emitted(&event.key).await.unwrap();
    let routes: Vec<_> = emitted.iter().map(|message| message.route.as_str()).collect();
    assert_eq!(routes, ["first", "first", "second", "second"]);
    assert!(emitted.is_sorted_by_key(|message| message.id));
    assert_eq!(emitted[0].aggregate_type, "Invoice");
    assert_eq!(emitted[0].aggregate_id, "in_1");
    assert_eq!(emitted[0].event_type, "Booked");
    unit.finish(&event.key, &DONE).await.unwrap();
    unit.commit().await.unwrap();
    let received = fixture.dialect("'2026-02-01T00:00:00.123Z'::timestamptz", "'2026-02-01T00:00:00.123Z'");
    let keyed = format!(
        "SELECT count(*) FROM outbox WHERE provider = 'stripe' AND endpoint = 'billing' AND event_id = 'evt_1' \
         AND received_at = {received} AND trace_context LIKE '00-%' AND ordering_key = 'in_1' \
         AND destination IS NULL"
    );
    assert_eq!(fixture.raw.count(&keyed).await, 4);
}

async fn an_emitted_message_is_addressed_and_copied(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = event("evt_1");
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&event).await.unwrap();
    unit.enter(&stored(&event), "notify", LONG).await.unwrap();
    let message = hookgate::model::NewMessage {
        aggregate_type: "Invoice".into(),
        aggregate_id: "in_1".into(),
        event_type: "Booked".into(),
        payload: r#"{"amount": 5}"#.into(),
    };
    unit.emit(&stored(&event), &message).await.unwrap();
    unit.leave().await.unwrap();
    let id = unit.emitted(&event.key).await.unwrap()[0].id;
    unit.address(id, &[("crm", "msg_1"), ("billing", "msg_2")]).await.unwrap();
    assert!(unit.emitted(&event.key).await.unwrap().is_empty());
    assert!(matches!(unit.address(id, &[("crm", "msg_3")]).await, Err(StoreError::Fenced)));
    unit.finish(&event.key, &DONE).await.unwrap();
    unit.commit().await.unwrap();
    let rows = fixture.raw.pairs("SELECT destination, message_id FROM outbox ORDER BY id").await;
    assert_eq!(rows, [("crm".into(), "msg_1".into()), ("billing".into(), "msg_2".into())]);
    let routed = "SELECT count(*) FROM outbox WHERE route = 'notify' AND event_id = 'evt_1' AND payload IS NOT NULL \
         AND ordering_key = 'in_1'";
    assert_eq!(fixture.raw.count(routed).await, 2);
}

async fn a_forwarded_event_carries_all_that_a_delivery_needs(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let new = with_body("evt_1", b"\xff\x00 bytes");
    let event = stored(&new);
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(&new).await.unwrap();
    unit.forward(&event, "forward", "crm", "msg_1").await.unwrap();
    unit.finish(&event.key, &DONE).await.unwrap();
    unit.commit().await.unwrap();
    let claimed = fixture.store.outbox.claim(10, &[super::fixture::lane("crm", 10)]).await.unwrap();
    let message = &claimed[0].item;
    assert_eq!(message.key, event.key);
    assert_eq!(message.aggregate_type, "webhook_event");
    assert_eq!(message.aggregate_id, "evt_1");
    assert_eq!(message.event_type, "invoice.paid");
    assert_eq!(message.content, hookgate::model::Content::Body(event.body));
    assert_eq!(message.content_type, event.content_type);
    assert_eq!(message.headers.as_ref(), Some(&*event.headers));
    assert_eq!(message.received_at, event.received_at);
    assert_eq!(&*message.destination, "crm");
    assert_eq!(message.message_id, "msg_1");
    assert_eq!(message.trace_context, event.trace_context);
    assert_eq!(message.ordering_key, event.ordering_key);
}

async fn a_message_from_outside_is_left_alone(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.raw.execute(BARE_MESSAGE.sqlite).await;
    fixture.message("evt_1", Some("crm")).await;
    fixture.raw.execute(BARE_MESSAGE.sqlite).await;
    let keyless =
        "SELECT count(*) FROM outbox WHERE provider IS NULL AND route IS NULL AND destination IS NULL";
    assert_eq!(fixture.raw.count(keyless).await, 2);
}

async fn values_go_in_and_come_out(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    let moment = time("2026-01-31T12:34:56.789Z");
    let values = [
        Param::Text(Some("text".into())),
        Param::Bigint(Some(i64::MIN)),
        Param::Double(Some(0.5)),
        Param::Bytes(Some(Bytes::from_static(b"\xff\x00"))),
        Param::Boolean(Some(true)),
        Param::Json(Some(r#"{"a": [1, 2.50]}"#.into())),
        Param::Timestamptz(Some(moment)),
        Param::Text(None),
    ];
    let row =
        unit.fetch_optional(sql("SELECT $1, $2, $3, $4, $5, $6, $7, $8"), &values).await.unwrap().unwrap();
    assert_eq!(row[..4], values[..4]);
    match engine {
        Engine::Postgres => assert_eq!(row[4..], values[4..]),
        Engine::Sqlite => {
            let text = |text: &str| Param::Text(Some(text.into()));
            let expected = [
                Param::Bigint(Some(1)),
                text(r#"{"a": [1, 2.50]}"#),
                text("2026-01-31T12:34:56.789Z"),
                Param::Text(None),
            ];
            assert_eq!(row[4..], expected);
        }
    }
    assert_eq!(unit.fetch_optional(sql("SELECT id FROM invoices"), &[]).await.unwrap(), None);
    assert_eq!(unit.execute(sql("DELETE FROM invoices"), &[]).await.unwrap(), 0);
    unit.rollback().await;
}

async fn statements_are_checked_without_running(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let good = "INSERT INTO invoices (id, customer_id, status, amount_paid) VALUES ($1, $2, 'open', $3)";
    let types = [Param::Text(None), Param::Text(None), Param::Bigint(None)];
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.prepare_text(good, &types).await.unwrap();
    unit.rollback().await;
    for wrong in ["INSERT INTO invoices (nonsense) VALUES ($1)", "SELEKT 1", "SELECT * FROM no_such_table"] {
        let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
        let refused = unit.prepare_text(wrong, &types[..1]).await;
        assert!(matches!(refused, Err(StoreError::Sql { code: Some(_), .. })), "{wrong}: {refused:?}");
        unit.rollback().await;
    }
    assert_eq!(fixture.raw.count("SELECT count(*) FROM invoices").await, 0);
}

async fn a_unit_waits_for_a_connection_no_longer_than_it_may(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let mut held = Vec::new();
    let connections = if engine == Engine::Postgres { fixture.config.max_connections } else { 1 };
    for _ in 0..connections {
        held.push(fixture.store.inbox.begin(LONG).await.unwrap());
    }
    let refused =
        fixture.store.inbox.begin(Duration::from_millis(100)).await.err().expect("no connection is free");
    match engine {
        Engine::Postgres => assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}"),
        Engine::Sqlite => assert!(matches!(refused, StoreError::Timeout), "{refused:?}"),
    }
    drop(held);
    fixture.process(&event("evt_1")).await;
}
