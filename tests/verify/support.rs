//! Requests, providers and keyrings in one line each.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use chrono::DateTime;
use hookgate::clock::Timestamp;
use hookgate::model::{Headers, Reason, Rejection, Request, Secret};
use hookgate::provider::{Catalogue, Provider};
use hookgate::verify::{self, Decision, Fetched, Keyring, Verified};

/// The key of all requests signed here, in Standard Webhooks' form as well.
pub const SECRET: &str = "whsec_aG9va2dhdGUgdGVzdCBzZWNyZXQgb2YgMzIgYnl0ZXM=";
/// When they are signed.
pub const NOW: i64 = 1_800_000_000;

/// The embedded catalogue, loaded once.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| Catalogue::load(&[]).unwrap_or_else(|errors| panic!("{errors:#?}")))
}

pub fn provider(id: &str, settings: &[(&str, &str)]) -> Arc<Provider> {
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    catalogue().get(id).expect("known").configure(&settings).expect("settings fit")
}

const HEAD: &str = r#"id = "acme"
name = "Acme"
confidence = "confirmed"
docs = "https://example.com"
[dashboard]
place = "Settings"
secret = "the secret"
"#;

/// A definition of one's own, `rest` being all that matters in it.
pub fn acme(rest: &str, settings: &[(&str, &str)]) -> Arc<Provider> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("acme.toml"), format!("{HEAD}{rest}")).expect("writes");
    let catalogue =
        Catalogue::load(&[folder.path().to_path_buf()]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    catalogue.get("acme").expect("there").configure(&settings).expect("fits")
}

pub fn at(seconds: i64) -> Timestamp {
    DateTime::from_timestamp(seconds, 0).expect("a time")
}

pub fn keyring(provider: &Provider, secrets: &[&str]) -> Keyring {
    let secrets = secrets.iter().map(|secret| (Secret::new(secret.as_bytes()), None));
    Keyring::new(provider, secrets).expect("secrets fit")
}

pub fn request(headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Request {
    let mut list = Headers::new();
    for (name, value) in headers {
        list.push(name, value.as_bytes());
    }
    Request {
        method: "POST".into(),
        path: "/hooks".into(),
        query: None,
        origin: Some("https://hooks.example.com".into()),
        ..Request::bare(list, Bytes::from(body.into()))
    }
}

/// `request` with what makes it genuine at `now`.
pub fn signed(provider: &Provider, secret: &str, request: &Request, now: Timestamp) -> Request {
    let secret = Secret::new(secret.as_bytes());
    let signed = verify::sign(provider, &secret, request, now).expect("can be signed");
    let mut out = request.clone();
    out.headers = Headers::new();
    for (name, value) in request.headers.iter() {
        if !signed.headers.iter().any(|(set, _)| set == name) {
            out.headers.push(name, value);
        }
    }
    for (name, value) in &signed.headers {
        out.headers.push(name, value.as_bytes());
    }
    out
}

/// `request` with one header replaced by these values.
pub fn with_header(request: &Request, name: &str, values: &[&[u8]]) -> Request {
    let mut out = request.clone();
    out.headers = Headers::new();
    for (known, value) in request.headers.iter().filter(|(known, _)| *known != name) {
        out.headers.push(known, value);
    }
    for value in values {
        out.headers.push(name, *value);
    }
    out
}

pub fn decide(request: &Request, provider: &Provider, now: i64) -> Decision {
    verify::verify(request, provider, &keyring(provider, &[SECRET]), &Fetched::nothing(), at(now))
}

#[track_caller]
pub fn proof(decision: Decision) -> Verified {
    match decision {
        Decision::Verified(verified) => verified,
        other => panic!("not verified: {other:?}"),
    }
}

#[track_caller]
pub fn refusal(decision: Decision) -> Rejection {
    match decision {
        Decision::Rejected(rejection) => rejection,
        other => panic!("not rejected: {other:?}"),
    }
}

#[track_caller]
pub fn reason(decision: Decision) -> Reason {
    refusal(decision).reason
}

/// A Stripe event as bytes.
pub const EVENT: &str = r#"{"id":"evt_1","type":"invoice.paid","created":1800000000,"livemode":false,"pending_webhooks":1,"data":{"object":{"id":"in_1"}}}"#;

/// A Stripe request signed at `when`.
pub fn stripe(body: impl Into<Vec<u8>>, when: i64) -> Request {
    signed(
        &provider("stripe", &[]),
        SECRET,
        &request(&[("content-type", "application/json")], body),
        at(when),
    )
}
