//! `stripe_billing`: invoices and the ledger of their payments.
//!
//! | event | invoice | ledger | outcome |
//! |---|---|---|---|
//! | `invoice.created` | inserted as `open` if it is not known | | done, or idempotent |
//! | `invoice.paid` | inserted or turned `paid`, unless it is `paid` or `void` | one `payment` if it is now `paid` and has none; then `InvoicePaymentBooked` is emitted | done, idempotent, or flagged on a void invoice |
//! | `invoice.marked_uncollectible` | inserted or turned from `draft` or `open` | | done, or idempotent |
//! | `invoice.voided` | inserted or turned, unless it is `paid` or `void` | | done, idempotent, or flagged on a paid invoice |
//! | others | | | ignored |
//!
//! The order of arrival does not matter: `paid` and `void` are final, `uncollectible` gives way to these two only, and
//! a payment that meets `void`, whichever came first, is not booked twice or taken back but shown to a person.
//! Statuses of the invoice object: <https://docs.stripe.com/invoicing/overview#invoice-statuses>.

use async_trait::async_trait;
use serde_json::json;

use super::{Handler, HandlerError, Outcome, Payload};
use crate::model::{Event, NewMessage};
use crate::store::{Param, Sql, Tx};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct StripeBilling;

/// $1 id, $2 customer
const CREATED: Sql = Sql::same(
    "INSERT INTO invoices (id, customer_id, status) VALUES ($1, $2, 'open') ON CONFLICT (id) DO NOTHING",
);

/// $1 id, $2 customer, $3 amount, $4 when it was paid. The conflicting row is locked even where it is left alone, so
/// that what is read afterwards stays true until the commit.
const PAID: Sql = Sql {
    postgres: "INSERT INTO invoices (id, customer_id, status, amount_paid, paid_at) VALUES ($1, $2, 'paid', $3, $4) \
               ON CONFLICT (id) DO UPDATE SET status = 'paid', amount_paid = excluded.amount_paid, \
               paid_at = coalesce(invoices.paid_at, excluded.paid_at), updated_at = now() \
               WHERE invoices.status NOT IN ('paid', 'void')",
    sqlite: "INSERT INTO invoices (id, customer_id, status, amount_paid, paid_at) VALUES ($1, $2, 'paid', $3, $4) \
             ON CONFLICT (id) DO UPDATE SET status = 'paid', amount_paid = excluded.amount_paid, \
             paid_at = coalesce(invoices.paid_at, excluded.paid_at), \
             updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') \
             WHERE invoices.status NOT IN ('paid', 'void')",
};

/// $1 id, $2 amount
const BOOKED: Sql = Sql::same(
    "INSERT INTO ledger_entries (invoice_id, kind, amount) \
     SELECT id, 'payment', CAST($2 AS bigint) FROM invoices WHERE id = $1 AND status = 'paid' \
     ON CONFLICT (invoice_id, kind) DO NOTHING",
);

/// $1 id, $2 customer
const UNCOLLECTIBLE: Sql = Sql {
    postgres: "INSERT INTO invoices (id, customer_id, status) VALUES ($1, $2, 'uncollectible') \
               ON CONFLICT (id) DO UPDATE SET status = 'uncollectible', updated_at = now() \
               WHERE invoices.status IN ('draft', 'open')",
    sqlite: "INSERT INTO invoices (id, customer_id, status) VALUES ($1, $2, 'uncollectible') \
             ON CONFLICT (id) DO UPDATE SET status = 'uncollectible', \
             updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') \
             WHERE invoices.status IN ('draft', 'open')",
};

/// $1 id, $2 customer
const VOIDED: Sql = Sql {
    postgres: "INSERT INTO invoices (id, customer_id, status) VALUES ($1, $2, 'void') \
               ON CONFLICT (id) DO UPDATE SET status = 'void', updated_at = now() \
               WHERE invoices.status NOT IN ('paid', 'void')",
    sqlite: "INSERT INTO invoices (id, customer_id, status) VALUES ($1, $2, 'void') \
             ON CONFLICT (id) DO UPDATE SET status = 'void', updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') \
             WHERE invoices.status NOT IN ('paid', 'void')",
};

/// $1 id
const STATUS: Sql = Sql::same("SELECT status FROM invoices WHERE id = $1");

#[async_trait]
impl Handler for StripeBilling {
    async fn handle(&self, tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
        let change = match event.event_type.as_str() {
            "invoice.created" => CREATED,
            "invoice.marked_uncollectible" => UNCOLLECTIBLE,
            "invoice.voided" => VOIDED,
            "invoice.paid" => return paid(tx, event).await,
            _ => return Ok(Outcome::Ignored),
        };
        let invoice = Invoice::of(event)?;
        let changed = tx.execute(change, &[text(&invoice.id), text(&invoice.customer)]).await?;
        if changed == 0 && event.event_type == "invoice.voided" && status(tx, &invoice.id).await? == "paid" {
            return Ok(Outcome::Flagged {
                reason: format!(
                    "invoice {} is reported void after it was paid; nothing was changed",
                    invoice.id
                ),
            });
        }
        Ok(if changed == 0 { Outcome::Idempotent { key: invoice.id } } else { Outcome::Done })
    }
}

async fn paid(tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
    let invoice = Invoice::of(event)?;
    let payload = Payload::of(event)?;
    let amount = payload.bigint("/data/object/amount_paid")?;
    let paid_at = payload
        .optional_unix_time("/data/object/status_transitions/paid_at")?
        .or(event.occurred_at)
        .unwrap_or(event.received_at);
    let values = [
        text(&invoice.id),
        text(&invoice.customer),
        Param::Bigint(Some(amount)),
        Param::Timestamptz(Some(paid_at)),
    ];
    let changed = tx.execute(PAID, &values).await?;
    if changed == 0 && status(tx, &invoice.id).await? == "void" {
        return Ok(Outcome::Flagged {
            reason: format!(
                "a payment arrived for invoice {}, which is void; nothing was booked",
                invoice.id
            ),
        });
    }
    let booked = tx.execute(BOOKED, &[text(&invoice.id), Param::Bigint(Some(amount))]).await?;
    if booked == 0 {
        return Ok(Outcome::Idempotent { key: invoice.id });
    }
    let message = NewMessage {
        aggregate_type: "Invoice".into(),
        aggregate_id: invoice.id.clone(),
        event_type: "InvoicePaymentBooked".into(),
        payload: json!({ "invoice_id": invoice.id, "amount": amount }).to_string(),
    };
    tx.emit(event, &message).await?;
    Ok(Outcome::Done)
}

/// What all events about an invoice say of it.
struct Invoice {
    id: String,
    customer: String,
}

impl Invoice {
    fn of(event: &Event) -> Result<Self, HandlerError> {
        let payload = Payload::of(event)?;
        Ok(Self { id: payload.text("/data/object/id")?, customer: payload.text("/data/object/customer")? })
    }
}

/// The stored status of an invoice that is there.
async fn status(tx: &mut Tx, id: &str) -> Result<String, HandlerError> {
    let row = tx.fetch_optional(STATUS, &[text(id)]).await?.unwrap_or_default();
    match row.into_iter().next() {
        Some(Param::Text(Some(status))) => Ok(status),
        _ => Err(HandlerError::retryable(
            "handler.invoice_vanished",
            format!("invoice {id} was deleted meanwhile"),
        )),
    }
}

fn text(value: &str) -> Param {
    Param::Text(Some(value.into()))
}
