//! `hookgate send`, against a running gateway.

use super::{Run, hookgate, table_rows};
use crate::support::database::{Database, Engine};
use crate::support::gateway::{Gateway, GatewayConfig};

const INBOX: &str = "SELECT count(*) FROM webhook_inbox";
const BOOKED: &str = "SELECT count(*) FROM ledger_entries";

struct Fixture {
    database: Database,
    config: GatewayConfig,
    gateway: Gateway,
}

impl Fixture {
    async fn new() -> Self {
        let database = Database::new(Engine::Sqlite).await;
        let config = GatewayConfig::new(&database.url, "sync").handler("stripe_billing", "invoice.*");
        let gateway = config.start().await;
        Self { database, config, gateway }
    }

    fn send(&self, args: &[&str]) -> Run {
        let url = format!("http://{}", self.gateway.ingress);
        let fixed = ["send", "--config", "hookgate.toml", "--url", &url];
        hookgate(self.config.folder(), &[], &[&fixed, args].concat())
    }
}

/// Outcome, status and number of requests of each line of the table.
fn outcomes(run: &Run) -> Vec<(&str, &str, i64)> {
    let rows = table_rows(&run.stdout);
    rows.iter().map(|row| (row[0], row[1], row[2].parse().expect("a number"))).collect()
}

#[tokio::test]
async fn samples_are_signed_with_the_endpoints_secret_and_accepted() {
    let fixture = Fixture::new().await;
    let run = fixture.send(&["billing", "--type", "invoice.paid", "--count", "3"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert_eq!(outcomes(&run), [("processed", "200", 3)]);
    assert_eq!(fixture.database.count(INBOX).await, 3);
    assert_eq!(fixture.database.count(BOOKED).await, 3);
}

#[tokio::test]
async fn tampered_ones_are_rejected_and_the_code_is_1() {
    let fixture = Fixture::new().await;
    let run = fixture.send(&["billing", "--count", "3", "--tamper"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(outcomes(&run), [("rejected", "400", 3)]);
    assert_eq!(fixture.database.count(INBOX).await, 0);
}

#[tokio::test]
async fn repeated_ones_all_succeed_and_are_stored_once() {
    let fixture = Fixture::new().await;
    let args = ["billing", "--count", "60", "--concurrency", "6", "--duplicate-rate", "0.5"];
    let run = fixture.send(&[&args[..], &["--type", "invoice.paid"]].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let found = outcomes(&run);
    let [("duplicate", "200", copies), ("processed", "200", events)] = found.as_slice() else {
        panic!("{}", run.stdout);
    };
    assert_eq!(copies + events, 60);
    // By chance all 60 would be different once in 2^59 runs.
    assert!(*events < 60, "no copy was sent");
    assert_eq!(fixture.database.count(INBOX).await, *events);
    assert_eq!(fixture.database.count(BOOKED).await, *events);
}

#[tokio::test]
async fn the_bytes_of_a_file_are_sent_as_they_are() {
    let fixture = Fixture::new().await;
    let body = b"{\"id\": \"evt_file\",  \"type\": \"a.b\"}\n";
    std::fs::write(fixture.config.folder().join("body.json"), body).expect("write");
    let run = fixture.send(&["billing", "--body-file", "body.json", "--count", "2"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert_eq!(fixture.database.bytes("SELECT body FROM webhook_inbox").await, [body.to_vec()]);
}

#[tokio::test]
async fn what_cannot_be_sent_is_code_1_and_says_why() {
    let fixture = Fixture::new().await;
    for (args, says) in [
        (&["biling"][..], "no endpoint is named `biling`; there are: billing"),
        (&["billing", "--type", "no.such"], "invoice.paid"),
        (&["billing", "--body-file", "absent"], "absent"),
    ] {
        let run = fixture.send(args);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(says), "{args:?}: {}", run.stderr);
    }
    let url = format!("http://{}", fixture.gateway.ingress);
    fixture.gateway.terminate().await;
    let run = hookgate(
        fixture.config.folder(),
        &[],
        &["send", "billing", "--config", "hookgate.toml", "--url", &url, "--count", "2"],
    );
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains("(2 of 2)"), "{}", run.stderr);
}

#[tokio::test]
async fn an_endpoint_with_a_public_key_is_sent_to_with_the_private_one() {
    let pairs: serde_json::Value = serde_json::from_str(include_str!("../verify/pairs.json")).expect("pairs");
    let forms = pairs.as_array().expect("forms");
    let form = forms.iter().find(|form| form["kind"] == "Ed25519 as base64").expect("there");
    let key = |at: usize, name: &str| form["pairs"][at][name].as_str().expect("a key").to_owned();
    let database = Database::new(Engine::Sqlite).await;
    let endpoint = format!(
        "[endpoints.calls]\nprovider = \"telnyx\"\npaths = [\"/calls\"]\nmode = \"async\"\nsecrets = [\"literal:{}\"]\n",
        key(0, "verify")
    );
    let config = GatewayConfig::new(&database.url, "sync").with(&endpoint);
    let gateway = config.start().await;
    let url = format!("http://{}", gateway.ingress);
    let send = |secret: &str| {
        let secret = format!("literal:{secret}");
        let args = ["send", "--config", "hookgate.toml", "--url", &url, "calls", "--secret", &secret];
        hookgate(config.folder(), &[], &args)
    };
    assert_eq!(outcomes(&send(&key(0, "sign"))), [("accepted", "200", 1)]);
    assert_eq!(outcomes(&send(&key(1, "sign"))), [("rejected", "401", 1)]);
    assert_eq!(database.count(INBOX).await, 1);
}
