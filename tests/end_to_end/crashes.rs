//! The process ends at each boundary of its work: what a redelivery or a restart then finds.

use super::{EFFECTS, INBOX, NOTE_EFFECT, PROCESSED};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::destination::Destination;
use crate::support::gateway::GatewayConfig;
use crate::support::stripe;

/// Where the process ends while the provider waits for the answer.
const BEFORE_THE_REPLY: [(&str, &str); 4] = [
    ("sync", "process.after_insert"),
    ("sync", "process.before_commit"),
    ("sync", "receive.before_reply"),
    ("async", "receive.before_reply"),
];

/// Where it ends after the provider has had its answer.
const AFTER_THE_REPLY: [(&str, &str); 5] = [
    ("async", "worker.claimed"),
    ("async", "worker.working"),
    ("async", "process.before_commit"),
    ("sync", "outbox.before_send"),
    ("sync", "outbox.before_settle"),
];

async fn a_crash_before_the_reply_is_healed_by_the_redelivery(engine: Engine) {
    for (mode, place) in BEFORE_THE_REPLY {
        let fixture = Fixture::new(engine, mode).await;
        let gateway = fixture.config.start_to_crash_at(place).await;
        let answer = gateway.deliver(body()).await;
        assert!(answer.is_err(), "{mode} {place}: answered although it was to crash: {answer:?}");
        gateway.ended().await;

        let committed = place == "receive.before_reply";
        assert_eq!(fixture.database.count(INBOX).await, i64::from(committed), "{mode} {place}");
        let gateway = fixture.config.start().await;
        let again = gateway.deliver(body()).await.expect("an answer");
        let expected = if committed { "duplicate" } else { "processed" };
        assert_eq!(again.summary(), (200, expected), "{mode} {place}");
        fixture.assert_done_once(&format!("{mode} {place}")).await;
    }
}

async fn a_crash_after_the_reply_is_healed_by_the_restart(engine: Engine) {
    for (mode, place) in AFTER_THE_REPLY {
        let fixture = Fixture::new(engine, mode).await;
        let gateway = fixture.config.start_to_crash_at(place).await;
        // The crash may be quicker than the answer. Then the provider has none and sends again.
        let acknowledged = gateway.deliver(body()).await.is_ok();
        gateway.ended().await;

        let gateway = fixture.config.start().await;
        if !acknowledged {
            gateway.deliver(body()).await.expect("an answer");
        }
        fixture.assert_done_once(&format!("{mode} {place}")).await;
    }
}

/// `outbox.before_settle`: the destination has the message, the gateway does not know it.
async fn a_message_whose_settlement_is_lost_is_sent_again_under_the_same_id(engine: Engine) {
    let fixture = Fixture::new(engine, "sync").await;
    let gateway = fixture.config.start_to_crash_at("outbox.before_settle").await;
    let _ = gateway.deliver(body()).await;
    gateway.ended().await;
    assert_eq!(fixture.destination.deliveries().len(), 1);
    let _gateway = fixture.config.start().await;
    let deliveries = fixture.destination.wait_for(2).await;
    assert_eq!(deliveries[0].header("webhook-id"), deliveries[1].header("webhook-id"));
    assert!(deliveries[0].header("webhook-id").starts_with("msg_"));
    assert_eq!(deliveries[0].body, deliveries[1].body);
}

both_engines!(
    a_crash_before_the_reply_is_healed_by_the_redelivery,
    a_crash_after_the_reply_is_healed_by_the_restart,
    a_message_whose_settlement_is_lost_is_sent_again_under_the_same_id,
);

fn body() -> Vec<u8> {
    stripe::event("evt_1", "customer.created", &serde_json::json!({ "id": "cus_1" }))
}

/// A gateway that notes an effect and forwards the event, with leases that end soon.
struct Fixture {
    database: Database,
    destination: Destination,
    config: GatewayConfig,
}

impl Fixture {
    async fn new(engine: Engine, mode: &str) -> Self {
        let database = Database::new(engine).await.with_effects().await;
        let destination = Destination::start().await;
        let config = GatewayConfig::new(&database.url, mode)
            .sql_handler("note", NOTE_EFFECT)
            .destination("crm", &destination.url(), None)
            .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n")
            .with(SHORT_LEASES);
        Self { database, destination, config }
    }

    /// One effect, one processed row, and one message that was delivered at least once under one id.
    async fn assert_done_once(&self, case: &str) {
        self.database.wait_for(PROCESSED, 1).await;
        assert_eq!(self.database.count(EFFECTS).await, 1, "{case}: the effect happens once");
        self.database.wait_for("SELECT count(*) FROM outbox WHERE published_at IS NOT NULL", 1).await;
        assert_eq!(self.database.count(INBOX).await, 1, "{case}");
        assert_eq!(self.database.count("SELECT count(*) FROM outbox").await, 1, "{case}: one message");
        let deliveries = self.destination.deliveries();
        assert!(!deliveries.is_empty(), "{case}: the message was delivered");
        let id = deliveries[0].header("webhook-id");
        assert!(
            deliveries.iter().all(|delivery| delivery.header("webhook-id") == id),
            "{case}: one webhook-id"
        );
    }
}

pub(super) const SHORT_LEASES: &str = r#"
[inbox]
lease = "2s"
statement_timeout = "1s"
work_timeout = "1500ms"
sync_timeout = "10s"
poll_interval = "50ms"
backoff_cap = "1s"
[outbox]
lease = "2s"
work_timeout = "1500ms"
poll_interval = "50ms"
backoff_cap = "1s"
"#;
