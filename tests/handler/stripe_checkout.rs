//! `stripe_checkout` on both engines.

use std::time::Duration;

use hookgate::handler::{Handler as _, Outcome, StripeCheckout};
use hookgate::model::Event;
use hookgate::store::{Param, Sql, Tx};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::support::{Db, databases, event, handle_all, number, row, text};

const SESSION: &str = "cs_test_1";
const COMPLETED: &str = "checkout.session.completed";
const SUCCEEDED: &str = "checkout.session.async_payment_succeeded";
const FAILED: &str = "checkout.session.async_payment_failed";

fn session(id: &str, event_type: &str, payment_status: &str) -> Event {
    let object = json!({
        "id": SESSION,
        "customer": "cus_1",
        "payment_status": payment_status,
        "metadata": { "tier": "pro" },
        "invoice": "in_first",
    });
    about(id, event_type, &object)
}

fn about(id: &str, event_type: &str, object: &Value) -> Event {
    event(event_type, id, &json!({ "data": { "object": object } }).to_string())
}

fn renewal(id: &str, invoice: &str, reason: &str) -> Event {
    let object = json!({
        "id": invoice,
        "customer": "cus_1",
        "billing_reason": reason,
        "parent": { "subscription_details": { "metadata": { "tier": "team" } } },
    });
    about(id, "invoice.paid", &object)
}

fn idempotent(key: &str) -> Outcome {
    Outcome::Idempotent { key: key.into() }
}

async fn outcomes(tx: &mut Tx, events: &[Event]) -> Vec<Outcome> {
    handle_all(tx, &StripeCheckout, events)
        .await
        .into_iter()
        .map(|outcome| outcome.expect("success"))
        .collect()
}

async fn grants(tx: &mut Tx) -> i64 {
    number(tx, Sql::same("SELECT count(*) FROM entitlements"), &[]).await
}

/// customer, tier, payment status, invoice, event
async fn grant(tx: &mut Tx, session: &str) -> Vec<Option<String>> {
    const GRANT: Sql = Sql::same(
        "SELECT customer_id, tier, payment_status, invoice_id, event_id FROM entitlements \
         WHERE session_id = $1 AND granted_at IS NOT NULL",
    );
    let row = row(tx, GRANT, &[text(session)]).await.expect("a grant");
    row.into_iter()
        .map(|value| if let Param::Text(value) = value { value } else { panic!("{value:?}") })
        .collect()
}

fn some(values: [&str; 5]) -> Vec<Option<String>> {
    values.iter().map(|value| (*value != "NULL").then(|| (*value).to_owned())).collect()
}

#[tokio::test]
async fn a_session_that_is_paid_or_costs_nothing_is_granted_once() {
    for db in databases().await {
        for status in ["paid", "no_payment_required"] {
            let mut tx = db.begin().await;
            let events = [session("evt_1", COMPLETED, status), session("evt_2", COMPLETED, status)];
            assert_eq!(outcomes(&mut tx, &events).await, [Outcome::Done, idempotent(SESSION)]);
            assert_eq!(grants(&mut tx).await, 1);
            assert_eq!(grant(&mut tx, SESSION).await, some(["cus_1", "pro", status, "NULL", "evt_1"]));
        }
    }
}

#[tokio::test]
async fn an_unpaid_session_waits_for_its_payment() {
    for db in databases().await {
        let mut tx = db.begin().await;
        assert_eq!(outcomes(&mut tx, &[session("evt_1", COMPLETED, "unpaid")]).await, [Outcome::Done]);
        assert_eq!(grants(&mut tx).await, 0, "nothing is granted yet");
        assert_eq!(outcomes(&mut tx, &[session("evt_2", SUCCEEDED, "paid")]).await, [Outcome::Done]);
        assert_eq!(grant(&mut tx, SESSION).await, some(["cus_1", "pro", "paid", "NULL", "evt_2"]));
    }
}

#[tokio::test]
async fn a_payment_that_overtakes_the_completion_grants_once() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let events = [session("evt_2", SUCCEEDED, "paid"), session("evt_1", COMPLETED, "unpaid")];
        assert_eq!(outcomes(&mut tx, &events).await, [Outcome::Done, idempotent(SESSION)]);
        assert_eq!(grant(&mut tx, SESSION).await[4].as_deref(), Some("evt_2"));
    }
}

#[tokio::test]
async fn a_failed_payment_grants_nothing_and_is_flagged_if_something_was_granted() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let events = [session("evt_1", COMPLETED, "unpaid"), session("evt_2", FAILED, "unpaid")];
        assert_eq!(outcomes(&mut tx, &events).await, [Outcome::Done, Outcome::Done]);
        assert_eq!(grants(&mut tx).await, 0);
        let events = [session("evt_3", SUCCEEDED, "paid"), session("evt_4", FAILED, "unpaid")];
        let outcomes = outcomes(&mut tx, &events).await;
        assert!(
            matches!(&outcomes[..], [Outcome::Done, Outcome::Flagged { reason }] if reason.contains(SESSION))
        );
        assert_eq!(grants(&mut tx).await, 1);
    }
}

#[tokio::test]
async fn a_renewal_is_granted_once_for_each_invoice_and_the_first_invoice_is_none() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let events = [
            session("evt_1", COMPLETED, "paid"),
            renewal("evt_2", "in_first", "subscription_create"),
            renewal("evt_3", "in_2", "subscription_cycle"),
            renewal("evt_4", "in_2", "subscription_cycle"),
            renewal("evt_5", "in_3", "subscription_cycle"),
            renewal("evt_6", "in_4", "manual"),
        ];
        let expected = [
            Outcome::Done,
            Outcome::Ignored,
            Outcome::Done,
            idempotent("in_2"),
            Outcome::Done,
            Outcome::Ignored,
        ];
        assert_eq!(outcomes(&mut tx, &events).await, expected);
        assert_eq!(grants(&mut tx).await, 3);
        assert_eq!(grant(&mut tx, "in_2").await, some(["cus_1", "team", "paid", "in_2", "evt_3"]));
    }
}

#[tokio::test]
async fn the_tier_of_a_renewal_is_found_in_every_form_of_invoice() {
    let tier = |name: &str| json!({ "metadata": { "tier": name } });
    for db in databases().await {
        let mut tx = db.begin().await;
        for (nth, (more, expected)) in [
            (json!({ "metadata": { "tier": "own" }, "subscription_details": tier("old") }), Some("own")),
            (json!({ "metadata": {}, "parent": { "subscription_details": tier("new") } }), Some("new")),
            (json!({ "metadata": {}, "subscription_details": tier("old") }), Some("old")),
            (json!({ "metadata": {} }), None),
        ]
        .into_iter()
        .enumerate()
        {
            let id = format!("in_{nth}");
            let mut object = more;
            object["id"] = json!(id);
            object["billing_reason"] = json!("subscription_cycle");
            assert_eq!(outcomes(&mut tx, &[about("evt_1", "invoice.paid", &object)]).await, [Outcome::Done]);
            assert_eq!(grant(&mut tx, &id).await[1].as_deref(), expected);
        }
    }
}

#[tokio::test]
async fn a_guest_without_customer_and_tier_is_granted() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let object = json!({ "id": SESSION, "customer": null, "payment_status": "paid", "metadata": {} });
        assert_eq!(outcomes(&mut tx, &[about("evt_1", COMPLETED, &object)]).await, [Outcome::Done]);
        assert_eq!(grant(&mut tx, SESSION).await, some(["NULL", "NULL", "paid", "NULL", "evt_1"]));
    }
}

#[tokio::test]
async fn an_event_without_what_it_must_carry_fails_for_good() {
    for db in databases().await {
        let mut tx = db.begin().await;
        for (event_type, object, code) in [
            (COMPLETED, json!({ "id": SESSION }), "handler.payload.payment_status"),
            (COMPLETED, json!({ "id": SESSION, "payment_status": "odd" }), "handler.payload.payment_status"),
            (COMPLETED, json!({ "payment_status": "paid" }), "handler.payload.id"),
            (COMPLETED, json!({ "payment_status": "unpaid" }), "handler.payload.id"),
            (SUCCEEDED, json!({}), "handler.payload.id"),
            (FAILED, json!({}), "handler.payload.id"),
            ("invoice.paid", json!({ "billing_reason": "subscription_cycle" }), "handler.payload.id"),
        ] {
            let error =
                StripeCheckout.handle(&mut tx, &about("evt_1", event_type, &object)).await.expect_err(code);
            assert_eq!((error.code.as_str(), error.retryable), (code, false), "{event_type}");
        }
        assert_eq!(grants(&mut tx).await, 0);
    }
}

#[tokio::test]
async fn other_events_are_ignored_whatever_they_carry() {
    for db in databases().await {
        let mut tx = db.begin().await;
        for event_type in ["checkout.session.expired", "invoice.created", "customer.created", ""] {
            let outcome =
                StripeCheckout.handle(&mut tx, &event(event_type, "evt_1", "no json")).await.unwrap();
            assert_eq!(outcome, Outcome::Ignored, "{event_type}");
        }
    }
}

async fn play(db: &Db, story: &[(&str, &str)]) -> Result<(), TestCaseError> {
    let mut tx = db.begin().await;
    let mut first = None;
    for (nth, (event_type, status)) in story.iter().enumerate() {
        let outcome =
            outcomes(&mut tx, &[session(&format!("evt_{nth}"), event_type, status)]).await.remove(0);
        let grants_now = *event_type == SUCCEEDED || (*event_type == COMPLETED && *status != "unpaid");
        let expected = match (&first, grants_now, *event_type == FAILED) {
            (Some(_), _, false) => idempotent(SESSION),
            (Some(_), _, true) => outcome.clone(),
            (None, ..) => Outcome::Done,
        };
        prop_assert_eq!(matches!(outcome, Outcome::Flagged { .. }), first.is_some() && *event_type == FAILED);
        prop_assert_eq!(outcome, expected);
        if first.is_none() && grants_now {
            first = Some(grant(&mut tx, SESSION).await);
        }
        prop_assert_eq!(grants(&mut tx).await, i64::from(first.is_some()));
        if let Some(first) = &first {
            prop_assert_eq!(&grant(&mut tx, SESSION).await, first, "a grant stays as it was");
        }
    }
    Ok(())
}

#[test]
fn any_order_and_repetition_of_events_grants_at_most_once_and_takes_nothing_back() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let kinds = [
        (COMPLETED, "unpaid"),
        (COMPLETED, "paid"),
        (COMPLETED, "no_payment_required"),
        (SUCCEEDED, "paid"),
        (FAILED, "unpaid"),
    ];
    let story = prop::collection::vec(prop::sample::select(kinds.to_vec()), 1..9);
    for db in runtime.block_on(databases()) {
        TestRunner::new(Config { failure_persistence: None, cases: 48, ..Config::default() })
            .run(&story, |story| runtime.block_on(play(&db, &story)))
            .unwrap();
    }
}

#[tokio::test]
async fn two_events_about_one_session_at_the_same_time_grant_it_once() {
    for db in databases().await {
        let mut first = db.begin().await;
        assert_eq!(outcomes(&mut first, &[session("evt_1", COMPLETED, "paid")]).await, [Outcome::Done]);
        let store = db.store.clone();
        let second = tokio::spawn(async move {
            let mut tx = store.inbox.begin(Duration::from_mins(1)).await.unwrap();
            let outcomes = outcomes(&mut tx, &[session("evt_2", SUCCEEDED, "paid")]).await;
            tx.commit().await.unwrap();
            outcomes
        });
        db.until_one_waits(&mut first).await;
        first.commit().await.unwrap();
        assert_eq!(second.await.unwrap(), [idempotent(SESSION)]);
        let mut tx = db.begin().await;
        assert_eq!(grants(&mut tx).await, 1);
    }
}
