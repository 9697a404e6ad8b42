//! Stripe's side of the wire, written anew here so that the gateway is not tested against itself.
//! <https://docs.stripe.com/webhooks?verify=verify-manually>

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

/// The secret that [`super::GatewayConfig`] gives its endpoint.
pub const SECRET: &str = "whsec_test_4f6a1c9d2e8b7f3a5c0d9e1b";

/// When everything happened at Stripe.
const CREATED: i64 = 1_790_000_000;

/// The machine's time in Unix seconds.
pub fn now() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "the sender's clock is the machine's")]
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs().try_into().expect("before 2262")
}

/// HMAC-SHA-256 of a body in hexadecimal digits, as other providers sign.
pub fn mac(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    mac.update(body);
    hex::encode(mac.finalize().into_bytes())
}

/// `Stripe-Signature` for `body`, made at `timestamp`.
pub fn signature_at(secret: &str, body: &[u8], timestamp: i64) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    mac.update(format!("{timestamp}.").as_bytes());
    mac.update(body);
    format!("t={timestamp},v1={}", hex::encode(mac.finalize().into_bytes()))
}

/// `Stripe-Signature` for `body`, made now with [`SECRET`].
pub fn signature(body: &[u8]) -> String {
    signature_at(SECRET, body, now())
}

/// An event as Stripe sends it: the same arguments make the same bytes.
pub fn event(id: &str, event_type: &str, object: &Value) -> Vec<u8> {
    json!({
        "id": id,
        "object": "event",
        "api_version": "2026-09-30",
        "created": CREATED,
        "livemode": false,
        "pending_webhooks": 1,
        "request": { "id": null, "idempotency_key": null },
        "type": event_type,
        "data": { "object": object }
    })
    .to_string()
    .into_bytes()
}

/// `invoice.paid` of one invoice.
pub fn invoice_paid(event_id: &str, invoice_id: &str, amount: i64) -> Vec<u8> {
    event(
        event_id,
        "invoice.paid",
        &json!({
            "id": invoice_id,
            "object": "invoice",
            "customer": "cus_Q1",
            "status": "paid",
            "currency": "eur",
            "amount_paid": amount,
            "status_transitions": { "paid_at": CREATED }
        }),
    )
}

/// `checkout.session.completed` of one paid session.
pub fn checkout_completed(event_id: &str, session_id: &str) -> Vec<u8> {
    event(
        event_id,
        "checkout.session.completed",
        &json!({
            "id": session_id,
            "object": "checkout.session",
            "customer": "cus_Q1",
            "payment_status": "paid",
            "metadata": { "tier": "pro" }
        }),
    )
}
