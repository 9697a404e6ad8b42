//! What operators ask: lists with every condition, single rows, redrives.

use hookgate::model::{Attempt, AttemptOutcome, Failure, NewEvent, Next};
use hookgate::store::{
    EventRecord, Filter, Finish, Listed, NewReplay, Operations, Page, QueueName, Settled, State,
};
use sqlx::Connection as _;
use std::sync::Arc;
use std::time::Duration;

use super::fixture::{Fixture, LONG, event, key, time, with_body};
use crate::support::database::{Engine, both_engines};

both_engines!(
    each_condition_narrows_the_list_of_events,
    a_list_is_read_part_by_part_without_gap_or_repetition,
    a_rare_event_is_found_behind_many_others,
    events_are_followed_in_the_order_of_arrival,
    one_event_is_shown_with_its_content_and_messages,
    one_delivery_is_shown_with_its_attempts,
    deliveries_are_listed_by_state_destination_and_event,
    what_needs_review_is_listed_over_both_queues,
    a_redrive_gives_dead_rows_a_new_life_and_is_written_down,
    a_redrive_takes_only_what_was_dead_when_it_was_ordered,
    a_worker_with_an_old_claim_changes_nothing_after_a_redrive,
    what_is_flagged_is_resolved_and_not_redriven,
    the_quarantine_is_listed_and_shown,
    replayable_events_are_counted_by_endpoint,
);

const ALL: Page = Page { after: None, limit: 1000 };

fn operations(fixture: &Fixture) -> &dyn Operations {
    fixture.store.operations.as_ref()
}

fn ids(listed: &Listed<EventRecord>) -> Vec<&str> {
    listed.rows.iter().map(|row| row.event_id.as_str()).collect()
}

async fn found(fixture: &Fixture, filter: Filter) -> Vec<String> {
    let listed = operations(fixture).events(&filter, &ALL).await.expect("events");
    let mut ids: Vec<String> = listed.rows.into_iter().map(|row| row.event_id).collect();
    ids.sort();
    ids
}

fn of_type(id: &str, event_type: &str) -> NewEvent {
    NewEvent { event_type: event_type.into(), ..event(id) }
}

/// One event in each state; the id is the state's word.
async fn one_in_each_state(fixture: &Fixture) {
    finished(fixture, "processed", "processed", None).await;
    finished(fixture, "ignored", "ignored", None).await;
    finished(fixture, "superseded", "superseded", None).await;
    finished(fixture, "flagged", "flagged", Some("look")).await;
    dead(fixture, "dead").await;
    fixture.accept_ids(&["leased"]).await;
    fixture.claim_one().await;
    fixture.accept_ids(&["pending"]).await;
}

async fn finished(fixture: &Fixture, id: &str, outcome: &'static str, review: Option<&str>) {
    let event = event(id);
    let mut unit = fixture.store.inbox.begin(LONG).await.expect("begin");
    unit.insert(&event).await.expect("insert");
    let finish = Finish { outcome, review_reason: review.map(str::to_owned) };
    unit.finish(&event.key, &finish).await.expect("finish");
    unit.commit().await.expect("commit");
}

async fn dead(fixture: &Fixture, id: &str) {
    fixture.accept_ids(&[id]).await;
    let leased = fixture.claim_one().await;
    let failure = Failure { code: "handler.panic".into(), retryable: false };
    let next = Next::Review { reason: "permanent failure: handler.panic".into() };
    fixture.store.events.fail(leased, &failure, &next).await.expect("fail");
}

/// A message for `crm` whose destination refused it for good.
async fn dead_message(fixture: &Fixture, id: &str) {
    fixture.message(id, Some("crm")).await;
    let lane = super::fixture::lane("crm", 1);
    let leased = fixture.store.outbox.claim(1, &[lane]).await.expect("claim").remove(0);
    let attempt = Attempt {
        outcome: AttemptOutcome::Rejected,
        status: Some(410),
        error: Some("status.410".into()),
        duration: Duration::from_millis(12),
        retry_after: None,
    };
    let next = Next::Review { reason: "permanent failure: status.410".into() };
    fixture.store.outbox.fail_attempt(leased, &attempt, &next).await.expect("fail");
}

async fn each_condition_narrows_the_list_of_events(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    one_in_each_state(&fixture).await;
    for state in State::ALL {
        let filter = Filter { state: Some(state), ..Filter::default() };
        assert_eq!(found(&fixture, filter).await, [state.as_str()]);
    }
    let listed = operations(&fixture).events(&Filter::default(), &ALL).await.unwrap();
    assert!(listed.rows.iter().all(|row| row.state == row.event_id), "{listed:?}");
    assert_eq!((listed.rows.len(), listed.next), (7, None));

    let mut elsewhere = of_type("evt_1", "invoice.p_id");
    elsewhere.key.endpoint = "shop".into();
    fixture.accept(&elsewhere).await;
    let mut twin = of_type("evt_1", "[a]?.Paid");
    twin.key.provider = "github".into();
    fixture.accept(&twin).await;
    let ones = |filter: Filter| found(&fixture, filter);
    assert_eq!(ones(Filter { endpoint: Some("shop".into()), ..Filter::default() }).await, ["evt_1"]);
    assert_eq!(ones(Filter { provider: Some("github".into()), ..Filter::default() }).await, ["evt_1"]);
    assert_eq!(ones(Filter { id: Some("evt_1".into()), ..Filter::default() }).await, ["evt_1", "evt_1"]);
    let one = Filter { id: Some("evt_1".into()), endpoint: Some("shop".into()), ..Filter::default() };
    assert_eq!(ones(one).await, ["evt_1"]);
    assert!(ones(Filter { id: Some("evt_2".into()), ..Filter::default() }).await.is_empty());
    for (glob, count) in [
        ("invoice.paid", 7),
        ("invoice.*", 8),
        ("invoice.p_id", 1),
        ("invoice.p_*", 1),
        ("[a]?.*", 1),
        ("[a]?.paid", 0),
        ("*paid", 7),
        ("*", 9),
        ("", 0),
    ] {
        let filter = Filter { event_type: Some(glob.into()), ..Filter::default() };
        assert_eq!(ones(filter).await.len(), count, "{glob}");
    }

    let past =
        fixture.dialect("now() - interval '2 hours'", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-2 hours')");
    fixture
        .raw
        .execute(&format!("UPDATE webhook_inbox SET received_at = {past} WHERE event_id = 'dead'"))
        .await;
    let hour_ago = operations(&fixture).now().await.unwrap() - Duration::from_hours(1);
    assert_eq!(ones(Filter { until: Some(hour_ago), ..Filter::default() }).await, ["dead"]);
    assert_eq!(ones(Filter { since: Some(hour_ago), ..Filter::default() }).await.len(), 8);

    fixture.message("with_message", Some("crm")).await;
    fixture.message("own_relay", None).await;
    assert_eq!(ones(Filter { destination: Some("crm".into()), ..Filter::default() }).await, ["with_message"]);
    assert!(ones(Filter { destination: Some("erp".into()), ..Filter::default() }).await.is_empty());
}

async fn a_list_is_read_part_by_part_without_gap_or_repetition(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let names: Vec<String> = (0..25).map(|n| format!("evt_{n:02}")).collect();
    // Accepted together, so that most have one and the same time.
    for part in names.chunks(10) {
        fixture.accept_ids(&part.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    for filter in [Filter::default(), Filter { state: Some(State::Pending), ..Filter::default() }] {
        let mut read = Vec::new();
        let mut page = Page { after: None, limit: 4 };
        loop {
            let listed = operations(&fixture).events(&filter, &page).await.unwrap();
            read.extend(listed.rows.into_iter().map(|row| row.event_id));
            let Some(next) = listed.next else { break };
            // As a person would bring it back.
            page.after = Some(next.to_string().parse().unwrap());
        }
        read.reverse();
        assert_eq!(read, names);
    }
}

/// More rows than one statement walks over, all processed, the oldest of another endpoint.
async fn many(fixture: &Fixture) {
    let rows = fixture.dialect(
        "INSERT INTO webhook_inbox (provider, endpoint, event_id, event_type, body, body_sha256, headers, request_id, \
                                    received_at, processed_at, outcome) \
         SELECT 'stripe', CASE WHEN n = 25000 THEN 'rare' ELSE 'billing' END, 'evt_' || n, 'a', 'x', \
                decode(repeat('00', 32), 'hex'), '[]', gen_random_uuid(), now() - n * interval '1 s', now(), 'processed' \
         FROM generate_series(1, 25000) n",
        "INSERT INTO webhook_inbox (provider, endpoint, event_id, event_type, body, body_sha256, headers, request_id, \
                                    received_at, processed_at, outcome, seq) \
         WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 25000) \
         SELECT 'stripe', CASE WHEN n = 25000 THEN 'rare' ELSE 'billing' END, 'evt_' || n, 'a', x'78', zeroblob(32), \
                '[]', '00000000-0000-0000-0000-000000000000', \
                strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || n || ' seconds'), \
                strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'processed', 30000 - n FROM s",
    );
    fixture.raw.execute(rows).await;
}

async fn a_rare_event_is_found_behind_many_others(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    many(&fixture).await;
    let rare = Filter { endpoint: Some("rare".into()), ..Filter::default() };
    assert_eq!(found(&fixture, rare.clone()).await, ["evt_25000"]);
    let counted = operations(&fixture).replayable(&Filter::default()).await.unwrap();
    let counts: Vec<_> = counted.iter().map(|row| (row.endpoint.as_str(), row.events)).collect();
    assert_eq!(counts, [("billing", 24_999), ("rare", 1)]);
    let counted = operations(&fixture).replayable(&rare).await.unwrap();
    assert_eq!((counted.len(), counted[0].events), (1, 1));
}

async fn events_are_followed_in_the_order_of_arrival(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let first = operations(&fixture).events(&Filter::default(), &ALL).await.unwrap().rows.remove(0);
    fixture.accept_ids(&["evt_2", "evt_3"]).await;
    let from = operations(&fixture).events_from(&Filter::default(), first.received_at, &ALL).await.unwrap();
    assert_eq!(ids(&from), ["evt_1", "evt_2", "evt_3"]);
}

async fn one_event_is_shown_with_its_content_and_messages(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    let shown = operations(&fixture).event(&key("evt_1")).await.unwrap().expect("it is there");
    let sent = event("evt_1");
    assert_eq!((&shown.content.body, &shown.content.headers), (&sent.body, &*sent.headers));
    assert_eq!(shown.content.body_sha256.as_deref(), Some(&*hex::encode(sent.body_sha256)));
    assert_eq!((shown.request_id.len(), shown.item_index), (36, 0));
    assert_eq!((shown.account, shown.ordering_key), (sent.account, sent.ordering_key));
    assert_eq!(shown.record.occurred_at, sent.occurred_at);
    assert_eq!(shown.deliveries.len(), 1);
    assert_eq!(shown.deliveries[0].destination, "crm");
    assert!(operations(&fixture).event(&key("evt_2")).await.unwrap().is_none());
}

async fn one_delivery_is_shown_with_its_attempts(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    dead_message(&fixture, "evt_1").await;
    let id = operations(&fixture).deliveries(&Filter::default(), &ALL).await.unwrap().rows[0].id;
    let shown = operations(&fixture).delivery(id).await.unwrap().expect("it is there");
    assert_eq!((shown.record.state.as_str(), shown.record.message_id.as_str()), ("dead", "msg_evt_1"));
    let payload: serde_json::Value = serde_json::from_slice(&shown.content.body).unwrap();
    assert_eq!(payload, serde_json::json!({ "amount": 5 }));
    let [attempt] = shown.attempts.as_slice() else { panic!("one: {:?}", shown.attempts) };
    assert_eq!((attempt.attempt, attempt.status, attempt.duration_ms), (1, Some(410), 12));
    assert_eq!((attempt.outcome.as_str(), attempt.lease_lost), ("rejected", false));
    assert!(operations(&fixture).delivery(id + 1).await.unwrap().is_none());
}

async fn deliveries_are_listed_by_state_destination_and_event(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    dead_message(&fixture, "evt_1").await;
    fixture.message("evt_2", Some("erp")).await;
    fixture.message("evt_3", None).await;
    let listed = async |filter: Filter| -> Vec<String> {
        let listed = operations(&fixture).deliveries(&filter, &ALL).await.expect("deliveries");
        listed.rows.into_iter().map(|row| row.event_id).collect()
    };
    let all = Filter::default();
    // The user's own relay is no destination.
    assert_eq!(listed(all.clone()).await, ["evt_2", "evt_1"]);
    assert_eq!(listed(Filter { destination: Some("crm".into()), ..all.clone() }).await, ["evt_1"]);
    assert_eq!(listed(Filter { id: Some("evt_2".into()), ..all.clone() }).await, ["evt_2"]);
    assert_eq!(listed(Filter { state: Some(State::Dead), ..all.clone() }).await, ["evt_1"]);
    assert_eq!(listed(Filter { state: Some(State::Pending), ..all.clone() }).await, ["evt_2"]);
    for none in [State::Processed, State::Leased, State::Flagged, State::Ignored] {
        assert!(listed(Filter { state: Some(none), ..all.clone() }).await.is_empty(), "{none:?}");
    }
    assert!(listed(Filter { since: Some(time("2100-01-01T00:00:00Z")), ..all }).await.is_empty());
}

async fn what_needs_review_is_listed_over_both_queues(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    one_in_each_state(&fixture).await;
    fixture.raw.execute("DELETE FROM webhook_inbox WHERE event_id IN ('leased', 'pending')").await;
    dead_message(&fixture, "message").await;
    dead(&fixture, "dead_2").await;
    let listed = operations(&fixture).dead(None, &Filter::default(), &ALL).await.unwrap();
    let shown: Vec<_> = listed.rows.iter().map(|row| (row.queue, &*row.event_id, &*row.state)).collect();
    let inbox = QueueName::Inbox;
    let expected = [
        (inbox, "dead_2", "dead"),
        (QueueName::Outbox, "message", "dead"),
        (inbox, "dead", "dead"),
        (inbox, "flagged", "flagged"),
    ];
    assert_eq!(shown, expected);
    let mut read = Vec::new();
    let mut page = Page { after: None, limit: 1 };
    loop {
        let listed = operations(&fixture).dead(None, &Filter::default(), &page).await.unwrap();
        read.extend(listed.rows.into_iter().map(|row| row.event_id));
        page.after = listed.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(read, ["dead_2", "message", "dead", "flagged"]);
    let crm = Filter { destination: Some("crm".into()), ..Filter::default() };
    let listed = operations(&fixture).dead(None, &crm, &ALL).await.unwrap();
    assert_eq!(listed.rows.len(), 1);
    assert_eq!(listed.rows[0].review_reason, "permanent failure: status.410");
}

const AUDIT: &str = "SELECT action, who FROM audit_log";

async fn a_redrive_gives_dead_rows_a_new_life_and_is_written_down(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    dead(&fixture, "dead").await;
    dead(&fixture, "dead_2").await;
    dead_message(&fixture, "message").await;
    let one = Filter { id: Some("dead".into()), ..Filter::default() };
    let operations = operations(&fixture);
    assert_eq!(operations.count_dead(QueueName::Inbox, &one).await.unwrap(), 1);
    assert_eq!(operations.count_dead(QueueName::Inbox, &Filter::default()).await.unwrap(), 2);
    let audit = operations.audit("cli:ada", "dead.redrive", r#"{"filter":{"id":"dead"}}"#).await.unwrap();
    assert_eq!(operations.redrive(QueueName::Inbox, &one, audit).await.unwrap(), 1);
    assert_eq!(operations.redrive(QueueName::Inbox, &one, audit).await.unwrap(), 0);
    let leased = fixture.claim_one().await;
    assert_eq!((leased.item.event_id.as_str(), leased.attempts, leased.crash_attempts), ("dead", 1, 0));
    assert_eq!(fixture.raw.pairs(AUDIT).await, [("dead.redrive".into(), "cli:ada".into())]);
    assert_eq!(fixture.raw.count("SELECT affected FROM audit_log").await, 1);

    let all = Filter::default();
    let audit = operations.audit("cli:ada", "dead.redrive", "{}").await.unwrap();
    assert_eq!(operations.redrive(QueueName::Inbox, &all, audit).await.unwrap(), 1);
    assert_eq!(operations.redrive(QueueName::Outbox, &all, audit).await.unwrap(), 1);
    assert_eq!(fixture.raw.count("SELECT max(affected) FROM audit_log").await, 2);
    // Its age counts from now, or `max_age` would end it at its first failure.
    fixture.raw.execute("UPDATE outbox SET created_at = '2020-01-01T00:00:00.000Z'").await;
    let leased = fixture.store.outbox.claim(1, &[super::fixture::lane("crm", 1)]).await.unwrap().remove(0);
    assert_eq!(leased.attempts, 1);
    assert!(leased.item.born_at > time("2026-01-01T00:00:00Z"), "{}", leased.item.born_at);
    assert!(operations.dead(None, &all, &ALL).await.unwrap().rows.is_empty());
}

async fn a_redrive_takes_only_what_was_dead_when_it_was_ordered(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    dead(&fixture, "before").await;
    let audit = operations(&fixture).audit("cli:ada", "dead.redrive", "{}").await.unwrap();
    let later = fixture.dialect("now() + interval '1 s'", "'2999-01-01T00:00:00.000Z'");
    dead(&fixture, "after").await;
    fixture
        .raw
        .execute(&format!("UPDATE webhook_inbox SET review_at = {later} WHERE event_id = 'after'"))
        .await;
    let redriven = operations(&fixture).redrive(QueueName::Inbox, &Filter::default(), audit).await.unwrap();
    assert_eq!(redriven, 1);
    let filter = Filter { state: Some(State::Dead), ..Filter::default() };
    assert_eq!(found(&fixture, filter).await, ["after"]);
}

async fn a_worker_with_an_old_claim_changes_nothing_after_a_redrive(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1"]).await;
    let old = fixture.claim_one().await;
    fixture
        .raw
        .execute(
            "UPDATE webhook_inbox SET review_at = received_at, review_reason = 'why', lease_until = NULL",
        )
        .await;
    let audit = operations(&fixture).audit("cli:ada", "dead.redrive", "{}").await.unwrap();
    operations(&fixture).redrive(QueueName::Inbox, &Filter::default(), audit).await.unwrap();
    let failure = Failure { code: "late".into(), retryable: true };
    let next = Next::Retry { after: Duration::from_hours(1) };
    let settled = fixture.store.events.fail(old, &failure, &next).await.unwrap();
    assert_eq!(settled, Settled::LeaseLost);
    assert_eq!(fixture.claim_one().await.attempts, 1);
}

async fn what_is_flagged_is_resolved_and_not_redriven(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    one_in_each_state(&fixture).await;
    let all = Filter::default();
    let audit = operations(&fixture).audit("cli:ada", "dead.resolve", "{}").await.unwrap();
    assert_eq!(operations(&fixture).resolve(&all, audit).await.unwrap(), 1);
    assert_eq!(operations(&fixture).redrive(QueueName::Inbox, &all, audit).await.unwrap(), 1);
    let processed = Filter { state: Some(State::Processed), ..all };
    assert_eq!(found(&fixture, processed).await, ["flagged", "processed"]);
}

async fn the_quarantine_is_listed_and_shown(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (endpoint, id) in [("billing", "evt_1"), ("shop", "evt_2")] {
        let sent = with_body(id, id.as_bytes());
        let kept = hookgate::store::Quarantined {
            provider: "stripe".into(),
            endpoint: endpoint.into(),
            reason: "conflict",
            hint: None,
            detail: "the first copy said something else".into(),
            event_id: Some(id.into()),
            headers: Arc::clone(&sent.headers),
            body: sent.body.clone(),
            body_sha256: sent.body_sha256,
            digest: sent.body_sha256,
            verified: true,
            request_id: sent.request_id,
            sent: None,
            age: Duration::ZERO,
        };
        fixture.store.inbox.quarantine(&kept).await.unwrap();
    }
    let all = operations(&fixture).quarantined(&Filter::default(), &ALL).await.unwrap();
    assert_eq!(all.rows.iter().map(|row| &*row.endpoint).collect::<Vec<_>>(), ["shop", "billing"]);
    let shop = Filter { endpoint: Some("shop".into()), ..Filter::default() };
    let shop = operations(&fixture).quarantined(&shop, &ALL).await.unwrap().rows.remove(0);
    assert_eq!((shop.body_bytes, shop.verified, shop.event_id.as_deref()), (5, true, Some("evt_2")));
    let shown = operations(&fixture).quarantined_one(shop.id).await.unwrap().expect("it is there");
    assert_eq!(shown.content.body.as_ref(), b"evt_2");
    assert_eq!(shown.content.content_type.as_deref(), Some("application/json"));
    assert!(operations(&fixture).quarantined_one(0).await.unwrap().is_none());
}

async fn replayable_events_are_counted_by_endpoint(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    one_in_each_state(&fixture).await;
    let mut elsewhere = with_body("evt_1", b"");
    elsewhere.key.endpoint = "shop".into();
    fixture.process(&elsewhere).await;
    let empty = fixture.dialect("''", "x''");
    fixture.raw.execute(&format!("UPDATE webhook_inbox SET body = {empty} WHERE event_id = 'ignored'")).await;
    let count = async |filter: Filter| -> Vec<(String, i64, i64)> {
        let counted = operations(&fixture).replayable(&filter).await.expect("count");
        counted.into_iter().map(|row| (row.endpoint, row.events, row.payload_gone)).collect()
    };
    let all = Filter::default();
    // What came without a body has not lost it; what was superseded is left out unless it is asked for.
    assert_eq!(count(all.clone()).await, [("billing".into(), 3, 1), ("shop".into(), 1, 0)]);
    let one = Filter { id: Some("ignored".into()), ..all.clone() };
    assert_eq!(count(one).await, [("billing".into(), 1, 1)]);
    assert_eq!(
        count(Filter { state: Some(State::Flagged), ..all.clone() }).await,
        [("billing".into(), 1, 0)]
    );
    assert!(count(Filter { id: Some("dead".into()), ..all }).await.is_empty());
}

/// An order to replay these.
pub fn order(filter: Filter) -> NewReplay {
    NewReplay {
        endpoint: "billing".into(),
        filter,
        route: None,
        new_ids: false,
        rate: None,
        who: "cli:ada".into(),
        total: 3,
    }
}

#[tokio::test]
async fn postgres_walks_an_index_by_time_whatever_the_statistics_say() {
    let fixture = Fixture::new(Engine::Postgres).await;
    many(&fixture).await;
    let settings = "SET enable_seqscan = off; SET enable_bitmapscan = off";
    let window = "EXPLAIN SELECT i.event_id FROM (SELECT i.event_id, i.endpoint, i.received_at, i.seq \
                  FROM webhook_inbox i WHERE i.received_at <= now() AND (i.received_at, i.seq) < (now(), 5) \
                  ORDER BY i.received_at DESC, i.seq DESC LIMIT 10000) i WHERE i.endpoint = 'rare' \
                  ORDER BY i.received_at DESC, i.seq DESC LIMIT 51";
    let mut connection = sqlx::PgConnection::connect(&fixture.raw.url).await.unwrap();
    sqlx::raw_sql(settings).execute(&mut connection).await.unwrap();
    for is_analyzed in [false, true] {
        if is_analyzed {
            fixture.raw.execute("ANALYZE webhook_inbox").await;
        }
        let plan: Vec<String> = sqlx::query_scalar(window).fetch_all(&mut connection).await.expect("explain");
        let plan = plan.join("\n");
        assert!(plan.contains("Index Scan Backward using webhook_inbox_received"), "{plan}");
        assert!(plan.contains("Incremental Sort") && !plan.contains("Seq Scan"), "{plan}");
    }
}
