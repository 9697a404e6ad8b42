//! Whose turn it is: endpoints one after the other, and no more than each of them and its handlers can take.

use std::time::Duration;

use hookgate::model::NewEvent;
use hookgate::store::{Lane, Taker};

use super::fixture::{Fixture, event_at, ids, lane};
use crate::support::database::{Engine, both_engines};

both_engines!(
    a_flood_at_one_endpoint_keeps_no_other_waiting,
    an_endpoint_gives_no_more_events_than_it_has_room_for,
    a_handler_is_given_no_more_events_than_it_has_room_for,
    a_busy_handler_holds_back_its_own_events_only,
    a_handler_of_several_endpoints_has_one_room,
);

/// A lane with a handler for these types.
pub fn lane_of(endpoint: &str, handler: &str, types: &[&str], room: Option<u32>) -> Lane {
    let types = types.iter().map(|&glob| glob.to_owned()).collect();
    let taker = Taker { handler: handler.into(), types, room };
    Lane { takers: vec![taker], ..lane(endpoint, 10) }
}

async fn accept(fixture: &Fixture, events: &[(&str, &str, &str)]) {
    let events: Vec<NewEvent> = events.iter().map(|(at, of, id)| event_at(at, of, id)).collect();
    fixture.store.inbox.accept(&events).await.unwrap();
}

async fn a_flood_at_one_endpoint_keeps_no_other_waiting(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let flood: Vec<NewEvent> = (0..40).map(|n| event_at("flood", "a", &format!("evt_{n:02}"))).collect();
    fixture.store.inbox.accept(&flood).await.unwrap();
    accept(&fixture, &[("billing", "a", "b"), ("github", "a", "g1"), ("github", "a", "g2")]).await;
    let lanes = [lane("billing", 4), lane("flood", 4), lane("github", 4)];
    let claimed = fixture.store.events.claim(4, &lanes).await.unwrap();
    assert_eq!(ids(&claimed), ["evt_00", "evt_01", "b", "g1"]);
    let claimed = fixture.store.events.claim(2, &lanes).await.unwrap();
    assert_eq!(ids(&claimed), ["evt_02", "g2"]);
}

async fn an_endpoint_gives_no_more_events_than_it_has_room_for(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept_ids(&["evt_1", "evt_2", "evt_3"]).await;
    let claimed = fixture.store.events.claim(10, &[lane("billing", 2)]).await.unwrap();
    assert_eq!(ids(&claimed), ["evt_1", "evt_2"]);
}

async fn a_handler_is_given_no_more_events_than_it_has_room_for(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let of =
        |id: &'static str| ("billing", if id.starts_with('i') { "invoice.paid" } else { "customer.new" }, id);
    accept(&fixture, &["i1", "i2", "c1", "i3", "c2"].map(of)).await;
    let lanes = [lane_of("billing", "book", &["invoice.*"], Some(2))];
    assert_eq!(ids(&fixture.store.events.claim(10, &lanes).await.unwrap()), ["i1", "i2", "c1", "c2"]);
}

async fn a_busy_handler_holds_back_its_own_events_only(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(
        &fixture,
        &[("billing", "invoice.paid", "i1"), ("billing", "invoice_x", "x"), ("billing", "b%", "p")],
    )
    .await;
    let busy = [lane_of("billing", "book", &["invoice.*", "b%"], Some(0))];
    assert_eq!(ids(&fixture.store.events.claim(10, &busy).await.unwrap()), ["x"]);
    // Only what was claimed is waited for: the end of its lease.
    let next = fixture.store.events.next_due(&busy).await.unwrap().expect("a lease ends");
    assert!(next > Duration::from_secs(30), "{next:?}");
    let free = [lane_of("billing", "book", &["invoice.*", "b%"], Some(5))];
    assert_eq!(fixture.store.events.next_due(&free).await.unwrap(), Some(Duration::ZERO));
    assert_eq!(ids(&fixture.store.events.claim(10, &free).await.unwrap()), ["i1", "p"]);
}

async fn a_handler_of_several_endpoints_has_one_room(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    accept(
        &fixture,
        &[("billing", "a", "b1"), ("billing", "a", "b2"), ("github", "a", "g1"), ("github", "a", "g2")],
    )
    .await;
    let lanes = ["billing", "github"].map(|endpoint| lane_of(endpoint, "book", &["*"], Some(3)));
    assert_eq!(fixture.store.events.claim(10, &lanes).await.unwrap().len(), 3);
}
