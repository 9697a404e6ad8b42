//! Keys that are fetched, secrets that are learned, subscriptions that are confirmed: through the whole gateway.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join_all;
use hmac::{Hmac, KeyInit as _, Mac as _};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::keys::server::{Server, ok, with};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::{http, wait};

both_engines!(
    a_key_is_fetched_once_for_all_requests_that_wait_for_it,
    a_subscription_is_confirmed_after_its_request_is_proved,
    a_secret_is_learned_while_an_operator_waits_and_serves_every_gateway,
);

/// Signs with a key that it publishes at `/keys/ID`.
fn acme(server: &Server) -> String {
    let port = server.address.port();
    format!(
        r#"
id = "acme"
name = "Acme"
confidence = "unconfirmed"
docs = "https://acme.example/docs"
[dashboard]
place = "Settings"
secret = "none"
[[verify]]
name = "v1"
algorithm = "ed25519"
key = "{{secret|public-key}}"
text = "{{body}}"
signature = {{ from = "{{header:x-signature}}", encoding = "base64" }}
[verify.fetch]
url = "http://127.0.0.1:{port}/keys/{{header:x-key-id}}"
hosts = ["127.0.0.1"]
allow_private = true
[[handshake]]
name = "subscription"
signed = true
when = "{{json:/confirm}}"
confirm = {{ url = "{{json:/confirm}}", hosts = ["127.0.0.1"], path = "/confirm/*", allow_private = true }}
reply = {{ status = 200 }}
[event]
format = "json"
id = "{{json:/id}}"
type = "order"
"#
    )
}

const ENDPOINT: &str = "[endpoints.acme]\nprovider = \"acme\"\npaths = [\"/acme\"]\n";

struct Signer(Ed25519KeyPair);

impl Signer {
    fn new() -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key"))
    }

    /// As it is published: the DER of the public key in base64.
    fn published(&self) -> String {
        let head = hex::decode("302a300506032b6570032100").expect("hex");
        STANDARD.encode([&head, self.0.public_key().as_ref()].concat())
    }

    async fn send(&self, gateway: &Gateway, key: &str, body: &Value) -> u16 {
        let body = body.to_string();
        let signature = STANDARD.encode(self.0.sign(body.as_bytes()));
        let headers: [(&str, &[u8]); 3] = [
            ("x-signature", signature.as_bytes()),
            ("x-key-id", key.as_bytes()),
            ("content-type", b"application/json"),
        ];
        http::post(gateway.ingress, "/acme", &headers, body).await.expect("an answer").status.into()
    }
}

async fn provider(signer: &Signer) -> Server {
    let key = signer.published();
    Server::start(move |asked| match asked.head.split(' ').nth(1) {
        Some("/keys/k1") => ok(&key),
        Some("/keys/broken") => with("500 Broken", "", ""),
        Some(path) if path.starts_with("/confirm/") => ok("confirmed"),
        _ => with("404 Not Found", "", ""),
    })
    .await
}

async fn a_key_is_fetched_once_for_all_requests_that_wait_for_it(engine: Engine) {
    let signer = Signer::new();
    let server = provider(&signer).await;
    let database = Database::new(engine).await;
    let config = GatewayConfig::new(&database.url, "async").definition("acme", &acme(&server)).with(ENDPOINT);
    let gateway = config.start().await;
    server.hold();
    let bodies: Vec<Value> = (0..50).map(|number| json!({"id": format!("evt_{number}")})).collect();
    let sending = join_all(bodies.iter().map(|body| signer.send(&gateway, "k1", body)));
    let (statuses, ()) = tokio::join!(sending, async {
        wait::until("the one fetch", async || (server.count() > 0).then_some(())).await;
        server.let_go();
    });
    assert_eq!(statuses, vec![200; 50]);
    assert_eq!(server.count(), 1);
    let stored = "SELECT count(*) FROM webhook_inbox WHERE provider = 'acme'";
    assert_eq!(database.count(stored).await, 50);
    // A key that the provider has not got is a stranger's; one that it cannot give now is worth another try.
    assert_eq!(signer.send(&gateway, "k2", &json!({"id": "evt_x"})).await, 401);
    assert_eq!(signer.send(&gateway, "broken", &json!({"id": "evt_x"})).await, 503);
    assert_eq!(signer.send(&gateway, "../k1", &json!({"id": "evt_x"})).await, 503);
    assert_eq!(signer.send(&gateway, "k1", &json!({"id": "evt_50"})).await, 200);
    assert_eq!(server.count(), 2);
    assert_eq!(database.count(stored).await, 51);
}

async fn a_subscription_is_confirmed_after_its_request_is_proved(engine: Engine) {
    let signer = Signer::new();
    let server = provider(&signer).await;
    let database = Database::new(engine).await;
    let config = GatewayConfig::new(&database.url, "async").definition("acme", &acme(&server)).with(ENDPOINT);
    let gateway = config.start().await;
    let confirm = json!({"confirm": server.url("/confirm/token-1")});
    // Not signed with the published key: nobody is called.
    let forged = Signer(Ed25519KeyPair::from_seed_unchecked(&[8; 32]).expect("a key"));
    assert_eq!(forged.send(&gateway, "k1", &confirm).await, 401);
    // Signed, but it leads elsewhere.
    let elsewhere = json!({"confirm": server.url("/elsewhere")});
    assert_eq!(signer.send(&gateway, "k1", &elsewhere).await, 401);
    assert_eq!(database.count("SELECT count(*) FROM outbox").await, 0);
    assert_eq!(signer.send(&gateway, "k1", &confirm).await, 200);
    let calls =
        || server.asked().iter().filter(|asked| asked.head.starts_with("get /confirm/token-1 ")).count();
    wait::until("the call", async || (calls() == 1).then_some(())).await;
    let published =
        "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL AND destination = '(confirmations)'";
    wait::until("the message to be settled", async || (database.count(published).await == 1).then_some(()))
        .await;
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox").await, 0);
}

/// Sends Asana's first request, or an event.
async fn asana(gateway: &Gateway, header: (&str, &str), body: &str) -> (u16, Option<String>) {
    let headers: [(&str, &[u8]); 2] =
        [(header.0, header.1.as_bytes()), ("content-type", b"application/json")];
    let answer = http::post(gateway.ingress, "/asana", &headers, body.to_owned()).await.expect("an answer");
    let echoed = answer.headers.get("x-hook-secret").map(|value| value.to_str().expect("text").to_owned());
    (answer.status.into(), echoed)
}

async fn event(gateway: &Gateway, secret: &str) -> u16 {
    let body = r#"{"events":[{"action":"changed","created_at":"2026-01-01T00:00:00Z","resource":{"gid":"1","resource_type":"task"}}]}"#;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
    mac.update(body.as_bytes());
    let signature = hex::encode(mac.finalize().into_bytes());
    asana(gateway, ("x-hook-signature", &signature), body).await.0
}

async fn a_secret_is_learned_while_an_operator_waits_and_serves_every_gateway(engine: Engine) {
    const SECRET: &str = "b537207f20cbfa02357cf448134da559";
    let database = Database::new(engine).await;
    let config = GatewayConfig::new(&database.url, "async")
        .with("[endpoints.asana]\nprovider = \"asana\"\npaths = [\"/asana\"]\n");
    let gateway = config.start().await;
    let hook = ("x-hook-secret", SECRET);
    assert_eq!(asana(&gateway, hook, "{}").await, (401, None));
    assert_eq!(event(&gateway, SECRET).await, 401);
    config.run(&["endpoints", "arm", "asana", "--for", "5m"]);
    // What was refused a moment ago is refused for that moment.
    let answered = wait::until("the secret to be learned", async || {
        Some(asana(&gateway, hook, "{}").await).filter(|(status, _)| *status == 200)
    });
    assert_eq!(answered.await.1.as_deref(), Some(SECRET));
    wait::until("the secret to be used", async || (event(&gateway, SECRET).await == 200).then_some(())).await;
    assert_eq!(event(&gateway, "another secret of 16 bytes and more").await, 401);
    if let Engine::Postgres = engine {
        let second = config.start().await;
        assert_eq!(event(&second, SECRET).await, 200);
    }
    let listed: Value = serde_json::from_str(&config.run(&["endpoints", "list", "--json"])).expect("JSON");
    assert!(listed[0]["learned_at"].is_string() && listed[0]["armed_until"].is_null(), "{listed}");
    assert_eq!(config.run(&["endpoints", "reveal", "asana"]).trim(), SECRET);
    let (code, _, why) = config.try_run(&["endpoints", "arm", "asana"]);
    assert!(code == 1 && why.contains("endpoints forget asana"), "{why}");
    let (code, _, why) = config.try_run(&["endpoints", "arm", "billing"]);
    assert!(code == 1 && why.contains("hands over no secret"), "{why}");
    config.run(&["endpoints", "forget", "asana"]);
    wait::until("the secret to be gone", async || (event(&gateway, SECRET).await == 401).then_some(())).await;
    assert!(!gateway.log().contains(SECRET), "the secret is in the log");
}
