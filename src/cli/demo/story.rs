//! The demo's story as a table: what is sent, in which order, and what must come of it.

/// One scene: one request, or the burst.
pub(super) struct Scene {
    /// The endpoint it is sent to.
    pub(super) endpoint: &'static str,
    /// For the table: what comes in.
    pub(super) what: &'static str,
    /// How the request is made.
    pub(super) make: Make,
    /// The outcome that it must have.
    pub(super) expected: &'static str,
    /// For the table: why it is that.
    pub(super) why: &'static str,
}

/// How a scene's request is made. `event` and `object` go into the sample's ids, so that scenes can speak of the same
/// event or of the same invoice.
pub(super) enum Make {
    /// A sample, signed with the endpoint's own secret.
    Sample { event_type: &'static str, event: &'static str, object: &'static str },
    /// The same, with one byte of the body changed after signing.
    Tampered { event_type: &'static str, event: &'static str, object: &'static str },
    /// The same, signed this many seconds ago.
    Late { event_type: &'static str, event: &'static str, seconds: u64 },
    /// A sample, signed with another endpoint's secret.
    SecretOf { endpoint: &'static str, event_type: &'static str, event: &'static str },
    /// Slack's challenge: a body of its own.
    Body(&'static str),
    /// This many copies, all at once, of one event.
    Copies { event_type: &'static str, event: &'static str, copies: usize },
}

const INVOICE: &str = "DemoInvoice";
const PAID: Make = Make::Sample { event_type: "invoice.paid", event: "DemoPaid", object: INVOICE };

/// The story.
pub(super) const STORY: &[Scene] = &[
    Scene {
        endpoint: "billing",
        what: "invoice.paid, before its invoice.created",
        make: PAID,
        expected: "processed",
        why: "genuine: booked in the ledger, one message for the outbox, all in one transaction",
    },
    Scene {
        endpoint: "billing",
        what: "the same event again",
        make: PAID,
        expected: "duplicate",
        why: "the same event id: answered 200, nothing done",
    },
    Scene {
        endpoint: "billing",
        what: "invoice.created, too late",
        make: Make::Sample { event_type: "invoice.created", event: "DemoCreated", object: INVOICE },
        expected: "processed",
        why: "out of order: the invoice stays paid",
    },
    Scene {
        endpoint: "billing",
        what: "invoice.paid of that invoice under a new event id",
        make: Make::Sample { event_type: "invoice.paid", event: "DemoPaidTwice", object: INVOICE },
        expected: "processed",
        why: "a new event about a paid invoice: nothing is booked twice",
    },
    Scene {
        endpoint: "billing",
        what: "one byte changed on the way",
        make: Make::Tampered { event_type: "invoice.paid", event: "DemoTampered", object: INVOICE },
        expected: "rejected",
        why: "the signature does not fit the bytes: 400, nothing stored",
    },
    Scene {
        endpoint: "billing",
        what: "signed ten minutes ago",
        make: Make::Late { event_type: "invoice.paid", event: "DemoLate", seconds: 600 },
        expected: "rejected",
        why: "older than the tolerance of 300 s: it could be a replay",
    },
    Scene {
        endpoint: "billing",
        what: "signed with the test endpoint's secret",
        make: Make::SecretOf { endpoint: "billing-test", event_type: "invoice.paid", event: "DemoForeign" },
        expected: "rejected",
        why: "the log says: signed with the secret of endpoint `billing-test`",
    },
    Scene {
        endpoint: "github",
        what: "a push",
        make: Make::Sample { event_type: "push", event: "DemoPush", object: "DemoRepository" },
        expected: "accepted",
        why: "async: durable first, then a worker forwards it",
    },
    Scene {
        endpoint: "slack",
        what: "url_verification",
        make: Make::Body(r#"{"type":"url_verification","token":"none","challenge":"demo"}"#),
        expected: "handshake",
        why: "Slack's challenge, answered as Slack expects it",
    },
    Scene {
        endpoint: "standard",
        what: "a burst: 40 copies of one event at once",
        make: Make::Copies { event_type: "user.created", event: "DemoBurst", copies: 40 },
        expected: "accepted",
        why: "one is stored, 39 are duplicates: the primary key tells, not memory",
    },
];
