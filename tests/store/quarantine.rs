//! Rejected requests: kept within bounds, and released.

use std::sync::Arc;
use std::time::Duration;

use hookgate::config;
use hookgate::store::{
    Filter, Kept, Page, Quarantined, ReleaseOrder, Released, SecretMatches, SecretUse, Sent,
};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::fixture::{Fixture, event, with_body};
use crate::support::database::{Engine, both_engines};

both_engines!(
    a_rejected_request_is_one_row_for_each_network_and_its_copies_are_counted,
    nobody_takes_more_than_a_share_and_nothing_goes_for_it,
    bytes_are_bounded_like_rows,
    gateways_that_write_at_once_stay_within_the_bounds,
    it_came_when_it_came_however_late_it_is_written,
    a_release_writes_the_events_and_the_mark_or_nothing,
    of_two_releases_one_is_done,
    only_what_can_be_released_is_offered_the_oldest_first,
    what_is_released_makes_way_for_the_same_request,
    matches_of_secrets_are_added_up_and_their_watch_has_a_beginning,
);

const BOUNDS: config::Quarantine = config::Quarantine { max_rows: 16, max_bytes: 1 << 20, per_minute: 100 };
const ALL: Page = Page { after: None, limit: 100 };

fn rejected(body: &[u8], network: &str, reason: &'static str) -> Quarantined {
    let event = with_body("unknown", body);
    Quarantined {
        provider: "stripe".into(),
        endpoint: "billing".into(),
        reason,
        hint: Some("signed with the secret of endpoint `shop`".into()),
        detail: "none fits\0".into(),
        event_id: None,
        headers: Arc::clone(&event.headers),
        body: event.body,
        body_sha256: Sha256::digest(body).into(),
        digest: Sha256::digest(body).into(),
        verified: false,
        request_id: Uuid::now_v7(),
        sent: Some(Sent {
            method: "POST".into(),
            url: "/stripe?token=[removed]".into(),
            peer: Some("203.0.113.7".into()),
            peer_net: network.into(),
            by_proxy: true,
            credentials: None,
        }),
        age: Duration::ZERO,
    }
}

async fn keep(fixture: &Fixture, requests: &[Quarantined]) -> Vec<Kept> {
    fixture.store.inbox.quarantine_rejected(requests, &BOUNDS).await.expect("keep")
}

async fn rows(fixture: &Fixture) -> i64 {
    fixture.raw.count("SELECT count(*) FROM quarantine").await
}

async fn a_rejected_request_is_one_row_for_each_network_and_its_copies_are_counted(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let (here, there) =
        (rejected(b"{}", "here", "signature_mismatch"), rejected(b"{}", "there", "signature_mismatch"));
    assert_eq!(
        keep(&fixture, &[here.clone(), here.clone(), there]).await,
        [Kept::New, Kept::Copy, Kept::New]
    );
    assert_eq!(keep(&fixture, &[here]).await, [Kept::Copy]);
    let listed = fixture.store.operations.quarantined(&Filter::default(), &ALL).await.unwrap().rows;
    assert_eq!(listed.iter().map(|row| row.copies).collect::<Vec<_>>(), [1, 3]);
    let shown = fixture.store.operations.quarantined_one(listed[1].id).await.unwrap().expect("it is there");
    let record = &shown.record;
    assert_eq!(
        (record.method.as_deref(), record.url.as_deref()),
        (Some("POST"), Some("/stripe?token=[removed]"))
    );
    assert_eq!((record.peer.as_deref(), shown.by_proxy, record.verified), (Some("203.0.113.7"), true, false));
    assert_eq!(record.detail, "none fits\u{fffd}");
    assert_eq!(shown.content.body.as_ref(), b"{}");
    let counted = fixture.store.ledger.quarantine_rows(&["billing".into(), "shop".into()]).await.unwrap();
    assert_eq!(counted, [("billing".into(), 2), ("shop".into(), 0)]);
}

async fn nobody_takes_more_than_a_share_and_nothing_goes_for_it(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let of = |count: u32, network: &str, reason: &'static str| -> Vec<Quarantined> {
        (0..count).map(|n| rejected(format!("{network} {reason} {n}").as_bytes(), network, reason)).collect()
    };
    let mut first = keep(&fixture, &of(6, "a", "signature_mismatch")).await;
    assert_eq!(first.split_off(4), [Kept::NoShare, Kept::NoShare], "a network has a quarter of 16");
    assert_eq!(first, [Kept::New; 4]);
    keep(&fixture, &of(4, "b", "signature_mismatch")).await;
    assert_eq!(keep(&fixture, &of(1, "c", "signature_mismatch")).await, [Kept::NoShare], "a reason has half");
    assert_eq!(keep(&fixture, &of(4, "c", "stale_timestamp")).await, [Kept::New; 4]);
    assert_eq!(keep(&fixture, &of(4, "d", "stale_timestamp")).await, [Kept::New; 4]);
    assert_eq!(keep(&fixture, &of(1, "e", "unknown_key")).await, [Kept::Full]);
    assert_eq!(rows(&fixture).await, 16);
    // A copy takes no room, another endpoint has its own, and what is genuine is outside all bounds.
    assert_eq!(keep(&fixture, &of(1, "a", "signature_mismatch")).await, [Kept::Copy]);
    let shop = Quarantined { endpoint: "shop".into(), ..rejected(b"{}", "a", "signature_mismatch") };
    assert_eq!(keep(&fixture, &[shop]).await, [Kept::New]);
    let genuine = Quarantined { verified: true, ..rejected(b"{}", "a", "no_event_id") };
    fixture.store.inbox.quarantine(&genuine).await.unwrap();
    assert_eq!(rows(&fixture).await, 18);
}

async fn bytes_are_bounded_like_rows(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let large = |n: u8| rejected(&vec![n; 200 << 10], &n.to_string(), "signature_mismatch");
    let kept =
        keep(&fixture, &[large(1), large(2), large(3), rejected(b"{}", "4", "signature_mismatch")]).await;
    assert_eq!(kept, [Kept::New, Kept::New, Kept::NoShare, Kept::New], "a reason has half of 1 MiB");
    let larger = rejected(&vec![0; 300 << 10], "5", "stale_timestamp");
    assert_eq!(keep(&fixture, &[larger]).await, [Kept::NoShare], "a network has a quarter");
}

async fn gateways_that_write_at_once_stay_within_the_bounds(engine: Engine) {
    let fixture = Arc::new(Fixture::new(engine).await);
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..6 {
        let fixture = Arc::clone(&fixture);
        tasks.spawn(async move {
            let flood: Vec<_> = (0..20)
                .map(|n| {
                    rejected(
                        format!("{writer} {n}").as_bytes(),
                        &format!("{writer} {n}"),
                        "signature_mismatch",
                    )
                })
                .collect();
            keep(&fixture, &flood).await
        });
    }
    tasks.join_all().await;
    assert_eq!(rows(&fixture).await, 8);
}

async fn it_came_when_it_came_however_late_it_is_written(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let late = Quarantined { age: Duration::from_mins(10), ..rejected(b"{}", "a", "signature_mismatch") };
    keep(&fixture, &[late]).await;
    let now = fixture.store.operations.now().await.unwrap();
    let row = fixture.store.operations.quarantined(&Filter::default(), &ALL).await.unwrap().rows.remove(0);
    let age = (now - row.received_at).num_seconds();
    assert!((599..700).contains(&age), "{age}");
}

async fn order(fixture: &Fixture) -> ReleaseOrder {
    let audit = fixture.store.operations.audit("cli:ann", "quarantine.release", "{}").await.unwrap();
    ReleaseOrder { who: "cli:ann".into(), audit }
}

const AFFECTED: &str = "SELECT CAST(sum(affected) AS bigint) FROM audit_log";

async fn a_release_writes_the_events_and_the_mark_or_nothing(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    keep(&fixture, &[rejected(b"{}", "a", "signature_mismatch")]).await;
    let id = fixture.raw.count("SELECT id FROM quarantine").await;
    fixture.accept(&event("evt_2")).await;
    let order = order(&fixture).await;
    let operations = &fixture.store.operations;
    let events = [event("evt_2"), event("evt_1")];
    let conflict = operations.release(id, &events, &order, &|_, _| true).await.unwrap();
    assert_eq!(conflict, Released::Conflict);
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 1);
    operations.not_released(id, "conflict").await.unwrap();
    let row = operations.quarantined_one(id).await.unwrap().expect("it is there").record;
    assert_eq!((row.released_at, row.checked_reason.as_deref()), (None, Some("conflict")));
    let done = operations.release(id, &events, &order, &|_, _| false).await.unwrap();
    assert_eq!(done, Released::Done { new: 1, known: 1 });
    let row = operations.quarantined_one(id).await.unwrap().expect("it is there").record;
    assert_eq!((row.released_by.as_deref(), row.checked_reason), (Some("cli:ann"), None));
    assert_eq!(fixture.claim(10).await.len(), 2, "both wait for a worker");
    assert_eq!(fixture.raw.count(AFFECTED).await, 1);
}

async fn of_two_releases_one_is_done(engine: Engine) {
    let fixture = Arc::new(Fixture::new(engine).await);
    keep(&fixture, &[rejected(b"{}", "a", "signature_mismatch")]).await;
    let id = fixture.raw.count("SELECT id FROM quarantine").await;
    let order = order(&fixture).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (fixture, order) = (Arc::clone(&fixture), order.clone());
        tasks.spawn(async move {
            fixture.store.operations.release(id, &[event("evt_1")], &order, &|_, _| false).await.unwrap()
        });
    }
    let ended = tasks.join_all().await;
    let done = ended.iter().filter(|one| matches!(one, Released::Done { new: 1, .. })).count();
    let gone = ended.iter().filter(|one| **one == Released::Gone).count();
    assert_eq!((done, gone), (1, 3), "{ended:?}");
    assert_eq!(fixture.raw.count(AFFECTED).await, 1);
}

async fn only_what_can_be_released_is_offered_the_oldest_first(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for (n, reason) in ["signature_mismatch", "stale_timestamp", "signature_mismatch"].into_iter().enumerate()
    {
        keep(&fixture, &[rejected(format!("{n}").as_bytes(), "a", reason)]).await;
    }
    let conflict = Quarantined { verified: true, ..rejected(b"3", "a", "conflict") };
    fixture.store.inbox.quarantine(&conflict).await.unwrap();
    let bodies = async |filter: Filter| -> Vec<String> {
        let listed = fixture.store.operations.unreleased(&filter, &ALL).await.unwrap();
        let mut bodies = Vec::new();
        for row in listed.rows {
            let one = fixture.store.operations.quarantined_one(row.id).await.unwrap().expect("it is there");
            bodies.push(String::from_utf8(one.content.body.to_vec()).unwrap());
        }
        bodies
    };
    assert_eq!(bodies(Filter::default()).await, ["0", "1", "2"]);
    let mismatch = Filter { reason: Some("signature_mismatch".into()), ..Filter::default() };
    assert_eq!(bodies(mismatch).await, ["0", "2"]);
    let first = fixture.raw.count("SELECT min(id) FROM quarantine").await;
    let order = order(&fixture).await;
    fixture.store.operations.release(first, &[], &order, &|_, _| false).await.unwrap();
    assert_eq!(bodies(Filter::default()).await, ["1", "2"]);
}

async fn what_is_released_makes_way_for_the_same_request(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let request = rejected(b"{}", "a", "signature_mismatch");
    keep(&fixture, std::slice::from_ref(&request)).await;
    let id = fixture.raw.count("SELECT id FROM quarantine").await;
    let order = order(&fixture).await;
    fixture.store.operations.release(id, &[], &order, &|_, _| false).await.unwrap();
    assert_eq!(keep(&fixture, &[request]).await, [Kept::New]);
    assert_eq!(rows(&fixture).await, 2);
}

async fn matches_of_secrets_are_added_up_and_their_watch_has_a_beginning(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let ledger = &fixture.store.ledger;
    let used = |fingerprint: &str, matches| SecretUse {
        endpoint: "billing".into(),
        fingerprint: fingerprint.into(),
        matches,
    };
    ledger.count_matches(&[used("old", 0), used("new", 0)]).await.unwrap();
    let found = ledger.secret_matches().await.unwrap();
    assert!(found.iter().all(|one| one.matched_at.is_none() && one.matches == 0), "{found:?}");
    ledger.count_matches(&[used("new", 2)]).await.unwrap();
    ledger.count_matches(&[used("new", 3), used("old", 0)]).await.unwrap();
    let again: Vec<SecretMatches> = ledger.secret_matches().await.unwrap();
    assert_eq!(
        again.iter().map(|one| (&*one.fingerprint, one.matches)).collect::<Vec<_>>(),
        [("new", 5), ("old", 0)]
    );
    assert_eq!(
        again.iter().map(|one| one.since).collect::<Vec<_>>(),
        found.iter().map(|one| one.since).collect::<Vec<_>>()
    );
    assert!(again[0].matched_at.is_some() && again[1].matched_at.is_none());
}
