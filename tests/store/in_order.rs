//! Destinations that want the messages of one key one at a time, and in order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use hookgate::model::{Attempt, AttemptOutcome, Leased, Message, Next};
use hookgate::store::{self, InOrder, Lane, Store};

use super::fixture::{Fixture, lane};
use crate::support::database::{Engine, both_engines};

both_engines!(
    only_the_first_message_of_a_key_is_claimed,
    a_head_that_waits_for_its_next_try_holds_back_its_key,
    a_dead_head_holds_back_its_key_until_it_is_redriven_or_published,
    a_dead_head_is_passed_over_where_that_is_asked_for,
    messages_without_key_are_not_ordered,
    every_key_has_its_turn,
    a_head_that_crashed_before_is_claimed_alone,
    order_and_share_go_together,
    two_gateways_keep_the_order_of_each_key_through_failures,
);

fn ordered(limit: u32) -> Lane {
    Lane { order: Some(InOrder::default()), ..lane("crm", limit) }
}

fn sent() -> Attempt {
    Attempt {
        outcome: AttemptOutcome::Succeeded,
        status: Some(200),
        error: None,
        duration: Duration::from_millis(1),
        retry_after: None,
    }
}

fn failed() -> Attempt {
    Attempt { outcome: AttemptOutcome::Failed, status: None, error: Some("timeout".into()), ..sent() }
}

impl Fixture {
    /// Messages for `crm`, each with its key; an empty one is none.
    async fn keyed(engine: Engine, keys: &[&str]) -> Self {
        let fixture = Self::new(engine).await;
        for (n, key) in keys.iter().enumerate() {
            let id = format!("{key}{n}");
            fixture.message(&id, Some("crm")).await;
            let key = format!("UPDATE outbox SET ordering_key = nullif('{key}', '') WHERE event_id = '{id}'");
            fixture.raw.execute(&key).await;
        }
        fixture
    }

    async fn in_order(&self, lane: Lane) -> Vec<Leased<Message>> {
        self.store.outbox.claim(100, &[lane]).await.expect("claim")
    }

    async fn publish(&self, leased: Leased<Message>) {
        self.store.outbox.publish(leased, &sent()).await.expect("publish");
    }

    async fn fail(&self, leased: Leased<Message>, next: Next) {
        self.store.outbox.fail_attempt(leased, &failed(), &next).await.expect("fail");
    }
}

fn ids(claimed: &[Leased<Message>]) -> Vec<&str> {
    claimed.iter().map(|leased| leased.item.key.event_id.as_str()).collect()
}

async fn only_the_first_message_of_a_key_is_claimed(engine: Engine) {
    let fixture = Fixture::keyed(engine, &["a", "b", "a", "a", "b"]).await;
    let mut claimed = fixture.in_order(ordered(10)).await;
    assert_eq!(ids(&claimed), ["a0", "b1"]);
    assert!(fixture.in_order(ordered(10)).await.is_empty());
    fixture.publish(claimed.remove(0)).await;
    assert_eq!(ids(&fixture.in_order(ordered(10)).await), ["a2"]);
}

async fn a_head_that_waits_for_its_next_try_holds_back_its_key(engine: Engine) {
    let fixture = Fixture::keyed(engine, &["a", "a", "b"]).await;
    let head = fixture.in_order(ordered(1)).await.remove(0);
    fixture.fail(head, Next::Retry { after: Duration::from_secs(90) }).await;
    assert_eq!(ids(&fixture.in_order(ordered(10)).await), ["b2"]);
    let due = fixture.store.outbox.next_due(&[ordered(10)]).await.unwrap().unwrap();
    assert!((30..=60).contains(&due.as_secs()), "the lease of b2 ends first: {due:?}");
}

async fn a_dead_head_holds_back_its_key_until_it_is_redriven_or_published(engine: Engine) {
    let fixture = Fixture::keyed(engine, &["a", "a", "a"]).await;
    let review = || Next::Review { reason: "permanent failure".into() };
    let head = fixture.in_order(ordered(10)).await.remove(0);
    fixture.fail(head, review()).await;
    assert!(fixture.in_order(ordered(10)).await.is_empty());
    assert_eq!(fixture.store.outbox.next_due(&[ordered(10)]).await.unwrap(), None);
    fixture.raw.execute("UPDATE outbox SET review_at = NULL, review_reason = NULL").await;
    let head = fixture.in_order(ordered(10)).await.remove(0);
    assert_eq!(head.item.key.event_id, "a0");
    fixture.publish(head).await;
    let head = fixture.in_order(ordered(10)).await.remove(0);
    assert_eq!(head.item.key.event_id, "a1");
    fixture.fail(head, review()).await;
    fixture.raw.execute("UPDATE outbox SET published_at = created_at WHERE event_id = 'a1'").await;
    assert_eq!(ids(&fixture.in_order(ordered(10)).await), ["a2"]);
}

async fn a_dead_head_is_passed_over_where_that_is_asked_for(engine: Engine) {
    let fixture = Fixture::keyed(engine, &["a", "a"]).await;
    let head = fixture.in_order(ordered(10)).await.remove(0);
    fixture.fail(head, Next::Review { reason: "permanent failure".into() }).await;
    let skipping = || Lane { order: Some(InOrder { skip_dead: true, after: None }), ..lane("crm", 10) };
    assert_eq!(fixture.store.outbox.next_due(&[skipping()]).await.unwrap(), Some(Duration::ZERO));
    assert_eq!(ids(&fixture.in_order(skipping()).await), ["a1"]);
}

async fn messages_without_key_are_not_ordered(engine: Engine) {
    let fixture = Fixture::keyed(engine, &["", "a", "", "a", ""]).await;
    assert_eq!(fixture.store.outbox.next_due(&[ordered(10)]).await.unwrap(), Some(Duration::ZERO));
    assert_eq!(ids(&fixture.in_order(ordered(10)).await), ["a1", "0", "2", "4"]);
    // And where no order is asked for, keys mean nothing.
    fixture.expire("outbox").await;
    fixture.raw.execute("UPDATE outbox SET lease_until = NULL").await;
    assert_eq!(fixture.in_order(lane("crm", 10)).await.len(), 5);
}

async fn every_key_has_its_turn(engine: Engine) {
    let fixture = Fixture::keyed(engine, &["a", "b", "c", "a", "b", "c", ""]).await;
    let mut after = None;
    let mut seen = Vec::new();
    for _ in 0..7 {
        let lane = Lane { order: Some(InOrder { skip_dead: false, after: after.clone() }), ..lane("crm", 1) };
        let leased = fixture.in_order(lane).await.remove(0);
        after.clone_from(&leased.item.ordering_key);
        seen.push(leased.item.key.event_id.clone());
        fixture.publish(leased).await;
    }
    assert_eq!(seen, ["a0", "b1", "c2", "6", "a3", "b4", "c5"]);
}

async fn a_head_that_crashed_before_is_claimed_alone(engine: Engine) {
    let fixture = Fixture::keyed(engine, &["a", "b", "c"]).await;
    fixture.in_order(ordered(1)).await;
    fixture.expire("outbox").await;
    assert_eq!(ids(&fixture.in_order(ordered(10)).await), ["a0"]);
    assert_eq!(ids(&fixture.in_order(ordered(10)).await), ["b1", "c2"]);
}

async fn order_and_share_go_together(engine: Engine) {
    let fixture = Fixture::keyed(engine, &["a", "b", "c", "d"]).await;
    fixture.message("erp_1", Some("erp")).await;
    fixture.message("erp_2", Some("erp")).await;
    let claimed = fixture.store.outbox.claim(4, &[ordered(10), lane("erp", 10)]).await.unwrap();
    let erp = claimed.iter().filter(|leased| &*leased.item.destination == "erp").count();
    assert_eq!((claimed.len(), erp), (4, 2));
}

/// 200 messages over 10 keys, every fifth try fails.
async fn two_gateways_keep_the_order_of_each_key_through_failures(engine: Engine) {
    let keys: Vec<String> = (0..200).map(|n| format!("k{}", n % 10)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let fixture = Fixture::keyed(engine, &keys).await;
    let other: Store = store::connect(&fixture.config).await.expect("a second gateway");
    let delivered: Mutex<BTreeMap<String, Vec<i64>>> = Mutex::default();
    let work = async |store: &Store, seed: usize| {
        let mut tries = seed;
        loop {
            let lane = Lane { max_attempts: 1_000, ..ordered(4) };
            let claimed = store.outbox.claim(4, &[lane]).await.expect("claim");
            if claimed.is_empty()
                && fixture.raw.count("SELECT count(*) FROM outbox WHERE published_at IS NULL").await == 0
            {
                return;
            }
            for leased in claimed {
                tries += 1;
                if tries.is_multiple_of(5) {
                    let next = Next::Retry { after: Duration::from_millis(2) };
                    store.outbox.fail_attempt(leased, &failed(), &next).await.expect("fail");
                } else {
                    let key = leased.item.ordering_key.clone().expect("a key");
                    delivered.lock().unwrap().entry(key).or_default().push(leased.item.id);
                    store.outbox.publish(leased, &sent()).await.expect("publish");
                }
            }
        }
    };
    futures_util::join!(work(&fixture.store, 0), work(&other, 2), work(&fixture.store, 3), work(&other, 1));
    let delivered = delivered.into_inner().unwrap();
    assert_eq!(delivered.len(), 10);
    for (key, ids) in delivered {
        assert_eq!(ids.len(), 20, "{key}");
        assert!(ids.is_sorted(), "{key}: {ids:?}");
    }
}
