//! `stripe_billing` on both engines.

use std::time::Duration;

use hookgate::handler::{Handler as _, Outcome, StripeBilling};
use hookgate::model::Event;
use hookgate::store::{Param, Sql, Tx};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::support::{Db, databases, event, handle_all, number, row, text};

const INVOICE: &str = "in_1";
const PAID_AT: i64 = 1_690_000_000;

/// An event about the one invoice.
fn invoice(id: &str, event_type: &str, amount: i64) -> Event {
    let body = json!({ "id": id, "type": event_type, "data": { "object": {
        "id": INVOICE,
        "customer": "cus_1",
        "amount_paid": amount,
        "status_transitions": { "paid_at": PAID_AT + amount },
    }}});
    event(event_type, id, &body.to_string())
}

fn done() -> Outcome {
    Outcome::Done
}

fn idempotent() -> Outcome {
    Outcome::Idempotent { key: INVOICE.into() }
}

/// What is stored of the invoice.
#[derive(Clone, Debug, PartialEq)]
struct Stored {
    status: String,
    amount_paid: i64,
    paid_at: Option<String>,
    /// Number and sum.
    ledger: (i64, i64),
    messages: i64,
}

async fn stored(tx: &mut Tx) -> Stored {
    const ROW: Sql = Sql::same(
        "SELECT status, amount_paid, CAST(paid_at AS text) FROM invoices WHERE id = $1 AND customer_id = 'cus_1'",
    );
    const ENTRIES: Sql =
        Sql::same("SELECT count(*) FROM ledger_entries WHERE invoice_id = $1 AND kind = 'payment'");
    const SUM: Sql = Sql::same("SELECT CAST(coalesce(sum(amount), 0) AS bigint) FROM ledger_entries");
    const MESSAGES: Sql = Sql::same(
        "SELECT count(*) FROM outbox WHERE aggregate_type = 'Invoice' AND aggregate_id = $1 \
         AND event_type = 'InvoicePaymentBooked'",
    );
    let row = row(tx, ROW, &[text(INVOICE)]).await.expect("the invoice");
    let [Param::Text(Some(status)), Param::Bigint(Some(amount_paid)), Param::Text(paid_at)] = row.as_slice()
    else {
        panic!("{row:?}")
    };
    Stored {
        status: status.clone(),
        amount_paid: *amount_paid,
        paid_at: paid_at.clone(),
        ledger: (number(tx, ENTRIES, &[text(INVOICE)]).await, number(tx, SUM, &[]).await),
        messages: number(tx, MESSAGES, &[text(INVOICE)]).await,
    }
}

async fn outcomes(tx: &mut Tx, events: &[Event]) -> Vec<Outcome> {
    handle_all(tx, &StripeBilling, events)
        .await
        .into_iter()
        .map(|outcome| outcome.expect("success"))
        .collect()
}

#[tokio::test]
async fn an_invoice_is_opened_then_paid_and_booked_with_one_message() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let events = [invoice("evt_1", "invoice.created", 0), invoice("evt_2", "invoice.paid", 1200)];
        assert_eq!(outcomes(&mut tx, &events[..1]).await, [done()]);
        let open = stored(&mut tx).await;
        assert_eq!(
            (open.status.as_str(), open.amount_paid, open.paid_at, open.ledger.0),
            ("open", 0, None, 0)
        );
        assert_eq!(outcomes(&mut tx, &events[1..]).await, [done()]);
        let paid = stored(&mut tx).await;
        assert_eq!(
            (paid.status.as_str(), paid.amount_paid, paid.ledger, paid.messages),
            ("paid", 1200, (1, 1200), 1)
        );
        assert!(paid.paid_at.is_some_and(|at| at.starts_with("2023-07-22") && at.contains("04:46:40")));
        let message = Sql {
            postgres: "SELECT payload ->> 'invoice_id', CAST(payload ->> 'amount' AS bigint) FROM outbox",
            sqlite: "SELECT payload ->> 'invoice_id', payload ->> 'amount' FROM outbox",
        };
        assert_eq!(row(&mut tx, message, &[]).await, Some(vec![text(INVOICE), Param::Bigint(Some(1200))]));
    }
}

#[tokio::test]
async fn a_payment_that_comes_first_is_not_turned_back_by_the_creation() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let events = [invoice("evt_2", "invoice.paid", 1200), invoice("evt_1", "invoice.created", 0)];
        assert_eq!(outcomes(&mut tx, &events).await, [done(), idempotent()]);
        let paid = stored(&mut tx).await;
        assert_eq!(
            (paid.status.as_str(), paid.amount_paid, paid.ledger, paid.messages),
            ("paid", 1200, (1, 1200), 1)
        );
    }
}

#[tokio::test]
async fn a_second_payment_event_for_a_paid_invoice_changes_and_emits_nothing() {
    for db in databases().await {
        let mut tx = db.begin().await;
        assert_eq!(outcomes(&mut tx, &[invoice("evt_1", "invoice.paid", 1200)]).await, [done()]);
        let before = stored(&mut tx).await;
        assert_eq!(outcomes(&mut tx, &[invoice("evt_2", "invoice.paid", 999)]).await, [idempotent()]);
        assert_eq!(stored(&mut tx).await, before);
    }
}

#[tokio::test]
async fn an_invoice_that_is_paid_without_an_entry_is_booked() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let paid =
            "INSERT INTO invoices (id, customer_id, status, amount_paid) VALUES ('in_1', 'cus_1', 'paid', 7)";
        tx.execute_text(paid, &[]).await.unwrap();
        assert_eq!(outcomes(&mut tx, &[invoice("evt_1", "invoice.paid", 7)]).await, [done()]);
        let paid = stored(&mut tx).await;
        assert_eq!((paid.ledger, paid.messages), ((1, 7), 1));
    }
}

#[tokio::test]
async fn a_payment_on_a_void_invoice_books_nothing_and_is_flagged() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let events = [invoice("evt_1", "invoice.voided", 0), invoice("evt_2", "invoice.paid", 1200)];
        let outcomes = outcomes(&mut tx, &events).await;
        assert_eq!(outcomes[0], done());
        assert!(
            matches!(&outcomes[1], Outcome::Flagged { reason } if reason.contains("in_1")),
            "{outcomes:?}"
        );
        let void = stored(&mut tx).await;
        assert_eq!(
            (void.status.as_str(), void.amount_paid, void.paid_at, void.ledger.0, void.messages),
            ("void", 0, None, 0, 0)
        );
    }
}

#[tokio::test]
async fn voiding_a_paid_invoice_changes_nothing_and_is_flagged() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let events = [invoice("evt_1", "invoice.paid", 5), invoice("evt_2", "invoice.voided", 0)];
        let outcomes = outcomes(&mut tx, &events).await;
        assert!(matches!(outcomes[..], [Outcome::Done, Outcome::Flagged { .. }]), "{outcomes:?}");
        assert_eq!(stored(&mut tx).await.status, "paid");
    }
}

#[tokio::test]
async fn an_uncollectible_invoice_can_still_be_paid() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let events = [
            invoice("evt_1", "invoice.created", 0),
            invoice("evt_2", "invoice.marked_uncollectible", 0),
            invoice("evt_3", "invoice.paid", 5),
            invoice("evt_4", "invoice.marked_uncollectible", 0),
        ];
        assert_eq!(outcomes(&mut tx, &events).await, [done(), done(), done(), idempotent()]);
        assert_eq!(stored(&mut tx).await.status, "paid");
    }
}

#[tokio::test]
async fn other_events_are_ignored_whatever_they_carry() {
    for db in databases().await {
        let mut tx = db.begin().await;
        for event_type in
            ["invoice.payment_failed", "invoice.updated", "invoice.payment_succeeded", "charge.refunded", ""]
        {
            let outcome =
                StripeBilling.handle(&mut tx, &event(event_type, "evt_1", "no json")).await.unwrap();
            assert_eq!(outcome, Outcome::Ignored, "{event_type}");
        }
    }
}

#[tokio::test]
async fn an_event_without_what_it_must_carry_fails_for_good() {
    for db in databases().await {
        let mut tx = db.begin().await;
        for (object, code) in [
            (json!({ "customer": "cus_1", "amount_paid": 1 }), "handler.payload.id"),
            (json!({ "id": "in_1", "amount_paid": 1 }), "handler.payload.customer"),
            (json!({ "id": "in_1", "customer": null, "amount_paid": 1 }), "handler.payload.customer"),
            (
                json!({ "id": "in_1", "customer": { "id": "cus_1" }, "amount_paid": 1 }),
                "handler.payload.customer",
            ),
            (json!({ "id": "in_1", "customer": "cus_1" }), "handler.payload.amount_paid"),
            (json!({ "id": "in_1", "customer": "cus_1", "amount_paid": 1.5 }), "handler.payload.amount_paid"),
            (json!({ "id": "in_1", "customer": "cus_1", "amount_paid": "1" }), "handler.payload.amount_paid"),
        ] {
            let event = event("invoice.paid", "evt_1", &json!({ "data": { "object": object } }).to_string());
            let error = StripeBilling.handle(&mut tx, &event).await.expect_err(code);
            assert_eq!((error.code.as_str(), error.retryable), (code, false));
        }
        let invoices = Sql::same("SELECT count(*) FROM invoices");
        assert_eq!(number(&mut tx, invoices, &[]).await, 0);
    }
}

#[tokio::test]
async fn the_time_of_a_payment_is_the_invoices_else_the_events() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let body = json!({ "data": { "object": { "id": INVOICE, "customer": "cus_1", "amount_paid": 3_000_000_000_i64 } } });
        assert_eq!(outcomes(&mut tx, &[event("invoice.paid", "evt_1", &body.to_string())]).await, [done()]);
        let paid = stored(&mut tx).await;
        assert!(paid.paid_at.is_some_and(|at| at.starts_with("2023-11-14") && at.contains("22:13:20")));
        assert_eq!(paid.ledger, (1, 3_000_000_000));
    }
}

/// What an invoice may become, told without SQL.
fn next(status: Option<&'static str>, event_type: &str) -> Option<&'static str> {
    match (status, event_type) {
        (None, "invoice.created") => Some("open"),
        (None | Some("open"), "invoice.marked_uncollectible") => Some("uncollectible"),
        (None | Some("open" | "uncollectible"), "invoice.voided") => Some("void"),
        (None | Some("open" | "uncollectible"), "invoice.paid") => Some("paid"),
        _ => status,
    }
}

async fn play(db: &Db, story: &[(&str, i64)]) -> Result<(), TestCaseError> {
    let mut tx = db.begin().await;
    let mut status = None;
    let mut settled: Option<Stored> = None;
    let mut clash = false;
    for (nth, (event_type, amount)) in story.iter().enumerate() {
        let outcome =
            outcomes(&mut tx, &[invoice(&format!("evt_{nth}"), event_type, *amount)]).await.remove(0);
        let before = status;
        status = next(status, event_type);
        clash |= matches!(outcome, Outcome::Flagged { .. });
        let now = stored(&mut tx).await;
        prop_assert_eq!(Some(now.status.as_str()), status);
        prop_assert_eq!(outcome == Outcome::Done, before != status);
        prop_assert_eq!(now.ledger.0, i64::from(status == Some("paid")));
        prop_assert_eq!(now.messages, now.ledger.0);
        prop_assert_eq!(now.ledger.1, now.amount_paid);
        if let Some(settled) = &settled {
            prop_assert_eq!(&now, settled, "what is paid or void stays as it was");
        } else if matches!(status, Some("paid" | "void")) {
            settled = Some(now);
        }
    }
    let has = |event_type| story.iter().any(|(other, _)| *other == event_type);
    prop_assert_eq!(
        clash,
        has("invoice.paid") && has("invoice.voided"),
        "a payment that meets a void one is shown"
    );
    Ok(())
}

#[test]
fn any_order_and_repetition_of_events_books_at_most_once_and_never_turns_back() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let types =
        ["invoice.created", "invoice.paid", "invoice.paid", "invoice.marked_uncollectible", "invoice.voided"];
    let story = prop::collection::vec((prop::sample::select(types.to_vec()), 0_i64..4), 1..9);
    for db in runtime.block_on(databases()) {
        TestRunner::new(Config { failure_persistence: None, cases: 64, ..Config::default() })
            .run(&story, |story| runtime.block_on(play(&db, &story)))
            .unwrap();
    }
}

#[tokio::test]
async fn two_events_about_one_invoice_at_the_same_time_book_it_once() {
    for db in databases().await {
        let mut first = db.begin().await;
        assert_eq!(outcomes(&mut first, &[invoice("evt_1", "invoice.paid", 5)]).await, [done()]);
        let store = db.store.clone();
        let second = tokio::spawn(async move {
            let mut tx = store.inbox.begin(Duration::from_mins(1)).await.unwrap();
            let outcomes = outcomes(&mut tx, &[invoice("evt_2", "invoice.paid", 5)]).await;
            tx.commit().await.unwrap();
            outcomes
        });
        db.until_one_waits(&mut first).await;
        first.commit().await.unwrap();
        assert_eq!(second.await.unwrap(), [idempotent()]);
        let mut tx = db.begin().await;
        let paid = stored(&mut tx).await;
        assert_eq!((paid.ledger, paid.messages), ((1, 5), 1));
    }
}

#[tokio::test]
async fn an_event_that_waited_for_one_that_was_rolled_back_does_the_work() {
    for db in databases().await {
        let mut first = db.begin().await;
        assert_eq!(outcomes(&mut first, &[invoice("evt_1", "invoice.paid", 5)]).await, [done()]);
        let store = db.store.clone();
        let second = tokio::spawn(async move {
            let mut tx = store.inbox.begin(Duration::from_mins(1)).await.unwrap();
            let outcomes = outcomes(&mut tx, &[invoice("evt_2", "invoice.paid", 6)]).await;
            tx.commit().await.unwrap();
            outcomes
        });
        db.until_one_waits(&mut first).await;
        first.rollback().await;
        assert_eq!(second.await.unwrap(), [done()]);
        let mut tx = db.begin().await;
        let paid = stored(&mut tx).await;
        assert_eq!((paid.ledger, paid.messages), ((1, 6), 1));
    }
}
