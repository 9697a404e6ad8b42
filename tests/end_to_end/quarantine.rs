//! Rejected requests: kept in the background, released once they can be proved, and no way in for a forgery.

use serde_json::{Value, json};

use super::{EFFECTS, INBOX, NOTE_EFFECT, PROCESSED, assert_untouched};
use crate::support::database::{Database, Engine, both_engines};
use crate::support::gateway::{GatewayConfig, PATH};
use crate::support::http;
use crate::support::stripe;

both_engines!(
    what_a_wrong_secret_rejected_is_released_and_processed_once,
    a_release_goes_by_the_moment_of_receipt_and_lets_no_forgery_in,
    a_credential_is_known_again_and_stored_nowhere,
    what_no_event_could_be_made_of_is_released_when_the_definition_is_mended,
    a_flood_stays_within_its_bounds_and_genuine_requests_go_on,
    a_store_that_cannot_keep_a_rejected_request_changes_no_reply,
    a_second_id_under_the_same_body_is_kept_too,
    the_same_body_under_other_ids_and_signatures_is_another_request,
);

const KEPT: &str = "SELECT count(*) FROM quarantine";
const OTHER: &str = "whsec_other_0123456789abcdef0123456789";

/// Another secret for the Stripe endpoint, in another configuration over the same database.
fn mended(database: &Database, mode: &str) -> GatewayConfig {
    GatewayConfig::new(&database.url, mode).secret(OTHER).sql_handler("note", NOTE_EFFECT)
}

fn event(id: &str) -> Vec<u8> {
    stripe::event(id, "customer.created", &json!({ "id": id }))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

async fn what_a_wrong_secret_rejected_is_released_and_processed_once(engine: Engine) {
    for mode in ["sync", "async"] {
        let database = Database::new(engine).await.with_effects().await;
        let wrong = GatewayConfig::new(&database.url, mode).sql_handler("note", NOTE_EFFECT);
        let gateway = wrong.start().await;
        let now = stripe::now();
        for id in ["evt_1", "evt_2", "evt_1"] {
            let body = event(id);
            let signature = stripe::signature_at(OTHER, &body, now);
            assert_eq!(gateway.post(&signature, body).await.expect("an answer").summary(), (400, "rejected"));
        }
        database.wait_for("SELECT CAST(coalesce(sum(copies), 0) AS bigint) FROM quarantine", 3).await;
        assert_untouched(&database).await;
        // Nothing is proved yet.
        let dry = parsed(&wrong.run(&["quarantine", "release", "--all", "--dry-run", "--json"]));
        assert_eq!(
            dry,
            json!({"genuine": 0, "events": 0, "duplicates": 0, "stays": {"signature_mismatch": 2}, "no_such_endpoint": 0})
        );
        gateway.terminate().await;

        let right = mended(&database, mode);
        let gateway = right.start().await;
        let (code, text, _) = right.try_run(&["quarantine", "release", "--endpoint", "billing"]);
        assert_eq!((code, &*text), (1, "2 genuine: 2 events, 0 known before\n"), "these are several");
        assert_untouched(&database).await;
        let text = right.run(&["quarantine", "release", "--all", "--yes", "--as", "ann"]);
        assert_eq!(text, "2 released: 2 events, 0 known before\n");
        database.wait_for(PROCESSED, 2).await;
        assert_eq!(database.count(EFFECTS).await, 2);
        // The provider's own retry, and a second order, find it done.
        let body = event("evt_1");
        let signature = stripe::signature_at(OTHER, &body, stripe::now());
        assert_eq!(gateway.post(&signature, body).await.expect("an answer").summary(), (200, "duplicate"));
        assert_eq!(
            right.run(&["quarantine", "release", "--all", "--yes"]),
            "0 released: 0 events, 0 known before\n".replace("released", "genuine")
        );
        assert_eq!(database.count(EFFECTS).await, 2);
        let who = "SELECT who, action FROM audit_log WHERE affected = 2";
        assert_eq!(database.pairs(who).await, [("cli:ann".into(), "quarantine.release".into())]);
        let listed = parsed(&right.run(&["quarantine", "list", "--json"]));
        assert_eq!(listed["quarantine"][1]["released_by"], "cli:ann");
        assert_eq!(listed["quarantine"][1]["copies"], 2);
        assert_eq!(listed["quarantine"][1]["url"], PATH);
    }
}

async fn a_release_goes_by_the_moment_of_receipt_and_lets_no_forgery_in(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let wrong = GatewayConfig::new(&database.url, "async").sql_handler("note", NOTE_EFFECT);
    let gateway = wrong.start().await;
    let hour = 3_600;
    let good = event("evt_good");
    let now = stripe::now();
    for (signature, body) in [
        (stripe::signature_at(OTHER, &good, now), good),
        // Recorded long ago and sent again.
        (stripe::signature_at(OTHER, &event("evt_old"), now - 3 * hour), event("evt_old")),
        (
            stripe::signature_at("whsec_of_somebody_else_0123456789", &event("evt_forged"), now),
            event("evt_forged"),
        ),
        (stripe::signature_at(OTHER, &event("evt_2"), now), event("evt_tampered")),
    ] {
        assert_eq!(gateway.post(&signature, body).await.expect("an answer").summary(), (400, "rejected"));
    }
    database.wait_for(KEPT, 4).await;
    gateway.terminate().await;
    // An hour goes by: the signatures are an hour older, and so is the moment of receipt.
    let earlier = match engine {
        Engine::Postgres => "received_at - interval '1 hour'".to_owned(),
        Engine::Sqlite => "strftime('%Y-%m-%dT%H:%M:%fZ', received_at, '-1 hour')".to_owned(),
    };
    let right = mended(&database, "async");
    let gateway = right.start().await;
    let stays = |good: u32, mismatch: u32, stale: u32| {
        let text = right.run(&["quarantine", "release", "--all", "--dry-run", "--json"]);
        let found = parsed(&text);
        assert_eq!(found["genuine"], good, "{text}");
        assert_eq!(
            found["stays"].get("signature_mismatch").and_then(Value::as_u64).unwrap_or(0),
            u64::from(mismatch),
            "{text}"
        );
        assert_eq!(
            found["stays"]
                .as_object()
                .expect("an object")
                .iter()
                .filter(|(name, _)| name.contains("timestamp"))
                .filter_map(|(_, n)| n.as_u64())
                .sum::<u64>(),
            u64::from(stale),
            "{text}"
        );
    };
    stays(1, 2, 1);
    // As if all of them had come an hour before they were signed: then none is fresh.
    database.execute(&format!("UPDATE quarantine SET received_at = {earlier}")).await;
    stays(0, 2, 2);
    let later = earlier.replace("- interval", "+ interval").replace("-1 hour", "+1 hour");
    database.execute(&format!("UPDATE quarantine SET received_at = {later}")).await;
    let text = right.run(&["quarantine", "release", "--all", "--yes", "--json"]);
    assert_eq!(parsed(&text)["released"], 1, "{text}");
    database.wait_for(PROCESSED, 1).await;
    assert_eq!(
        database.pairs("SELECT event_id, event_type FROM webhook_inbox").await,
        [("evt_good".into(), "customer.created".into())]
    );
    let checked = database
        .count("SELECT count(*) FROM quarantine WHERE checked_reason IS NOT NULL AND released_at IS NULL")
        .await;
    assert_eq!(checked, 3, "each says why it stays");
    drop(gateway);
}

async fn a_credential_is_known_again_and_stored_nowhere(engine: Engine) {
    const TOKEN: &str = "glpat-0123456789abcdef0123";
    let endpoint = |secret: &str| {
        format!(
            "[endpoints.lab]\nprovider = \"gitlab\"\npaths = [\"/lab\"]\nsecrets = [\"literal:{secret}\"]\nmode = \"async\"\n\
             [[routes]]\nendpoint = \"lab\"\ntypes = [\"*\"]\nsql = \"note.sql\"\n"
        )
    };
    let database = Database::new(engine).await.with_effects().await;
    let config = |secret: &str| {
        GatewayConfig::new(&database.url, "async").sql_handler("note", NOTE_EFFECT).with(&endpoint(secret))
    };
    let gateway = config("another-token-0123456789").start().await;
    let send = async |token: &str, id: &str| {
        let headers: [(&str, &[u8]); 4] = [
            ("x-gitlab-token", token.as_bytes()),
            ("x-gitlab-event", b"Push Hook"),
            ("x-gitlab-event-uuid", id.as_bytes()),
            ("idempotency-key", id.as_bytes()),
        ];
        let body = format!(r#"{{"object_kind":"push","event_name":"push","id":"{id}"}}"#);
        http::post(gateway.ingress, "/lab", &headers, body.into_bytes()).await.expect("an answer")
    };
    assert_eq!(send(TOKEN, "one").await.outcome(), "rejected");
    assert_eq!(send("glpat-a-stranger-tries-this", "two").await.outcome(), "rejected");
    assert_eq!(send("[removed]", "three").await.outcome(), "rejected");
    database.wait_for(KEPT, 3).await;
    for column in ["headers", "credentials", "url", "detail"] {
        let leaks = format!("{KEPT} WHERE {column} LIKE '%glpat%'");
        assert_eq!(database.count(&leaks).await, 0, "{column}");
    }
    gateway.terminate().await;
    let right = config(TOKEN);
    let gateway = right.start().await;
    let text = right.run(&["quarantine", "release", "--all", "--yes"]);
    assert!(text.starts_with("1 released: 1 events"), "{text}");
    database.wait_for(PROCESSED, 1).await;
    assert_eq!(database.count("SELECT count(*) FROM webhook_inbox WHERE headers LIKE '%glpat%'").await, 0);
    drop(gateway);
}

async fn what_no_event_could_be_made_of_is_released_when_the_definition_is_mended(engine: Engine) {
    let definition = |pointer: &str| {
        format!(
            "id = \"homemade\"\nname = \"Homemade\"\nconfidence = \"confirmed\"\n\
             docs = \"https://example.com\"\n[dashboard]\nplace = \"Settings\"\nsecret = \"the key\"\n\
             [[verify]]\nname = \"hmac\"\nalgorithm = \"hmac-sha256\"\ntext = \"{{body}}\"\n\
             signature = {{ from = \"{{header:x-signature}}\", encoding = \"hex\" }}\n\
             [event]\nformat = \"json\"\nid = \"{{json:{pointer}}}\"\n\n"
        )
    };
    let database = Database::new(engine).await.with_effects().await;
    let secret = "0123456789abcdef0123456789abcdef";
    let config = |pointer: &str| {
        GatewayConfig::new(&database.url, "sync").definition("homemade", &definition(pointer)).endpoint(
            "homemade",
            secret,
            "sync",
            NOTE_EFFECT,
            "{}",
        )
    };
    let gateway = config("/id").start().await;
    let body = br#"{"uid":"evt_1"}"#;
    let signature = stripe::mac(secret, body);
    let headers = [("x-signature", signature.as_bytes())];
    let answer = http::post(gateway.ingress, "/homemade", &headers, body.to_vec()).await.expect("an answer");
    assert_eq!(answer.outcome(), "rejected");
    assert_eq!(database.count("SELECT count(*) FROM quarantine WHERE verified").await, 1);
    gateway.terminate().await;
    let right = config("/uid");
    let _gateway = right.start().await;
    let number = database.count("SELECT id FROM quarantine").await.to_string();
    assert_eq!(
        right.run(&["quarantine", "release", "--id", &number]),
        "1 released: 1 events, 0 known before\n"
    );
    database.wait_for(PROCESSED, 1).await;
    assert_eq!(database.count(EFFECTS).await, 1);
    let (code, _, errors) = right.try_run(&["quarantine", "release", &number]);
    assert!(code == 1 && errors.contains("was released at"), "{errors}");
}

async fn a_flood_stays_within_its_bounds_and_genuine_requests_go_on(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let config = GatewayConfig::new(&database.url, "sync")
        .sql_handler("note", NOTE_EFFECT)
        .with("[quarantine]\nmax_rows = 40\nper_minute = 1000");
    let gateway = config.start().await;
    let forged = format!("t={},v1={}", stripe::now(), "00".repeat(32));
    for number in 0..300 {
        let answer = gateway.post(&forged, event(&format!("forged_{number}"))).await.expect("an answer");
        assert_eq!(answer.summary(), (400, "rejected"));
        if number % 50 == 0 {
            let genuine = gateway.deliver(event(&format!("evt_{number}"))).await.expect("an answer");
            assert_eq!(genuine.summary(), (200, "processed"));
        }
    }
    // One network gets a quarter of the rows, and a quarter of a minute's places.
    database.wait_for(KEPT, 10).await;
    let end = gateway.terminate().await;
    assert!(end.status.success(), "{}", end.output);
    assert_eq!(database.count(KEPT).await, 10);
    assert_eq!(database.count(PROCESSED).await, 6);
    assert_eq!(database.count(INBOX).await, 6);
}

async fn a_store_that_cannot_keep_a_rejected_request_changes_no_reply(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let gateway = GatewayConfig::new(&database.url, "sync").sql_handler("note", NOTE_EFFECT).start().await;
    database.execute("DROP TABLE quarantine").await;
    let forged = format!("t={},v1={}", stripe::now(), "00".repeat(32));
    assert_eq!(gateway.post(&forged, event("forged")).await.expect("an answer").summary(), (400, "rejected"));
    gateway.wait_for_lines("quarantine.failed", 1).await;
    assert_eq!(gateway.deliver(event("evt_1")).await.expect("an answer").summary(), (200, "processed"));
    let lost = gateway.metrics().await.sum("hookgate_quarantine_not_kept_total", &[("cause", "store")]);
    assert_eq!(format!("{lost}"), "1");
}

async fn a_second_id_under_the_same_body_is_kept_too(engine: Engine) {
    let database = Database::new(engine).await.with_effects().await;
    let secret = "0123456789abcdef0123456789abcdef";
    let config = GatewayConfig::new(&database.url, "async").with(&format!(
        "[endpoints.hub]\nprovider = \"github\"\npaths = [\"/hub\"]\nsecrets = [\"literal:{secret}\"]\n"
    ));
    let gateway = config.start().await;
    let send = async |id: &str, body: &[u8]| {
        let signature = format!("sha256={}", stripe::mac(secret, body));
        let headers: [(&str, &[u8]); 3] = [
            ("x-hub-signature-256", signature.as_bytes()),
            ("x-github-delivery", id.as_bytes()),
            ("x-github-event", b"push"),
        ];
        http::post(gateway.ingress, "/hub", &headers, body.to_vec())
            .await
            .expect("an answer")
            .outcome()
            .to_owned()
    };
    for id in ["one", "two"] {
        assert_eq!(send(id, br#"{"first":true}"#).await, "accepted");
    }
    for id in ["one", "two", "two"] {
        assert_eq!(send(id, br#"{"first":false}"#).await, "conflict");
    }
    let kept = database.pairs("SELECT event_id, reason FROM quarantine ORDER BY event_id").await;
    assert_eq!(kept, [("one".into(), "conflict".into()), ("two".into(), "conflict".into())]);
    assert_eq!(database.count("SELECT CAST(coalesce(sum(copies), 0) AS bigint) FROM quarantine").await, 3);
}

async fn the_same_body_under_other_ids_and_signatures_is_another_request(engine: Engine) {
    let database = Database::new(engine).await;
    let config = |secret: &str| {
        let hub = "[endpoints.hub]\nprovider = \"github\"\npaths = [\"/hub\"]\n";
        GatewayConfig::new(&database.url, "async").with(&format!("{hub}secrets = [\"literal:{secret}\"]\n"))
    };
    let (old, new) = ("hub-secret-of-yesterday-0123456789", "hub-secret-of-today-0123456789abc");
    let gateway = config(old).start().await;
    let body = br#"{"zen":"the same"}"#;
    let genuine = format!("sha256={}", stripe::mac(new, body));
    let forged = format!("sha256={}", "00".repeat(32));
    let sent =
        [("one", &forged), ("one", &genuine), ("two", &genuine), ("three", &genuine), ("three", &genuine)];
    for (id, signature) in sent {
        let headers: [(&str, &[u8]); 3] = [
            ("x-hub-signature-256", signature.as_bytes()),
            ("x-github-delivery", id.as_bytes()),
            ("x-github-event", b"ping"),
        ];
        let answer = http::post(gateway.ingress, "/hub", &headers, body.to_vec()).await.expect("an answer");
        assert_eq!(answer.outcome(), "rejected");
    }
    database.wait_for("SELECT CAST(coalesce(sum(copies), 0) AS bigint) FROM quarantine", 5).await;
    assert_eq!(database.count(KEPT).await, 4);
    gateway.terminate().await;
    let right = config(new);
    let gateway = right.start().await;
    let (_, said, told) = right.try_run(&["quarantine", "release", "--all", "--yes"]);
    assert!(said.starts_with("3 released: 3 events, 0 known before\n"), "{said}{told}");
    let ids = database.pairs("SELECT event_id, endpoint FROM webhook_inbox ORDER BY event_id").await;
    assert_eq!(ids, ["one", "three", "two"].map(|id| (id.to_owned(), "hub".to_owned())));
    gateway.terminate().await;
}
