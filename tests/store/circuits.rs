//! Destinations that are taken for broken, by all gateways together.

use std::time::Duration;

use hookgate::model::{Attempt, AttemptOutcome, Circuit, Leased, Message, Next};
use hookgate::store::{self, Lane, Store};

use super::fixture::{Fixture, lane};
use crate::support::database::{Engine, both_engines};

both_engines!(
    failures_in_a_row_open_the_circuit_and_use_up_no_attempt,
    one_probe_is_let_through_over_all_gateways,
    a_probe_that_fails_opens_it_for_twice_as_long,
    what_was_sent_before_it_opened_does_not_make_it_longer,
    a_probe_that_says_nothing_lets_the_next_one_through,
    what_was_sent_before_it_opened_is_not_taken_for_the_probe,
    an_answer_ends_a_row_of_failures,
    a_message_that_succeeds_leaves_no_row_behind,
    where_it_is_switched_off_messages_go_all_the_same,
    an_ordered_destination_has_a_circuit_too,
);

const CIRCUIT: Circuit = Circuit { failures: 2, open: Duration::from_secs(30) };

fn attempt(outcome: AttemptOutcome, status: Option<u16>, code: &str) -> Attempt {
    let error = (outcome != AttemptOutcome::Succeeded).then(|| code.to_owned());
    Attempt { outcome, status, error, duration: Duration::from_millis(1), retry_after: None }
}

fn sick() -> Attempt {
    attempt(AttemptOutcome::Failed, Some(503), "status.503")
}

impl Fixture {
    async fn sick(&self, times: usize) {
        for _ in 0..times {
            self.store.outbox.note_failure("crm", &sick(), &CIRCUIT, false).await.expect("note");
        }
    }

    /// The one message that the open circuit let through has failed.
    async fn probe_fails(&self) {
        self.store.outbox.note_failure("crm", &sick(), &CIRCUIT, true).await.expect("note");
    }

    /// So many messages for `crm`, and a circuit that has opened.
    async fn broken(engine: Engine, messages: usize) -> Self {
        let fixture = Self::new(engine).await;
        for n in 0..messages {
            fixture.message(&format!("evt_{n}"), Some("crm")).await;
        }
        fixture.sick(2).await;
        fixture
    }

    /// The circuit's time is over.
    async fn let_time_pass(&self) {
        let past = self.dialect("now() - interval '1 second'", "'2000-01-01T00:00:00.000Z'");
        self.raw.execute(&format!("UPDATE circuits SET open_until = {past}")).await;
    }

    async fn crm(&self) -> Vec<Leased<Message>> {
        self.store.outbox.claim(10, &[lane("crm", 10)]).await.expect("claim")
    }

    /// Seconds until something is due.
    async fn due(&self) -> f64 {
        let due = self.store.outbox.next_due(&[lane("crm", 10)]).await.expect("next due");
        due.expect("something waits").as_secs_f64()
    }
}

async fn failures_in_a_row_open_the_circuit_and_use_up_no_attempt(engine: Engine) {
    let fixture = Fixture::broken(engine, 3).await;
    fixture.message("evt_erp", Some("erp")).await;
    let lanes = [lane("crm", 10), lane("erp", 10)];
    let claimed = fixture.store.outbox.claim(10, &lanes).await.unwrap();
    assert_eq!(claimed.len(), 1, "only the other destination's");
    assert_eq!(
        fixture.raw.count("SELECT count(*) FROM outbox WHERE destination = 'crm' AND attempts > 0").await,
        0
    );
    assert!((20.0..=30.0).contains(&fixture.due().await), "in {} s", fixture.due().await);
    let circuit = fixture.store.ledger.circuits().await.unwrap().remove(0);
    assert_eq!((circuit.state.as_str(), circuit.failures, circuit.openings), ("open", 2, 1));
    assert_eq!(circuit.last_error.as_deref(), Some("status.503"));
}

async fn one_probe_is_let_through_over_all_gateways(engine: Engine) {
    let fixture = Fixture::broken(engine, 5).await;
    let other: Store = store::connect(&fixture.config).await.expect("a second gateway");
    fixture.let_time_pass().await;
    let lanes = [lane("crm", 10)];
    let claims = (0..8).map(|n| {
        let store = if n % 2 == 0 { &fixture.store } else { &other };
        store.outbox.claim(10, &lanes)
    });
    let claimed = futures_util::future::try_join_all(claims).await.expect("claim");
    assert_eq!(claimed.iter().map(Vec::len).sum::<usize>(), 1, "one probe");
    assert_eq!(fixture.store.ledger.circuits().await.unwrap()[0].state, "half_open");
    // While it is on its way, no other.
    assert!(other.outbox.claim(10, &lanes).await.unwrap().is_empty());
    let probe = claimed.into_iter().flatten().next().expect("the probe");
    let sent = attempt(AttemptOutcome::Succeeded, Some(200), "");
    fixture.store.outbox.publish(probe, &sent).await.expect("publish");
    assert!(other.ledger.circuits().await.unwrap().is_empty());
    assert_eq!(other.outbox.claim(10, &lanes).await.unwrap().len(), 4);
}

async fn a_probe_that_fails_opens_it_for_twice_as_long(engine: Engine) {
    let fixture = Fixture::broken(engine, 2).await;
    for (openings, least) in [(2, 45.0), (3, 100.0), (4, 200.0)] {
        fixture.let_time_pass().await;
        let probe = fixture.crm().await.remove(0);
        let next = Next::Retry { after: Duration::ZERO };
        fixture.store.outbox.fail_attempt(probe, &sick(), &next).await.unwrap();
        fixture.probe_fails().await;
        let circuit = fixture.store.ledger.circuits().await.unwrap().remove(0);
        assert_eq!((circuit.state.as_str(), circuit.openings), ("open", openings));
        assert!(fixture.due().await > least, "{openings}: {} s", fixture.due().await);
    }
    fixture.raw.execute("UPDATE circuits SET openings = 5000").await;
    fixture.let_time_pass().await;
    assert_eq!(fixture.crm().await.len(), 1);
    fixture.probe_fails().await;
    assert!((500.0..=600.0).contains(&fixture.due().await), "no longer than ten minutes");
}

async fn what_was_sent_before_it_opened_does_not_make_it_longer(engine: Engine) {
    let fixture = Fixture::broken(engine, 1).await;
    fixture.sick(5).await;
    let circuit = fixture.store.ledger.circuits().await.unwrap().remove(0);
    assert_eq!((circuit.failures, circuit.openings), (2, 1));
}

async fn what_was_sent_before_it_opened_is_not_taken_for_the_probe(engine: Engine) {
    let fixture = Fixture::broken(engine, 3).await;
    fixture.let_time_pass().await;
    assert_eq!(fixture.crm().await.len(), 1, "the probe");
    fixture.sick(3).await;
    let blocked = attempt(AttemptOutcome::Failed, None, "blocked_address");
    fixture.store.outbox.note_failure("crm", &blocked, &CIRCUIT, false).await.unwrap();
    let circuit = fixture.store.ledger.circuits().await.unwrap().remove(0);
    assert_eq!((circuit.state.as_str(), circuit.openings), ("half_open", 1));
    assert!(fixture.crm().await.is_empty(), "no other probe beside the one on its way");
}

async fn a_probe_that_says_nothing_lets_the_next_one_through(engine: Engine) {
    let fixture = Fixture::broken(engine, 2).await;
    fixture.let_time_pass().await;
    assert_eq!(fixture.crm().await.len(), 1);
    assert!(fixture.crm().await.is_empty());
    let blocked = attempt(AttemptOutcome::Failed, None, "blocked_address");
    fixture.store.outbox.note_failure("crm", &blocked, &CIRCUIT, true).await.unwrap();
    assert_eq!(fixture.crm().await.len(), 1);
}

async fn an_answer_ends_a_row_of_failures(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for answer in [400, 404, 410, 422, 302] {
        fixture.sick(1).await;
        let refused = attempt(AttemptOutcome::Rejected, Some(answer), "status");
        fixture.store.outbox.note_failure("crm", &refused, &CIRCUIT, false).await.unwrap();
        assert!(fixture.store.ledger.circuits().await.unwrap().is_empty(), "{answer} is an answer");
    }
    for failure in [
        attempt(AttemptOutcome::Failed, Some(429), "status.429"),
        attempt(AttemptOutcome::Failed, None, "timeout"),
    ] {
        fixture.store.outbox.note_failure("crm", &failure, &CIRCUIT, false).await.unwrap();
    }
    assert_eq!(fixture.store.ledger.circuits().await.unwrap()[0].state, "open");
}

async fn a_message_that_succeeds_leaves_no_row_behind(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    fixture.sick(1).await;
    let leased = fixture.crm().await.remove(0);
    let sent = attempt(AttemptOutcome::Succeeded, Some(200), "");
    fixture.store.outbox.publish(leased, &sent).await.unwrap();
    assert_eq!(fixture.raw.count("SELECT count(*) FROM circuits").await, 0);
}

async fn where_it_is_switched_off_messages_go_all_the_same(engine: Engine) {
    let fixture = Fixture::broken(engine, 3).await;
    let off = Lane { breaker: false, ..lane("crm", 10) };
    assert_eq!(fixture.store.outbox.claim(10, &[off]).await.unwrap().len(), 3);
}

async fn an_ordered_destination_has_a_circuit_too(engine: Engine) {
    let fixture = Fixture::broken(engine, 3).await;
    fixture.raw.execute("UPDATE outbox SET ordering_key = event_id").await;
    let ordered = || Lane { order: Some(hookgate::store::InOrder::default()), ..lane("crm", 10) };
    let outbox = &fixture.store.outbox;
    assert!(outbox.claim(10, &[ordered()]).await.unwrap().is_empty());
    assert!(outbox.next_due(&[ordered()]).await.unwrap().unwrap().as_secs() >= 20);
    fixture.let_time_pass().await;
    assert_eq!(outbox.claim(10, &[ordered()]).await.unwrap().len(), 1);
    assert!(outbox.claim(10, &[ordered()]).await.unwrap().is_empty());
}
