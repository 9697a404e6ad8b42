//! What operators hold back.

use hookgate::store::Pausable::{Destination, Endpoint, Handler};

use super::fairness::lane_of;
use super::fixture::{Fixture, event_at, ids, lane};
use crate::support::database::{Engine, both_engines};

both_engines!(
    a_paused_endpoint_gives_no_events_until_it_is_resumed,
    a_paused_handler_holds_back_the_events_it_would_take,
    a_paused_destination_gives_no_messages,
    who_paused_what_and_why_is_known,
);

async fn a_paused_endpoint_gives_no_events_until_it_is_resumed(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.accept(&event_at("github", "push", "g")).await;
    fixture.accept_ids(&["evt_1"]).await;
    assert!(fixture.store.operations.pause(Endpoint, "billing", "cli:ann", None).await.unwrap());
    let lanes = [lane("billing", 10), lane("github", 10)];
    assert_eq!(fixture.store.events.next_due(&lanes[..1]).await.unwrap(), None);
    assert_eq!(ids(&fixture.store.events.claim(10, &lanes).await.unwrap()), ["g"]);
    assert!(fixture.store.operations.resume(Endpoint, "billing", "cli:ann").await.unwrap());
    assert_eq!(ids(&fixture.store.events.claim(10, &lanes).await.unwrap()), ["evt_1"]);
}

async fn a_paused_handler_holds_back_the_events_it_would_take(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (of, id) in [("invoice.paid", "i"), ("customer.new", "c")] {
        fixture.accept(&event_at("billing", of, id)).await;
    }
    fixture.store.operations.pause(Handler, "book", "cli:ann", None).await.unwrap();
    let lanes = [lane_of("billing", "book", &["invoice.*"], None)];
    let claimed = fixture.store.events.claim(10, &lanes).await.unwrap();
    assert_eq!(ids(&claimed), ["c"]);
    for leased in claimed {
        super::fixture::settle_as_done(&fixture, &leased).await;
    }
    assert_eq!(fixture.store.events.next_due(&lanes).await.unwrap(), None);
    fixture.store.operations.resume(Handler, "book", "cli:ann").await.unwrap();
    assert_eq!(ids(&fixture.store.events.claim(10, &lanes).await.unwrap()), ["i"]);
}

async fn a_paused_destination_gives_no_messages(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.message("evt_1", Some("crm")).await;
    fixture.store.operations.pause(Destination, "crm", "cli:ann", None).await.unwrap();
    let lanes = [lane("crm", 10)];
    assert!(fixture.store.outbox.claim(10, &lanes).await.unwrap().is_empty());
    assert_eq!(fixture.store.outbox.next_due(&lanes).await.unwrap(), None);
    fixture.store.operations.resume(Destination, "crm", "cli:ann").await.unwrap();
    assert_eq!(fixture.store.outbox.claim(10, &lanes).await.unwrap().len(), 1);
}

async fn who_paused_what_and_why_is_known(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let operations = &fixture.store.operations;
    assert!(operations.pause(Handler, "book", "cli:ann", Some("wrong prices")).await.unwrap());
    assert!(!operations.pause(Handler, "book", "cli:bob", None).await.unwrap(), "the first one stands");
    let pauses = fixture.store.ledger.pauses().await.unwrap();
    assert_eq!(pauses.len(), 1);
    assert_eq!((pauses[0].kind, &*pauses[0].name, &*pauses[0].who), (Handler, "book", "cli:ann"));
    assert_eq!(pauses[0].reason.as_deref(), Some("wrong prices"));
    assert!(operations.resume(Handler, "book", "cli:ann").await.unwrap());
    assert!(!operations.resume(Handler, "book", "cli:ann").await.unwrap());
    assert!(fixture.store.ledger.pauses().await.unwrap().is_empty());
    assert_eq!(
        fixture.raw.count("SELECT count(*) FROM audit_log WHERE action IN ('pause', 'resume')").await,
        2
    );
}
