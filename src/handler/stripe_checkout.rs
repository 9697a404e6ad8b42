//! `stripe_checkout`: one entitlement for each checkout session that is paid, and one for each renewal.
//!
//! | event | what happens |
//! |---|---|
//! | `checkout.session.completed` | granted if `payment_status` is `paid` or `no_payment_required`; `unpaid` waits |
//! | `checkout.session.async_payment_succeeded` | granted |
//! | `checkout.session.async_payment_failed` | nothing, and a person is called if the session was granted before |
//! | `invoice.paid` with `billing_reason = subscription_cycle` | granted as a renewal |
//! | others | ignored |
//!
//! A row is a grant: nothing is written for a session that waits. The session's id is the key, whatever event speaks
//! of it, so that copies, replays and repair runs change nothing. A renewal has no session: its row carries the
//! invoice's id in both columns (ids of sessions begin with `cs_`, those of invoices with `in_`), and only renewals
//! have an `invoice_id`. The first invoice of a subscription says `subscription_create` and is not one: its session grants.
//!
//! Facts: <https://docs.stripe.com/checkout/fulfillment>, <https://docs.stripe.com/api/checkout/sessions/object>,
//! <https://docs.stripe.com/api/invoices/object>.

use async_trait::async_trait;

use super::{Handler, HandlerError, Outcome, Payload};
use crate::model::Event;
use crate::store::{Param, Sql, Tx};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct StripeCheckout;

/// $1 session, $2 customer, $3 tier, $4 payment status, $5 invoice, $6 event
const GRANT: Sql = Sql::same(
    "INSERT INTO entitlements (session_id, customer_id, tier, payment_status, invoice_id, event_id) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
);

/// $1 session
const GRANTED: Sql = Sql::same("SELECT event_id FROM entitlements WHERE session_id = $1");

/// Where an invoice carries the metadata of its subscription, newest form first; its own metadata wins.
const RENEWAL_TIERS: [&str; 3] = [
    "/data/object/metadata/tier",
    "/data/object/parent/subscription_details/metadata/tier",
    "/data/object/subscription_details/metadata/tier",
];

#[async_trait]
impl Handler for StripeCheckout {
    async fn handle(&self, tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
        match event.event_type.as_str() {
            "checkout.session.completed" => completed(tx, event).await,
            "checkout.session.async_payment_succeeded" => {
                Grant::of_session(event, "paid")?.write(tx, event).await
            }
            "checkout.session.async_payment_failed" => failed(tx, event).await,
            "invoice.paid" => renewed(tx, event).await,
            _ => Ok(Outcome::Ignored),
        }
    }
}

async fn completed(tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
    let status = Payload::of(event)?.text("/data/object/payment_status")?;
    match status.as_str() {
        "paid" | "no_payment_required" => Grant::of_session(event, &status)?.write(tx, event).await,
        "unpaid" => waiting(tx, event).await,
        _ => Err(HandlerError::permanent(
            "handler.payload.payment_status",
            "the payment status is none of paid, no_payment_required, unpaid",
        )),
    }
}

/// The money comes later, if it did not come with an event that overtook this one.
async fn waiting(tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
    let session = Payload::of(event)?.text("/data/object/id")?;
    Ok(if is_granted(tx, &session).await? { Outcome::Idempotent { key: session } } else { Outcome::Done })
}

async fn failed(tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
    let session = Payload::of(event)?.text("/data/object/id")?;
    if !is_granted(tx, &session).await? {
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Flagged {
        reason: format!("the payment of session {session} failed, but it was granted before"),
    })
}

async fn is_granted(tx: &mut Tx, session: &str) -> Result<bool, HandlerError> {
    Ok(tx.fetch_optional(GRANTED, &[Param::Text(Some(session.into()))]).await?.is_some())
}

async fn renewed(tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
    let payload = Payload::of(event)?;
    if payload.optional_text("/data/object/billing_reason")?.as_deref() != Some("subscription_cycle") {
        return Ok(Outcome::Ignored);
    }
    let invoice = payload.text("/data/object/id")?;
    let mut tier = None;
    for pointer in RENEWAL_TIERS {
        tier = tier.or(payload.optional_text(pointer)?);
    }
    let grant = Grant {
        session: invoice.clone(),
        customer: payload.optional_text("/data/object/customer")?,
        tier,
        payment_status: "paid".into(),
        invoice: Some(invoice),
    };
    grant.write(tx, event).await
}

/// An entitlement to be.
struct Grant {
    session: String,
    customer: Option<String>,
    tier: Option<String>,
    payment_status: String,
    invoice: Option<String>,
}

impl Grant {
    /// What a session's event grants. A guest has no customer, and a shop with one product no tier.
    fn of_session(event: &Event, payment_status: &str) -> Result<Self, HandlerError> {
        let payload = Payload::of(event)?;
        Ok(Self {
            session: payload.text("/data/object/id")?,
            customer: payload.optional_text("/data/object/customer")?,
            tier: payload.optional_text("/data/object/metadata/tier")?,
            payment_status: payment_status.into(),
            invoice: None,
        })
    }

    /// Grants it, unless that was done before. A concurrent event about the same session is waited for.
    async fn write(self, tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
        let values = [
            Some(self.session.clone()),
            self.customer,
            self.tier,
            Some(self.payment_status),
            self.invoice,
            Some(event.key.event_id.clone()),
        ];
        let granted = tx.execute(GRANT, &values.map(Param::Text)).await?;
        Ok(if granted == 0 { Outcome::Idempotent { key: self.session } } else { Outcome::Done })
    }
}
