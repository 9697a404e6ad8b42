//! `mode = "proxy"`: a destination answers while the provider waits.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{INBOX, PROCESSED};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::destination::{Behaviour, Destination};
use crate::support::gateway::{GatewayConfig, PATH, field};
use crate::support::process::Signal;
use crate::support::{http, stripe, wait};

const FLAGGED: &str =
    "SELECT count(*) FROM webhook_inbox WHERE outcome = 'flagged' AND review_at IS NOT NULL";
const ANSWERS: &str = "SELECT count(*) FROM proxy_answers";

both_engines!(
    the_destinations_answer_is_the_reply_and_a_copy_gets_it_without_a_second_request,
    a_copy_waits_for_the_answer_of_the_first,
    a_slow_destination_is_not_asked_again_until_a_person_has_looked,
    a_destination_that_is_down_is_asked_by_the_next_copy,
    an_answer_that_is_no_success_goes_on_and_the_next_copy_is_sent,
    a_long_answer_goes_on_whole_and_a_longer_one_is_none,
    an_exchange_that_a_crash_cut_needs_review_and_is_never_sent_again,
    what_is_paused_is_not_asked,
    what_is_not_genuine_reaches_nothing,
    a_handshake_is_answered_by_the_gateway,
    an_exchange_in_flight_is_finished_by_a_drain,
    a_client_that_hangs_up_tears_nothing,
);

async fn the_destinations_answer_is_the_reply_and_a_copy_gets_it_without_a_second_request(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let gateway = fixture.config.start().await;
    let answered = Bytes::from_static(b"<Response>\x00\xff</Response>\r\n");
    let headers = [
        ("content-type", "text/xml; charset=utf-8"),
        ("x-slack-no-retry", "1"),
        ("connection", "x-private"),
        ("x-private", "1"),
        ("keep-alive", "timeout=5"),
        ("set-cookie", "session=secret"),
        ("x-hookgate-outcome", "rejected"),
    ];
    let headers = headers.map(|(name, value)| (name, value.to_owned())).into();
    fixture.destination.script([Behaviour::Whole(201, headers, answered.clone())]);

    let first = gateway.deliver(body()).await.expect("an answer");
    let copy = gateway.deliver(body()).await.expect("an answer");
    for (answer, outcome) in [(&first, "processed"), (&copy, "duplicate")] {
        assert_eq!(answer.summary(), (201, outcome));
        assert_eq!(answer.body, answered, "byte for byte");
        let header = |name| answer.headers.get(name).map(|value| value.to_str().expect("text"));
        assert_eq!(header("content-type"), Some("text/xml; charset=utf-8"));
        assert_eq!(header("x-slack-no-retry"), Some("1"));
        for name in ["connection", "x-private", "keep-alive", "set-cookie"] {
            assert_eq!(header(name), None, "{name}");
        }
    }
    let deliveries = fixture.destination.deliveries();
    assert_eq!(deliveries.len(), 1);
    assert_eq!(deliveries[0].body, body());
    assert_eq!(deliveries[0].header("x-hookgate-event-id"), "evt_1");
    assert_eq!(deliveries[0].header("x-hookgate-attempt"), "1");
    assert!(deliveries[0].header("webhook-signature").starts_with("v1,"), "signed as deliveries are");
    assert_eq!((fixture.count(PROCESSED).await, fixture.count(INBOX).await), (1, 1));
    assert_eq!(fixture.count("SELECT count(*) FROM outbox").await, 0);

    let shown = fixture.shown(&[]);
    let exchange = &shown["exchange"];
    assert_eq!((&exchange["status"], &exchange["body_bytes"]), (&json!(201), &json!(answered.len())));
    assert!(exchange.get("body_base64").is_none(), "bytes are shown only when asked for");
    assert!(!fixture.shown(&["--body"])["exchange"]["body_base64"].is_null());
    let (code, _, errors) = fixture.config.try_run(&["events", "replay", "evt_1", "--yes"]);
    assert!(code != 0 && errors.contains("billing is a proxy"), "nobody waits for it: {errors}");
    let metrics = gateway.metrics().await;
    let sum = |name, labels: &[(&str, &str)]| metrics.sum(name, labels).to_string();
    assert_eq!(sum("hookgate_requests_total", &[("endpoint", "billing"), ("outcome", "processed")]), "1");
    assert_eq!(sum("hookgate_events_total", &[("endpoint", "billing"), ("outcome", "duplicate")]), "1");
    assert_eq!(
        sum("hookgate_delivery_attempts_total", &[("destination", "crm"), ("outcome", "succeeded")]),
        "1"
    );
    assert_eq!(sum("hookgate_event_lag_seconds_count", &[("endpoint", "billing")]), "1");
}

async fn a_copy_waits_for_the_answer_of_the_first(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let gateway = fixture.config.start().await;
    fixture.destination.script([Behaviour::Hold]);
    let (first, copy, ()) = tokio::join!(gateway.deliver(body()), gateway.deliver(body()), async {
        fixture.destination.wait_for(1).await;
        gateway.wait_for_lines("webhook.verified", 2).await;
        fixture.destination.release();
    });
    let mut outcomes = [first, copy].map(|answer| {
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 200);
        answer.outcome().to_owned()
    });
    outcomes.sort();
    assert_eq!(outcomes, ["duplicate", "processed"]);
    assert_eq!(fixture.destination.deliveries().len(), 1);
}

#[tokio::test]
async fn a_copy_at_another_gateway_waits_for_the_answer_or_is_told_to_come_back() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let (a, b) = tokio::join!(fixture.config.start(), fixture.config.start());
    fixture.destination.script([Behaviour::Hold]);
    let (first, copy, ()) = tokio::join!(a.deliver(body()), b.deliver(body()), async {
        fixture.destination.wait_for(1).await;
        wait::until("both requests to arrive", async || {
            [&a, &b].iter().all(|gateway| !gateway.lines("webhook.verified").is_empty()).then_some(())
        })
        .await;
        fixture.destination.release();
    });
    let mut outcomes = [first, copy].map(|answer| answer.expect("an answer").outcome().to_owned());
    outcomes.sort();
    assert_eq!(outcomes, ["duplicate", "processed"]);

    // A gateway that dies with its exchange leaves it under its lease.
    fixture.destination.script([Behaviour::Hold]);
    let other = stripe::event("evt_2", "customer.created", &json!({}));
    let (address, signature, bytes) = (a.ingress, stripe::signature(&other), other.clone());
    let lost = tokio::spawn(async move {
        http::post(address, PATH, &[("stripe-signature", signature.as_bytes())], bytes).await
    });
    fixture.destination.wait_for(2).await;
    a.kill().await;
    assert!(lost.await.expect("no panic").is_err(), "nobody is there to answer");
    let copy = b.deliver(other).await.expect("an answer");
    assert_eq!(copy.summary(), (503, "error"), "{}", copy.text());
    assert!(copy.headers.contains_key("retry-after"));
    assert_eq!(fixture.destination.deliveries().len(), 2);
}

async fn a_slow_destination_is_not_asked_again_until_a_person_has_looked(engine: Engine) {
    let fixture = Fixture::impatient(engine).await;
    let gateway = fixture.config.start().await;
    fixture.destination.script([Behaviour::Hold]);
    for _ in 0..2 {
        let answer = gateway.deliver(body()).await.expect("an answer");
        assert_eq!(answer.summary(), (502, "error"), "{}", answer.text());
        assert!(!answer.headers.contains_key("retry-after"), "coming back would not help");
    }
    assert_eq!(fixture.destination.deliveries().len(), 1);
    assert_eq!(fixture.count(FLAGGED).await, 1);
    let line = &gateway.wait_for_lines("event.needs_review", 1).await[0];
    assert_eq!(
        field(line, "reason"),
        "the destination may have it, but gave no whole answer (timeout); it is not sent again"
    );

    fixture.config.run(&["dead", "resolve", "evt_1", "--yes"]);
    assert_eq!(gateway.deliver(body()).await.expect("an answer").summary(), (200, "duplicate"));
    assert_eq!(fixture.destination.deliveries().len(), 1);
}

async fn a_destination_that_is_down_is_asked_by_the_next_copy(engine: Engine) {
    let fixture = Fixture::nowhere(engine).await;
    let gateway = fixture.config.start().await;
    let answer = gateway.deliver(body()).await.expect("an answer");
    assert_eq!(answer.summary(), (503, "error"), "{}", answer.text());
    assert!(answer.headers.contains_key("retry-after"));
    assert_eq!((fixture.count(FLAGGED).await, fixture.count(ANSWERS).await), (1, 1));

    let destination = Destination::start_at(fixture.address).await;
    let again = gateway.deliver(body()).await.expect("an answer");
    assert_eq!(again.summary(), (200, "processed"), "{}", again.text());
    assert_eq!(destination.deliveries()[0].header("x-hookgate-attempt"), "2");
    assert_eq!((fixture.count(FLAGGED).await, fixture.count(PROCESSED).await), (0, 1));
}

async fn an_answer_that_is_no_success_goes_on_and_the_next_copy_is_sent(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let gateway = fixture.config.start().await;
    let busy = || Behaviour::Whole(429, vec![("retry-after", "7".into())], Bytes::from_static(b"busy"));
    fixture.destination.script([busy(), Behaviour::Whole(404, Vec::new(), Bytes::new())]);
    let first = gateway.deliver(body()).await.expect("an answer");
    assert_eq!((first.summary(), first.text().as_str()), ((429, "error"), "busy"));
    assert_eq!(first.headers["retry-after"], "7");
    assert_eq!(gateway.deliver(body()).await.expect("an answer").summary(), (404, "error"));
    assert_eq!(fixture.count(FLAGGED).await, 1);
    assert_eq!(gateway.deliver(body()).await.expect("an answer").summary(), (200, "processed"));
    let deliveries = fixture.destination.deliveries();
    assert_eq!(deliveries.len(), 3);
    for delivery in &deliveries {
        assert_eq!(delivery.header("webhook-id"), deliveries[0].header("webhook-id"));
        assert_eq!(delivery.header("idempotency-key"), deliveries[0].header("idempotency-key"));
    }
    assert_eq!(fixture.count(FLAGGED).await, 0);
}

async fn a_long_answer_goes_on_whole_and_a_longer_one_is_none(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let gateway = fixture.config.start().await;
    let long = Bytes::from(vec![b'a'; 1024 * 1024]);
    let longer = Bytes::from(vec![b'a'; 1024 * 1024 + 1]);
    fixture.destination.script([long.clone(), longer].map(|body| Behaviour::Whole(200, Vec::new(), body)));
    let first = gateway.deliver(body()).await.expect("an answer");
    assert_eq!((first.summary(), first.body.len()), ((200, "processed"), long.len()));
    let copy = gateway.deliver(body()).await.expect("an answer");
    assert_eq!(copy.summary(), (200, "duplicate"), "a copy gets no half of an answer");
    assert!(copy.text().starts_with('{'), "but the gateway's own: {}", copy.text());
    let other = stripe::event("evt_2", "customer.created", &json!({}));
    assert_eq!(gateway.deliver(other).await.expect("an answer").summary(), (502, "error"));
    assert_eq!(fixture.count("SELECT count(*) FROM proxy_answers WHERE error = 'answer.too_large'").await, 1);
}

async fn an_exchange_that_a_crash_cut_needs_review_and_is_never_sent_again(engine: Engine) {
    for (place, sent) in [("proxy.before_send", 0), ("proxy.before_record", 1)] {
        let fixture = Fixture::new(engine).await;
        let gateway = fixture.config.start_to_crash_at(place).await;
        assert!(gateway.deliver(body()).await.is_err(), "{place}: it was to crash");
        gateway.ended().await;
        assert_eq!(fixture.destination.deliveries().len(), sent, "{place}");

        let gateway = fixture.config.start().await;
        let early = gateway.deliver(body()).await.expect("an answer");
        assert_eq!(early.summary(), (503, "error"), "{place}: it may still be under way");
        fixture.end_leases().await;
        fixture.database.wait_for(FLAGGED, 1).await;
        let late = gateway.deliver(body()).await.expect("an answer");
        assert_eq!(late.summary(), (502, "error"), "{place}");
        assert_eq!(fixture.destination.deliveries().len(), sent, "{place}: nothing is sent again");
        assert_eq!(gateway.wait_for_lines("event.needs_review", 1).await.len(), 1, "{place}");
    }
}

async fn what_is_paused_is_not_asked(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let gateway = fixture.config.start().await;
    for (kind, name) in [("endpoint", "billing"), ("destination", "crm")] {
        fixture.config.run(&["pause", kind, name]);
        let answer = gateway.deliver(body()).await.expect("an answer");
        assert_eq!(answer.summary(), (503, "error"), "{kind}");
        assert_eq!(fixture.count(INBOX).await, 0, "{kind}: the provider sends it again");
        fixture.config.run(&["resume", kind, name]);
    }
    assert!(fixture.destination.deliveries().is_empty());
    assert_eq!(gateway.deliver(body()).await.expect("an answer").summary(), (200, "processed"));
}

async fn what_is_not_genuine_reaches_nothing(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let gateway = fixture.config.start().await;
    let signature = stripe::signature(b"something else");
    let answer = gateway.post(&signature, body()).await.expect("an answer");
    assert_eq!(answer.summary(), (400, "rejected"));
    assert_eq!((fixture.count(INBOX).await, fixture.count(ANSWERS).await), (0, 0));
    assert!(fixture.destination.deliveries().is_empty());
}

async fn a_handshake_is_answered_by_the_gateway(engine: Engine) {
    let mut fixture = Fixture::new(engine).await;
    fixture.config = fixture.config.with(
        "[endpoints.slack]\nprovider = \"slack_commands\"\npaths = [\"/slack\"]\nmode = \"proxy\"\nproxy = \"crm\"\n\
         secrets = [\"literal:0123456789abcdef0123456789abcdef\"]\n",
    );
    let gateway = fixture.config.start().await;
    let answer = http::get(gateway.ingress, "/slack?ssl_check=1").await.expect("an answer");
    assert_eq!(answer.summary(), (200, "handshake"));
    assert!(fixture.destination.deliveries().is_empty());
}

async fn an_exchange_in_flight_is_finished_by_a_drain(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let gateway = fixture.config.start().await;
    fixture.destination.script([Behaviour::Hold]);
    let (answer, ()) = tokio::join!(gateway.deliver(body()), async {
        fixture.destination.wait_for(1).await;
        gateway.signal(Signal::Term);
        gateway.wait_for_lines("draining", 1).await;
        fixture.destination.release();
    });
    assert_eq!(answer.expect("an answer").summary(), (200, "processed"));
    let end = gateway.ended().await;
    assert!(end.status.success(), "{}", end.output);
    assert_eq!(fixture.count(PROCESSED).await, 1);
}

async fn a_client_that_hangs_up_tears_nothing(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let gateway = fixture.config.start().await;
    fixture.destination.script([Behaviour::Hold]);
    let signature = stripe::signature(&body());
    let headers: [(&str, &[u8]); 1] = [("stripe-signature", signature.as_bytes())];
    // The client hangs up once the destination has the event.
    tokio::select! {
        answer = http::post(gateway.ingress, PATH, &headers, body()) => panic!("answered: {answer:?}"),
        _ = fixture.destination.wait_for(1) => {}
    }
    fixture.destination.release();
    fixture.database.wait_for(PROCESSED, 1).await;
    assert_eq!(gateway.deliver(body()).await.expect("an answer").summary(), (200, "duplicate"));
    assert_eq!(fixture.destination.deliveries().len(), 1);
}

fn body() -> Vec<u8> {
    stripe::event("evt_1", "customer.created", &json!({ "id": "cus_1" }))
}

/// A gateway that is a proxy of a destination.
struct Fixture {
    database: Database,
    destination: Destination,
    address: std::net::SocketAddr,
    config: GatewayConfig,
}

impl Fixture {
    /// A request waits for three seconds.
    async fn new(engine: Engine) -> Self {
        Self::with(engine, "10s", Destination::start().await, None).await
    }

    /// The destination's time is short.
    async fn impatient(engine: Engine) -> Self {
        Self::with(engine, "1s", Destination::start().await, None).await
    }

    /// Nobody listens where the destination should be.
    async fn nowhere(engine: Engine) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("bound");
        drop(free);
        Self::with(engine, "10s", Destination::start().await, Some(address)).await
    }

    async fn with(
        engine: Engine,
        timeout: &str,
        destination: Destination,
        address: Option<std::net::SocketAddr>,
    ) -> Self {
        let database = Database::new(engine).await;
        let url = address.map_or_else(|| destination.url(), |address| format!("http://{address}/hooks"));
        let config = GatewayConfig::new(&database.url, "proxy").proxy("crm").with(&format!(
            "[destinations.crm]\ntype = \"http\"\nurl = \"{url}\"\ntimeout = \"{timeout}\"\n\
             sign = \"literal:a-secret-of-the-destination-0123\"\n[inbox]\nsync_timeout = \"3s\"\n"
        ));
        let address = address.unwrap_or(([127, 0, 0, 1], 0).into());
        Self { database, destination, address, config }
    }

    async fn count(&self, sql: &str) -> i64 {
        self.database.count(sql).await
    }

    /// What happens when time passes after a crash.
    async fn end_leases(&self) {
        let past =
            "UPDATE webhook_inbox SET lease_until = '2000-01-01T00:00:00.000Z' WHERE lease_until IS NOT NULL";
        self.database.execute(past).await;
    }

    /// `events show evt_1 --json`
    fn shown(&self, more: &[&str]) -> Value {
        let command = [&["events", "show", "evt_1", "--json"], more].concat();
        serde_json::from_str(&self.config.run(&command)).expect("JSON")
    }
}
