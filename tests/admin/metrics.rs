//! The metrics page.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use hookgate::clock::{Clock as _, SystemClock};
use hookgate::config::{self, Sources};
use hookgate::model::Outcome;
use hookgate::observe::Metrics;
use hookgate::receive::Receipt;
use hookgate::store::Backlog;
use uuid::Uuid;

use super::rig::Rig;
use crate::support::http::get;
use crate::support::wait::until;

fn row(provider: &str, name: &str, backlog: i64) -> Backlog {
    Backlog {
        provider: provider.into(),
        name: name.into(),
        backlog,
        oldest: Duration::from_millis(1_500),
        needs_review: 2,
        dead: 1,
    }
}

async fn page(rig: &Rig) -> String {
    let page = get(rig.address, "/metrics").await.unwrap();
    assert_eq!(page.status, 200);
    assert!(page.headers["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    page.text()
}

async fn page_with(rig: &Rig, wanted: &str) -> String {
    until(wanted, async || Some(page(rig).await).filter(|page| page.lines().any(|line| line == wanted))).await
}

#[tokio::test]
async fn every_family_explains_itself() {
    let rig = Rig::on_loopback().await;
    let page = page(&rig).await;
    for line in page.lines().filter(|line| line.starts_with("# HELP ")) {
        assert!(line.split_whitespace().count() > 5, "{line}");
    }
    for family in
        ["hookgate_build_info", "hookgate_store_up", "hookgate_leases_lost_total", "process_open_fds"]
    {
        assert!(page.contains(&format!("# HELP {family} ")), "{family}");
    }
}

#[tokio::test]
async fn event_types_of_the_definitions_samples_are_counted_by_name() {
    let variables = [
        ("HOOKGATE__ENDPOINTS__BILLING__PROVIDER", "stripe"),
        ("HOOKGATE__ENDPOINTS__BILLING__PATHS", "[\"/b\"]"),
        ("HOOKGATE__ENDPOINTS__BILLING__SECRETS", "[\"env:KEY\"]"),
        ("KEY", "a-secret-of-some-length"),
    ];
    let sources = Sources { environment: variables.into_iter().collect(), ..Sources::default() };
    let loaded = config::load(&sources).unwrap();
    let samples: Vec<String> =
        loaded.catalogue.get("stripe").unwrap().samples().iter().map(|s| s.event_type.clone()).collect();
    assert!(!samples.is_empty());
    let rig = Rig::start(&loaded.config, "127.0.0.1:8081", None).await;
    let page = page(&rig).await;
    for name in samples.iter().map(String::as_str).chain(["other"]) {
        let line = format!("hookgate_event_types_total{{endpoint=\"billing\",event_type=\"{name}\"}} 0");
        assert!(page.lines().any(|found| found == line), "{line}");
    }
}

#[tokio::test]
async fn what_the_config_declares_is_shown_from_the_start() {
    let variables = [
        ("HOOKGATE__ENDPOINTS__BILLING__PROVIDER", "github"),
        ("HOOKGATE__ENDPOINTS__BILLING__PATHS", "[\"/b\"]"),
        (
            "HOOKGATE__ENDPOINTS__BILLING__SECRETS",
            "[\"env:KEY\", {secret=\"env:OLD\", until=\"2096-10-02T07:06:40Z\"}]",
        ),
        ("HOOKGATE__ENDPOINTS__BILLING__EXPECT_EVERY", "6h"),
        ("KEY", "a-secret-of-some-length"),
        ("OLD", "another-secret-of-some-length"),
    ];
    let sources = Sources { environment: variables.into_iter().collect(), ..Sources::default() };
    let rig = Rig::start(&config::load(&sources).unwrap().config, "127.0.0.1:8081", None).await;
    let page = page(&rig).await;
    for line in [
        r#"hookgate_expected_every_seconds{endpoint="billing"} 21600"#,
        r#"hookgate_reply_deadline_seconds{endpoint="billing",provider="github"} 10"#,
        r#"hookgate_secret_expires_timestamp_seconds{endpoint="billing",secret="2"} 4000000000"#,
        r#"hookgate_late_replies_total{endpoint="billing",provider="github"} 0"#,
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    assert!(!page.contains(r#"{endpoint="billing",secret="1"} 4"#), "a secret without end has no series");
}

#[tokio::test]
async fn acknowledgements_after_the_providers_time_limit_are_counted() {
    let variables = [
        ("HOOKGATE__ENDPOINTS__BILLING__PROVIDER", "github"),
        ("HOOKGATE__ENDPOINTS__BILLING__PATHS", "[\"/b\"]"),
        ("HOOKGATE__ENDPOINTS__BILLING__SECRETS", "[\"env:KEY\"]"),
        ("KEY", "a-secret-of-some-length"),
    ];
    let sources = Sources { environment: variables.into_iter().collect(), ..Sources::default() };
    let config = config::load(&sources).unwrap().config;
    let metrics = Metrics::new(&config).unwrap();
    let answer = |outcome, seconds| {
        let receipt = Receipt {
            request_id: Uuid::nil(),
            outcome,
            verified: true,
            secret: Some(1),
            events: Vec::new(),
            rejection: None,
            hint: None,
            fault: None,
            reply: None,
            answer: None,
        };
        metrics.request(
            &config.endpoints["billing"],
            &receipt,
            Duration::from_secs(seconds),
            SystemClock.now(),
        );
    };
    // GitHub waits for 10 s. A late refusal does no harm: the event comes again in any case.
    answer(Outcome::Accepted, 9);
    answer(Outcome::Accepted, 11);
    answer(Outcome::Duplicate, 12);
    answer(Outcome::Error, 13);
    let page = metrics.render().unwrap();
    let late = r#"hookgate_late_replies_total{endpoint="billing",provider="github"} 2"#;
    assert!(page.lines().any(|line| line == late), "{page}");
}

#[tokio::test]
async fn the_databases_clock_and_durability_are_shown_while_it_answers() {
    let rig = Rig::on_loopback().await;
    let skew = async |rig: &Rig| {
        let page = page(rig).await;
        page.lines().find_map(|l| l.strip_prefix("hookgate_clock_skew_seconds ")?.parse::<f64>().ok())
    };
    rig.store.ahead.store(30, SeqCst);
    until("the skew to show", async || skew(&rig).await.filter(|skew| (29.0..31.0).contains(skew))).await;
    page_with(&rig, "hookgate_durability_degraded 1").await;
    rig.store.up.store(false, SeqCst);
    until("the numbers to end", async || skew(&rig).await.is_none().then_some(())).await;
    assert!(!page_contains(&rig, "hookgate_durability_degraded 1").await);
}

#[tokio::test]
async fn what_waits_is_shown_also_where_the_config_has_no_such_name_any_more() {
    let rig = Rig::on_loopback().await;
    *rig.store.waiting.lock().unwrap() = (vec![row("stripe", "gone", 7)], vec![row("", "crm", 3)]);
    let page = page_with(&rig, r#"hookgate_inbox_backlog{endpoint="gone",provider="stripe"} 7"#).await;
    for line in [
        r#"hookgate_inbox_oldest_seconds{endpoint="gone",provider="stripe"} 1.5"#,
        r#"hookgate_inbox_needs_review{endpoint="gone",provider="stripe"} 2"#,
        r#"hookgate_outbox_backlog{destination="crm"} 3"#,
        r#"hookgate_outbox_needs_review{destination="crm"} 2"#,
        "hookgate_store_up 1",
        r#"hookgate_store_connections{state="busy"} 2"#,
        r#"hookgate_store_connections{state="idle"} 5"#,
    ] {
        assert!(page.lines().any(|l| l == line), "{line} is missing");
    }
    *rig.store.waiting.lock().unwrap() = (Vec::new(), Vec::new());
    until("the series to end", async || (!page_contains(&rig, "\"gone\"").await).then_some(())).await;
}

async fn page_contains(rig: &Rig, text: &str) -> bool {
    page(rig).await.contains(text)
}

#[tokio::test]
async fn a_store_that_fails_leaves_no_old_numbers_behind() {
    let rig = Rig::on_loopback().await;
    *rig.store.waiting.lock().unwrap() = (vec![row("stripe", "billing", 7)], Vec::new());
    page_with(&rig, r#"hookgate_inbox_backlog{endpoint="billing",provider="stripe"} 7"#).await;
    rig.store.up.store(false, SeqCst);
    let page = page_with(&rig, "hookgate_store_up 0").await;
    assert!(!page.contains("hookgate_inbox_backlog{"), "an old number would look like a fact");
}
