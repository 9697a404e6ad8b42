//! `hookgate top`: live figures from the metrics pages.

use hookgate::cli::top::{Figures, Page};
use serde_json::{Value, json};

use super::table_rows;
use crate::support::database::{Database, Engine};
use crate::support::gateway::GatewayConfig;
use crate::support::{stripe, wait};

const BEFORE: &str = r#"
# HELP hookgate_requests_total text {with="braces"} 7
hookgate_requests_total{endpoint="billing",outcome="processed",provider="stripe"} 10
hookgate_events_total{endpoint="billing",outcome="processed",provider="stripe"} 10
hookgate_events_total{endpoint="billing",outcome="duplicate",provider="stripe"} 0
hookgate_rejections_total{endpoint="billing",provider="stripe",reason="signature_mismatch"} 1
hookgate_process_attempts_total{endpoint="billing",handler="a, \"b\" = {c}\\",outcome="failed",provider="stripe"} 0
hookgate_request_duration_seconds_bucket{endpoint="billing",provider="stripe",le="0.1"} 10
hookgate_request_duration_seconds_bucket{endpoint="billing",provider="stripe",le="1"} 10
hookgate_request_duration_seconds_bucket{endpoint="billing",provider="stripe",le="+Inf"} 10
hookgate_inbox_backlog{endpoint="billing",provider="stripe"} 3
hookgate_delivery_attempts_total{destination="crm",outcome="succeeded"} 5
hookgate_delivery_attempts_total{destination="crm",outcome="failed"} 5
"#;

const NOW: &str = r#"
hookgate_requests_total{endpoint="billing",outcome="processed",provider="stripe"} 50
hookgate_events_total{endpoint="billing",outcome="processed",provider="stripe"} 40
hookgate_events_total{endpoint="billing",outcome="duplicate",provider="stripe"} 10
hookgate_rejections_total{endpoint="billing",provider="stripe",reason="signature_mismatch"} 5
hookgate_process_attempts_total{endpoint="billing",handler="a, \"b\" = {c}\\",outcome="failed",provider="stripe"} 8
hookgate_request_duration_seconds_bucket{endpoint="billing",provider="stripe",le="0.1"} 10
hookgate_request_duration_seconds_bucket{endpoint="billing",provider="stripe",le="1"} 110
hookgate_request_duration_seconds_bucket{endpoint="billing",provider="stripe",le="+Inf"} 110
hookgate_inbox_backlog{endpoint="billing",provider="stripe"} 7
hookgate_inbox_oldest_seconds{endpoint="billing",provider="stripe"} 61.5
hookgate_delivery_attempts_total{destination="crm",outcome="succeeded"} 9
hookgate_delivery_attempts_total{destination="crm",outcome="failed"} 2
"#;

fn figures(before: Option<&Page>, now: &Page) -> serde_json::Value {
    serde_json::to_value(Figures::new(before, now, 4.0, [1, 1])).expect("JSON")
}

#[test]
fn rates_are_what_the_counters_grew_by_in_a_second() {
    let figures = figures(Some(&Page::parse(BEFORE)), &Page::parse(NOW));
    let billing = &figures["endpoints"][0];
    assert_eq!(billing["provider"], "stripe");
    assert_eq!(billing["events"], json!(10.0));
    assert_eq!(billing["duplicates"], json!(0.25));
    assert_eq!(billing["rejected"], json!(1.0));
    assert_eq!(billing["failed"], json!(2.0));
    // All that came in between were between 0.1 and 1 s.
    assert_eq!(billing["reply_p99"], json!(0.1 + 0.9 * 0.99));
    assert_eq!((&billing["backlog"], &billing["oldest"]), (&json!(7.0), &json!(61.5)));
    assert_eq!(billing["needs_review"], json!(null));
    let crm = &figures["destinations"][0];
    assert_eq!(crm["delivered"], json!(1.0));
    // A counter that shrank is a gateway that was started anew.
    assert_eq!(crm["failed"], json!(0.0));
}

#[test]
fn rates_add_up_over_gateways_and_backlogs_do_not() {
    let both = |text| {
        let mut page = Page::parse(text);
        page.join(Page::parse(text));
        page
    };
    let figures = figures(Some(&both(BEFORE)), &both(NOW));
    let billing = &figures["endpoints"][0];
    assert_eq!((&billing["events"], &billing["backlog"]), (&json!(20.0), &json!(7.0)));
    assert_eq!(billing["reply_p99"], json!(0.1 + 0.9 * 0.99));
}

#[test]
fn a_first_look_has_no_rates() {
    let figures = figures(None, &Page::parse(NOW));
    let billing = &figures["endpoints"][0];
    assert_eq!((&billing["events"], &billing["backlog"]), (&json!(0.0), &json!(7.0)));
    assert_eq!((&billing["duplicates"], &billing["reply_p99"]), (&json!(null), &json!(null)));
}

#[tokio::test]
async fn a_running_gateway_is_shown_with_its_backlog() {
    let database = Database::new(Engine::Sqlite).await;
    let config = GatewayConfig::new(&database.url, "sync")
        .destination("crm", "http://127.0.0.1:1/", None)
        .with("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nforward = [\"crm\"]\n");
    let gateway = config.start().await;
    gateway.deliver(stripe::event("evt_1", "customer.created", &json!({}))).await.expect("an answer");
    wait::until("the backlog in the metrics", async || {
        (gateway.metrics().await.sum("hookgate_outbox_backlog", &[("destination", "crm")]) > 0.0)
            .then_some(())
    })
    .await;
    let here = format!("http://{}", gateway.admin);
    // Nobody listens on the second one.
    let at = ["--url", &here, "--url", "http://127.0.0.1:1", "--once", "--every", "100ms"];
    let (code, table, told) = config.try_run(&[&["top"], &at[..]].concat());
    assert!(code == 0 && told.contains("127.0.0.1:1"), "{code} {table} {told}");
    assert!(table.starts_with("gateways: 1 of 2;"), "{table}");
    let rows = table_rows(&table);
    assert_eq!((rows[0][0], rows[0][1]), ("billing", "0"), "{table}");
    let crm = rows.iter().find(|row| row[0] == "crm").expect("the destination");
    assert_eq!(crm[4], "1", "{table}");

    let (code, line, _) = config.try_run(&[&["top", "--json"], &at[..]].concat());
    let figures: Value = serde_json::from_str(&line).expect("one object");
    assert_eq!((code, &figures["gateways"]), (0, &json!([1, 2])));

    let (code, out, told) = config.try_run(&["top", "--once", "--url", "http://127.0.0.1:1"]);
    assert!(code == 1 && out.is_empty() && told.contains("no gateway answers"), "{code} {out} {told}");
    gateway.terminate().await;
}
