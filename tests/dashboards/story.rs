//! A gateway with every kind of trouble at once, and a real Prometheus and Alertmanager that watch it, sixty times as
//! fast as life ([`super::scale`]): every question of every panel, rule and runbook is answered, the alerts that should
//! fire do, Alertmanager tells them, and no other does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use chrono::DateTime;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::scale::sixty_times_faster;
use super::{BOARDS, board, expressions, metrics_in, panels, read, runbooks};
use crate::support::database::{Database, Engine};
use crate::support::destination::Destination;
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::prometheus::{Alertmanager, Prometheus, program, run};
use crate::support::{http, stripe};
use crate::tidy::blocks;

/// The longest wait in the story is for silence: `expect_every` cannot be under a minute.
const PATIENCE: Duration = Duration::from_mins(4);
/// Between two rounds of traffic.
const BEAT: Duration = Duration::from_millis(300);

const GITHUB: &str = "github_secret_4f6a1c9d2e8b";
const OLD: &str = "whsec_old_4f6a1c9d2e8b7f3a5c0d9e";

/// Each trouble has its endpoint or destination, and its alerts.
const FIRING: [(&str, &str); 18] = [
    ("HookgateConflict", "billing"),
    ("HookgateDuplicatesHigh", "billing"),
    ("HookgateOldSecretInUse", "orders"),
    ("HookgateOldSecretEndsSoon", "orders"),
    ("HookgateDestinationFailing", "dead"),
    ("HookgateDeliveryOld", "dead"),
    ("HookgateHandlerFailing", "code"),
    ("HookgateNeedsReview", "code"),
    ("HookgateHandlerFailing", "strict"),
    ("HookgateReplyBudgetBurn", "strict"),
    ("HookgateReplyBudgetSlowBurn", "strict"),
    ("HookgateRejectionFlood", "attacked"),
    ("HookgateSomeSignaturesRejected", "attacked"),
    ("HookgateSecretRejected", "rolled"),
    ("HookgateNeverVerified", "fresh"),
    ("HookgateSilent", "quiet"),
    ("HookgateQuieterThanUsual", "asleep"),
    ("HookgateTimestampsRejected", "orders"),
];

/// What a machine that is busy with other tests may see besides: single waits of more than a second.
const EXCUSED: &str = "HookgateStoreSlow";

/// Questions that have no answer while all goes as in the story.
const UNANSWERED: [(&str, &str); 1] =
    [("Drain forecast", "the backlog only grows; prometheus/tests/deliveries.yml has one that shrinks")];

/// Metrics on no panel and in no rule, and why.
const UNSEEN: [(&str, &str); 0] = [];

#[tokio::test]
async fn a_day_of_trouble_is_seen_and_told() {
    let database = Database::new(Engine::Sqlite).await;
    let good = Destination::start().await;
    let gateway = configuration(&database.url, &good.url()).start().await;
    let pager = Destination::start().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    remember_two_weeks(folder.path());
    write_alertmanager(folder.path(), &pager.url());
    let alertmanager = Alertmanager::start(folder.path());
    write_prometheus(folder.path(), gateway.admin, alertmanager.address());
    let prometheus = Prometheus::start(folder.path());

    // Counters must be seen at zero before they rise.
    crate::support::wait::until("the first scrape", async || {
        let seen = prometheus.query("hookgate_store_up == 1").await.ok()?;
        (!seen.is_empty()).then_some(())
    })
    .await;
    begin(&gateway).await;
    let seen = {
        let watch = watch(&prometheus);
        tokio::pin!(watch);
        let mut round = 0_u64;
        loop {
            tokio::select! {
                seen = &mut watch => break seen,
                () = tokio::time::sleep(BEAT) => {}
            }
            round += 1;
            play(&gateway, round).await;
        }
    };
    for alert in &seen {
        let summary = alert["annotations"]["summary"].as_str().unwrap_or("");
        assert!(
            !summary.is_empty() && !summary.contains("<error") && !summary.contains("<no value>"),
            "{alert}"
        );
    }
    every_panel_is_answered(&prometheus).await;
    every_question_of_the_runbooks_is_answered(&prometheus).await;
    every_rule_is_healthy(&prometheus).await;
    some_numbers_are_right(&prometheus).await;
    metrics_are_the_same_on_both_sides(gateway.admin).await;
    the_pager_was_told(&pager).await;
}

fn configuration(database: &str, good: &str) -> GatewayConfig {
    let soon = DateTime::from_timestamp(stripe::now() + 3_600, 0).expect("a time").to_rfc3339();
    let mut toml = format!(
        "[inbox]\nmax_attempts = 3\nbackoff_cap = \"1s\"\n[outbox]\nmax_attempts = 1000\nbackoff_cap = \"2s\"\n\
         [[routes]]\nendpoint = \"billing\"\nforward = [\"good\", \"dead\"]\n\
         [[routes]]\nendpoints = [\"code\", \"strict\"]\nsql = \"broken.sql\"\n\
         [destinations.good]\ntype = \"http\"\nurl = \"{good}\"\n\
         [destinations.dead]\ntype = \"http\"\nurl = \"http://127.0.0.1:9/\"\n\
         [endpoints.orders]\nprovider = \"stripe\"\npaths = [\"/orders\"]\n\
         secrets = [\"literal:{}\", {{ secret = \"literal:{OLD}\", until = \"{soon}\" }}]\n\
         [endpoints.quiet]\nprovider = \"standard_webhooks\"\npaths = [\"/quiet\"]\nexpect_every = \"1m\"\n\
         secrets = [\"literal:whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"]\n",
        stripe::SECRET
    );
    for name in ["code", "strict", "attacked", "rolled", "fresh", "asleep"] {
        let mode = if name == "strict" { "sync" } else { "async" };
        let _ = write!(
            toml,
            "[endpoints.{name}]\nprovider = \"github\"\npaths = [\"/{name}\"]\nsecrets = [\"literal:{GITHUB}\"]\n\
             mode = \"{mode}\"\n"
        );
    }
    let config = GatewayConfig::new(database, "async").with(&toml);
    // Refused by a constraint whenever it runs; it prepares well.
    let broken = "INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload) \
                  VALUES ('', :event_id, 'Broken', '{}');";
    fs::write(config.folder().join("broken.sql"), broken).expect("write the module");
    config
}

/// What the weeks before would have left: `asleep` was busy at this hour, `billing` had few duplicates. The fast weeks
/// have 10,080 s.
fn remember_two_weeks(folder: &Path) {
    let now = stripe::now();
    let mut text = String::from("# TYPE endpoint:hookgate_events:increase1h gauge\n");
    for weeks_ago in [2, 1] {
        for minute in -3..20 {
            let at = now - weeks_ago * 10_080 + minute * 60;
            let _ = writeln!(
                text,
                "endpoint:hookgate_events:increase1h{{job=\"hookgate\",endpoint=\"asleep\"}} 50 {at}"
            );
        }
    }
    text.push_str("# TYPE endpoint:hookgate_duplicates:ratio1h gauge\n");
    for minute in -120..-60 {
        let at = now + minute * 60;
        let labels = r#"job="hookgate",provider="stripe",endpoint="billing""#;
        let _ = writeln!(text, "endpoint:hookgate_duplicates:ratio1h{{{labels}}} 0.02 {at}");
    }
    text.push_str("# EOF\n");
    fs::write(folder.join("past.om"), text).expect("write the past");
    let mut import = program("promtool");
    import.args(["tsdb", "create-blocks-from", "openmetrics", "past.om", "data"]).current_dir(folder);
    run(&mut import, "").unwrap_or_else(|why| panic!("{why}"));
}

fn write_alertmanager(folder: &Path, pager: &str) {
    let shipped = read("deploy/alertmanager.yml");
    let told = shipped
        .replace("group_wait: 30s", "group_wait: 0s")
        .replace("group_by: [alertname, job]", "group_by: ['...']")
        .replace("- name: page\n", &format!("- name: page\n    webhook_configs: [{{ url: \"{pager}\" }}]\n"))
        .replace(
            "- name: ticket\n",
            &format!("- name: ticket\n    webhook_configs: [{{ url: \"{pager}\" }}]\n"),
        );
    assert_eq!(told.matches(pager).count(), 2, "has the form of deploy/alertmanager.yml changed?");
    fs::write(folder.join("alertmanager.yml"), told).expect("write the configuration");
}

fn write_prometheus(folder: &Path, gateway: SocketAddr, alertmanager: SocketAddr) {
    for file in ["rules.yml", "alerts.yml"] {
        let fast = sixty_times_faster(&read(&format!("dashboards/prometheus/{file}")));
        fs::write(folder.join(file), fast).expect("write the rules");
    }
    let config = format!(
        "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\n\
         rule_files: [rules.yml, alerts.yml]\n\
         alerting: {{ alertmanagers: [{{ static_configs: [{{ targets: [\"{alertmanager}\"] }}] }}] }}\n\
         scrape_configs: [{{ job_name: hookgate, static_configs: [{{ targets: [\"{gateway}\"] }}] }}]\n"
    );
    fs::write(folder.join("prometheus.yml"), config).expect("write the configuration");
}

/// What happens once, at the beginning.
async fn begin(gateway: &Gateway) {
    for endpoint in ["attacked", "rolled", "asleep"] {
        assert_eq!(github(gateway, endpoint, 1, GITHUB).await, 200, "{endpoint}");
    }
    let first = stripe::event("evt_known", "invoice.paid", &json!({ "id": "in_1" }));
    assert_eq!(gateway.deliver(first).await.expect("an answer").outcome(), "accepted");
}

/// A beat of the story's traffic.
async fn play(gateway: &Gateway, round: u64) {
    let known = stripe::event("evt_known", "invoice.paid", &json!({ "id": "in_1" }));
    let new = stripe::event(&format!("evt_{round}"), "invoice.paid", &json!({ "id": format!("in_{round}") }));
    for body in [known, new.clone()] {
        assert_eq!(gateway.deliver(body).await.expect("an answer").status, 200);
    }
    // One proof with the old secret, and one request whose time is an hour old.
    let now = stripe::now();
    for (signature, status) in
        [(stripe::signature_at(OLD, &new, now), 200), (stripe::signature_at(OLD, &new, now - 3_600), 400)]
    {
        let headers: [(&str, &[u8]); 1] = [("stripe-signature", signature.as_bytes())];
        let answer = http::post(gateway.ingress, "/orders", &headers, new.clone()).await.expect("an answer");
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    for _ in 0..5 {
        assert_eq!(github(gateway, "attacked", round, "not the secret").await, 401);
    }
    if round.is_multiple_of(4) {
        let other = stripe::event("evt_known", "invoice.paid", &json!({ "id": "in_other" }));
        assert_eq!(gateway.deliver(other).await.expect("an answer").outcome(), "conflict");
        assert_eq!(github(gateway, "attacked", round, GITHUB).await, 200);
        assert_eq!(github(gateway, "code", round, GITHUB).await, 200);
        assert_eq!(github(gateway, "strict", round, GITHUB).await, 500);
        for endpoint in ["rolled", "fresh"] {
            assert_eq!(github(gateway, endpoint, round, "not the secret").await, 401);
        }
    }
    // Nobody's path.
    let nowhere = http::post(gateway.ingress, "/nowhere", &[], "").await.expect("an answer");
    assert_eq!(nowhere.status, 404);
}

/// Sends a push of GitHub's, signed with this secret; answers the status.
async fn github(gateway: &Gateway, endpoint: &str, number: u64, secret: &str) -> u16 {
    let body = json!({ "ref": "refs/heads/main", "number": number }).to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is a key");
    mac.update(body.as_bytes());
    let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
    let id = format!("00000000-0000-4000-8000-{number:012}");
    let headers: [(&str, &[u8]); 4] = [
        ("x-hub-signature-256", signature.as_bytes()),
        ("x-github-delivery", id.as_bytes()),
        ("x-github-event", b"push"),
        ("content-type", b"application/json"),
    ];
    let answer = http::post(gateway.ingress, &format!("/{endpoint}"), &headers, body).await;
    answer.expect("an answer").status.as_u16()
}

/// Waits until exactly the alerts of the story fire; a wrong one fails it at once.
async fn watch(prometheus: &Prometheus) -> Vec<Value> {
    let expected: BTreeSet<(String, String)> =
        FIRING.iter().map(|(alert, who)| ((*alert).to_owned(), (*who).to_owned())).collect();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut firing = prometheus.alerts().await;
        firing.retain(|alert| alert["state"] == "firing" && alert["labels"]["alertname"] != EXCUSED);
        let named: BTreeSet<(String, String)> = firing.iter().map(name_of).collect();
        let wrong: Vec<_> = named.difference(&expected).collect();
        assert!(wrong.is_empty(), "these should not fire: {wrong:?}\n{firing:#?}");
        if named == expected {
            return firing;
        }
        let missing: Vec<_> = expected.difference(&named).collect();
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain for {missing:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The alert and whom it is about.
fn name_of(alert: &Value) -> (String, String) {
    let labels = &alert["labels"];
    let label = |name: &str| labels[name].as_str().map(str::to_owned);
    let who = label("endpoint").or_else(|| label("destination")).or_else(|| label("instance"));
    (label("alertname").unwrap_or_default(), who.unwrap_or_default())
}

/// A panel's question as Grafana would ask it with everything chosen.
fn with_all_chosen(expression: &str) -> String {
    let mut text =
        expression.replace("$__rate_interval", "10s").replace("$__range", "60s").replace("$__interval", "5s");
    for variable in ["job", "instance", "provider", "endpoint", "destination"] {
        text = text.replace(&format!("\"${variable}"), "\".*");
    }
    assert!(!text.contains('$'), "a variable is left in {text}");
    text
}

async fn every_panel_is_answered(prometheus: &Prometheus) {
    for name in BOARDS {
        let board = board(name);
        for panel in panels(&board) {
            for expression in expressions(panel) {
                let question = with_all_chosen(expression);
                let answer = prometheus.query(&question).await;
                let place = format!("{name}/{}: {question}", panel["title"]);
                let series = answer.unwrap_or_else(|why| panic!("{place}\n{why}"));
                let excused = UNANSWERED.iter().any(|(title, _)| panel["title"] == *title);
                assert!(excused || !series.is_empty(), "no series: {place}");
            }
        }
        let mark = board["annotations"]["list"][0]["target"]["expr"].as_str().expect("an expression");
        let marks = prometheus.query(&with_all_chosen(mark)).await.expect("a good question");
        assert!(marks.len() >= FIRING.len(), "{name}: {marks:?}");
    }
}

async fn every_question_of_the_runbooks_is_answered(prometheus: &Prometheus) {
    for (name, text) in runbooks::all() {
        for question in blocks(&text, "promql") {
            let answer = prometheus.query(&question).await;
            answer.unwrap_or_else(|why| panic!("{name}: {question}\n{why}"));
        }
    }
}

async fn every_rule_is_healthy(prometheus: &Prometheus) {
    let rules = read("dashboards/prometheus/rules.yml");
    for recorded in super::values(&rules, "record") {
        // By day and week nothing has been heard twice at one hour yet.
        let series = prometheus.query(recorded).await.unwrap_or_else(|why| panic!("{recorded}: {why}"));
        let excused = recorded == "endpoint:hookgate_events:usual1d";
        assert!(excused || !series.is_empty(), "{recorded} has no series");
    }
}

/// A few answers that the story makes certain.
async fn some_numbers_are_right(prometheus: &Prometheus) {
    let board = board("delivery");
    let panel = *panels(&board)
        .iter()
        .find(|panel| panel["title"] == "Success rate by destination")
        .expect("the panel is there");
    let series = prometheus.query(&with_all_chosen(expressions(panel)[0])).await.expect("an answer");
    let found: BTreeMap<&str, f64> = series.iter().map(|s| (s.label("destination"), s.value())).collect();
    // Once its circuit is open nothing is tried there, so that there may be no share.
    assert!(
        found["good"].to_bits() == 1.0_f64.to_bits() && found.get("dead").is_none_or(|dead| *dead <= 0.0),
        "{found:?}"
    );
    let ratio = prometheus.query("endpoint:hookgate_duplicates:ratio1h{endpoint=\"billing\"}").await;
    let ratio = ratio.expect("an answer")[0].value();
    assert!((0.4..0.6).contains(&ratio), "every second event is known: {ratio}");
    let errors = prometheus.query("endpoint:hookgate_reply_errors:ratio_rate5m{endpoint=\"strict\"}").await;
    assert_eq!(errors.expect("an answer")[0].value().to_bits(), 1.0_f64.to_bits(), "it answers nothing well");
}

async fn metrics_are_the_same_on_both_sides(admin: SocketAddr) {
    let page = http::get(admin, "/metrics").await.expect("an answer").text();
    let mut check = program("promtool");
    let complaints = run(check.args(["check", "metrics"]), &page).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(complaints, "", "promtool check metrics");
    let exported: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next())
        .filter(|name| name.starts_with("hookgate_"))
        .collect();
    let rules = read("dashboards/prometheus/rules.yml");
    let alerts = read("dashboards/prometheus/alerts.yml");
    let boards: String = BOARDS.iter().map(|name| read(&format!("dashboards/grafana/{name}.json"))).collect();
    let texts = [rules.clone(), alerts, boards].concat();
    let used = metrics_in(&texts);
    let recorded: BTreeSet<&str> = super::values(&rules, "record").into_iter().collect();
    let family = |name: &'_ str| name.trim_end_matches("_bucket").to_owned();
    for name in &used {
        let known = recorded.contains(name) || exported.contains(family(name).as_str());
        assert!(known, "{name} is asked for, and the gateway has no such metric");
    }
    let asked: BTreeSet<String> = used.iter().map(|name| family(name)).collect();
    for name in exported {
        let excused = UNSEEN.iter().any(|(unseen, _)| *unseen == name);
        assert!(excused || asked.contains(name), "{name} is on no panel and in no rule");
    }
}

/// Alertmanager has sent each of them, as far as its own rules do not keep it back.
async fn the_pager_was_told(pager: &Destination) {
    let kept_back = [("HookgateOldSecretInUse", "orders")];
    let expected: BTreeSet<(String, String)> = FIRING
        .iter()
        .filter(|alert| !kept_back.contains(alert))
        .map(|(alert, who)| ((*alert).to_owned(), (*who).to_owned()))
        .collect();
    crate::support::wait::until("Alertmanager to tell all of them", async || {
        let told: BTreeSet<(String, String)> = pager
            .deliveries()
            .iter()
            .filter_map(|message| serde_json::from_slice::<Value>(&message.body).ok())
            .flat_map(|message| message["alerts"].as_array().cloned().unwrap_or_default())
            .map(|alert| name_of(&alert))
            .collect();
        expected.is_subset(&told).then_some(())
    })
    .await;
}
