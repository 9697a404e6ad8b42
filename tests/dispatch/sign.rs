//! Signatures of deliveries. That the official packages accept them is shown in `end_to_end`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hookgate::dispatch::{SigningKey, signature};
use hookgate::model::Secret;
use ring::hmac;

use super::fixture::{Server, forward, payload, send, signed, status};

const FIRST: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const SECOND: &str = "whsec_GBkaGxwdHh8gISIjJCUmJygpKissLS4v";

/// The same signature by another library.
fn expected(key: &[u8], id: &str, timestamp: &str, body: &[u8]) -> String {
    let content = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat();
    format!("v1,{}", STANDARD.encode(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), &content)))
}

fn key(secret: &str) -> SigningKey {
    SigningKey::parse(&Secret::new(secret.as_bytes())).expect("a key")
}

#[test]
fn the_specifications_own_example_comes_out() {
    // https://github.com/standard-webhooks/standard-webhooks, test vectors of the reference libraries
    let made = signature(
        &[key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        br#"{"test": 2432232314}"#,
    );
    assert_eq!(made.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
}

#[tokio::test]
async fn a_delivery_is_signed_over_its_id_its_time_and_its_exact_bytes() {
    let server = Server::start(status(200, "")).await;
    let body = b"{ \"amount\": 1.0 }\n\xff";
    send(&signed(&server.url(), &[FIRST]), &forward(&body[..], &[])).await;
    let request = &server.requests()[0];
    let key: Vec<u8> = (0..24).collect();
    let made = expected(&key, "msg_2b1c", request.header("webhook-timestamp").unwrap(), body);
    assert_eq!(request.header("webhook-signature"), Some(made.as_str()));
}

#[tokio::test]
async fn while_a_secret_is_rotated_a_delivery_carries_one_signature_for_each() {
    let server = Server::start(status(200, "")).await;
    send(&signed(&server.url(), &[SECOND, FIRST]), &payload("{}")).await;
    let request = &server.requests()[0];
    let timestamp = request.header("webhook-timestamp").unwrap();
    let (first, second): (Vec<u8>, Vec<u8>) = ((0..24).collect(), (24..48).collect());
    let both =
        [expected(&second, "msg_2b1c", timestamp, b"{}"), expected(&first, "msg_2b1c", timestamp, b"{}")];
    assert_eq!(request.header("webhook-signature"), Some(both.join(" ").as_str()));
}

#[tokio::test]
async fn without_a_secret_there_is_no_signature() {
    let server = Server::start(status(200, "")).await;
    send(&signed(&server.url(), &[]), &payload("{}")).await;
    assert_eq!(server.requests()[0].header("webhook-signature"), None);
}

#[test]
fn a_secret_is_base64_with_or_without_its_prefix_and_its_own_bytes_otherwise() {
    let bytes: Vec<u8> = (0..24).collect();
    for (secret, bytes) in [
        (FIRST, bytes.as_slice()),
        (&FIRST[6..], bytes.as_slice()),
        ("whsec_AAE=", &[0, 1]),
        ("whsec_AAE", &[0, 1]),
        ("AB==", &[0]),
        ("a secret of my own!", b"a secret of my own!"),
        ("abc", b"abc"),
    ] {
        let made = signature(&[key(secret)], "msg_1", 1, b"body");
        assert_eq!(made, Some(expected(bytes, "msg_1", "1", b"body")), "{secret}");
    }
}

#[test]
fn a_key_is_not_printed() {
    assert_eq!(format!("{:?}", key(FIRST)), "SigningKey(…)");
}
