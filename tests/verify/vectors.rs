//! The vectors beside the definitions: published by the providers, or made from their schemes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use uuid::Uuid;

use super::support::{at, catalogue, request};
use hookgate::mapping::map;
use hookgate::model::{Outcome, Reply, Request};
use hookgate::provider::Provider;
use hookgate::verify::{self, Decision, Fetched};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    valid: bool,
    /// Why it does not come out as it says yet.
    pending: Option<String>,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    /// The variant that the operator names.
    variant: Option<String>,
    secret: Option<String>,
    public_key: Option<String>,
    /// What these URLs answer, for who does not give the key.
    #[serde(default)]
    fetched: BTreeMap<String, String>,
    method: Option<String>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    body_base64: Option<String>,
    at: Option<i64>,
    reply: Option<Expected>,
    /// The ids of the events that it holds.
    events: Option<Vec<String>>,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "notes")]
    _notes: Option<String>,
}

/// The reply to a handshake, to what is refused, or to an event where the provider wants one of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
}

/// Vectors that the language cannot satisfy yet; the reason of each stands beside it.
const PENDING: [&str; 0] = [];

#[test]
fn every_vector_comes_out_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("providers/vectors");
    let (mut wrong, mut pending, mut count) = (Vec::new(), Vec::new(), 0);
    for file in std::fs::read_dir(folder).expect("a folder").flatten() {
        let id = file.path().file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file.path()).expect("a file");
        let vectors: Vec<Vector> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{id}: {error}"));
        for vector in vectors {
            count += 1;
            let name = format!("{id}, {}", vector.name);
            match (judge(&id, &vector), vector.pending) {
                (Ok(()), None) => {}
                (Err(why), None) => wrong.push(format!("{name}: {why}")),
                (Err(_), Some(reason)) if !reason.is_empty() => pending.push(name),
                (Err(_), Some(_)) => wrong.push(format!("{name}: pending without a reason")),
                (Ok(()), Some(_)) => {
                    wrong.push(format!("{name}: comes out right, but is said to be pending"));
                }
            }
        }
    }
    pending.sort();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(pending, PENDING);
    assert!(count > 200, "only {count} vectors were found");
}

#[test]
fn every_definition_has_vectors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("providers/vectors");
    let without: Vec<&str> =
        catalogue().ids().filter(|id| !folder.join(format!("{id}.json")).exists()).collect();
    // Their scheme is the operator's, so nobody has published anything for them.
    assert_eq!(without, ["generic_hmac", "generic_token"]);
}

fn judge(id: &str, vector: &Vector) -> Result<(), String> {
    let provider = catalogue().get(id).ok_or("no such definition")?;
    let provider = provider
        .configure_variant(&vector.settings, vector.variant.as_deref())
        .map_err(|error| error.to_string())?;
    // With the key that the operator gives, and with the one that is fetched.
    let fetches = vector.public_key.is_some() && !vector.fetched.is_empty();
    for given in [true, false].into_iter().filter(|given| *given || fetches) {
        come_out(&provider, vector, given).map_err(|why| format!("key given: {given}: {why}"))?;
    }
    Ok(())
}

fn come_out(provider: &Arc<Provider>, vector: &Vector, given: bool) -> Result<(), String> {
    let decision = decide(provider, vector, given)?;
    let genuine = !matches!(decision, Decision::Rejected(_) | Decision::Needs(_));
    if genuine != vector.valid {
        return Err(format!("{decision:?}"));
    }
    if let (Some(expected), Decision::Verified(verified)) = (&vector.events, &decision) {
        let events = map(verified, provider, &"billing".into(), &[], Uuid::nil());
        let ids = events.map(|events| events.into_iter().map(|event| event.key.event_id).collect::<Vec<_>>());
        if ids.as_ref().ok() != Some(expected) {
            return Err(format!("the events are {ids:?}"));
        }
    }
    let Some(expected) = &vector.reply else { return Ok(()) };
    let seen = reply(provider, decision);
    let body = String::from_utf8_lossy(&seen.body);
    let has = |(name, value): (&String, &String)| {
        seen.headers.iter().any(|(known, seen)| known.eq_ignore_ascii_case(name) && seen == value)
    };
    let same_body = expected.body.as_ref().is_none_or(|expected| same_text(expected, &body));
    if seen.status != expected.status || !same_body || !expected.headers.iter().all(has) {
        return Err(format!("the reply is {} {body:?} {:?}", seen.status, seen.headers));
    }
    Ok(())
}

/// What the definition says of the reply. The body is the gateway's own JSON where it says nothing.
fn reply(provider: &Provider, decision: Decision) -> Reply {
    let own = |status| Reply { status, headers: Vec::new(), body: Bytes::from_static(b"{}") };
    match decision {
        Decision::Verified(_) => provider.reply(Outcome::Accepted).unwrap_or_else(|| own(200)),
        Decision::Handshake { reply, .. } => reply,
        Decision::Needs(_) => own(503),
        Decision::Rejected(rejection) => {
            let mut reply = own(provider.rejection_status(rejection.reason));
            for (name, value) in provider.rejection_headers() {
                reply.headers.push((name.to_string(), value.to_str().expect("a text").to_owned()));
            }
            if provider.rejects_without_body() {
                reply.body = Bytes::new();
            }
            reply
        }
    }
}

/// Equal, or the same JSON: the order of keys is nobody's concern.
fn same_text(expected: &str, seen: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    expected == seen || json(expected).is_some_and(|value| Some(value) == json(seen))
}

fn decide(provider: &Arc<Provider>, vector: &Vector, given: bool) -> Result<Decision, String> {
    let public = vector.public_key.iter().filter(|_| given);
    let keys: Vec<&str> = vector.secret.iter().chain(public).map(String::as_str).collect();
    let mut fetched = Fetched::nothing();
    for (url, body) in &vector.fetched {
        fetched.insert_url(url.clone(), body.clone().into());
    }
    let secrets = keys.iter().map(|key| (hookgate::model::Secret::new(key.as_bytes()), None));
    let keyring = verify::Keyring::new(provider, secrets).map_err(|error| error.to_string())?;
    let now = at(vector.at.unwrap_or(1_700_000_000));
    Ok(verify::verify(&captured(vector), provider, &keyring, &fetched, now))
}

fn captured(vector: &Vector) -> Request {
    let body = match (&vector.body, &vector.body_base64) {
        (Some(body), _) => body.clone().into_bytes(),
        (None, Some(body)) => STANDARD.decode(body).expect("base64"),
        (None, None) => Vec::new(),
    };
    let headers: Vec<(&str, &str)> = vector.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let mut request = request(&headers, body);
    if let Some(method) = &vector.method {
        request.method.clone_from(method);
    }
    if let Some(url) = &vector.url {
        let url: http::Uri = url.parse().expect("a URL");
        if let (Some(scheme), Some(authority)) = (url.scheme(), url.authority()) {
            request.origin = Some(format!("{scheme}://{authority}"));
        }
        url.path().clone_into(&mut request.path);
        request.query = url.query().map(str::to_owned);
    }
    request
}
