//! Providers' challenges over the real listener: the exact status, headers and body that each of them expects.

use std::collections::BTreeMap;
use std::path::Path;

use hookgate::app::Builder;
use hookgate::config::{self, Sources};
use hookgate::handler::Registry;
use hookgate::provider::Catalogue;
use http::Method;
use serde::Deserialize;

use crate::support::http::request;

/// Stands in where a challenge needs no secret: none is checked in it.
const UNUSED: &str = "a secret that no challenge needs";

/// What a challenge needs of a vector of `providers/vectors`.
#[derive(Deserialize)]
struct Vector {
    name: String,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    secret: Option<String>,
    method: Option<String>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    at: Option<i64>,
    reply: Option<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
}

/// All vectors with a reply, but those whose signed time is long past or whose secret is too short for a gateway.
fn challenges() -> Vec<(String, Vector)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("providers/vectors");
    let mut out = Vec::new();
    for file in std::fs::read_dir(folder).expect("a folder").flatten() {
        let provider = file.path().file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file.path()).expect("a file");
        let vectors: Vec<Vector> = serde_json::from_str(&text).expect("vectors");
        let usable = |secret: &String| secret.len() >= 16;
        let vectors = vectors.into_iter().filter(|vector| {
            vector.reply.is_some() && vector.at.is_none() && vector.secret.as_ref().is_none_or(usable)
        });
        out.extend(vectors.map(|vector| (provider.clone(), vector)));
    }
    out
}

/// Its own path, or the one that its provider prescribes.
fn path(at: usize, vector: &Vector) -> String {
    let url: Option<http::Uri> = vector.url.as_deref().and_then(|url| url.parse().ok());
    let prescribed = url.map(|url| url.path().to_owned()).filter(|path| path.starts_with("/.well-known/"));
    prescribed.unwrap_or_else(|| format!("/{at}"))
}

/// One endpoint for each challenge.
fn toml(challenges: &[(String, Vector)], folder: &Path) -> String {
    let catalogue = Catalogue::load(&[]).expect("loads");
    let database = folder.join("hookgate.db");
    let mut out = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n[database]\nurl = \"sqlite://{}\"\n",
        database.display()
    );
    for (at, (id, vector)) in challenges.iter().enumerate() {
        let provider = catalogue.get(id).expect("known");
        let secret = match vector.secret.as_deref() {
            Some(secret) => format!("{:?}", format!("literal:{secret}")),
            // A made-up secret is no public key.
            None if !provider.needs_secret() && !provider.learns() => String::new(),
            None => format!("{:?}", format!("literal:{UNUSED}")),
        };
        let settings = vector.settings.iter().map(|(name, value)| {
            let hidden = provider.settings().iter().any(|setting| setting.name == *name && setting.secret);
            format!("{name} = {:?}", if hidden { format!("literal:{value}") } else { value.clone() })
        });
        let settings = settings.collect::<Vec<_>>().join(", ");
        let endpoint = format!(
            "[endpoints.e{at}]\nprovider = {id:?}\npaths = [{:?}]\nsecrets = [{secret}]\nsettings = {{ {settings} }}\n",
            path(at, vector)
        );
        out.push_str(&endpoint);
    }
    out
}

#[tokio::test]
async fn every_challenge_is_answered_as_its_provider_expects() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hookgate.toml");
    let challenges = challenges();
    std::fs::write(&file, toml(&challenges, folder.path())).expect("writes");
    let sources = Sources { files: vec![file], ..Sources::default() };
    let config = config::load(&sources).expect("a valid configuration").config;
    let app = Builder::new(config, Registry::new()).start().await.expect("a gateway");
    let mut wrong = Vec::new();
    for (at, (id, vector)) in challenges.iter().enumerate() {
        let expected = vector.reply.as_ref().expect("chosen by it");
        let query =
            vector.url.as_deref().and_then(|url| url.split_once('?')).map(|(_, query)| format!("?{query}"));
        let method: Method = vector.method.as_deref().unwrap_or("POST").parse().expect("a method");
        let headers: Vec<(&str, &[u8])> =
            vector.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let path = format!("{}{}", path(at, vector), query.unwrap_or_default());
        let body = vector.body.clone().unwrap_or_default();
        let answer = request(method, app.ingress(), &path, &headers, body).await.expect("an answer");
        let text = answer.text();
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        let same =
            |expected: &String| *expected == text || json(expected).is_some_and(|it| Some(it) == json(&text));
        let headers = expected.headers.iter().all(|(name, value)| {
            answer
                .headers
                .get(name.to_ascii_lowercase())
                .is_some_and(|seen| seen.as_bytes() == value.as_bytes())
        });
        if answer.status != expected.status || !headers || !expected.body.as_ref().is_none_or(same) {
            wrong.push(format!("{id}, {}: {} {text:?} {:?}", vector.name, answer.status, answer.headers));
        }
    }
    app.drain().await;
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(challenges.len() >= 12, "only {} were found", challenges.len());
}
