//! One package and what it can do, as its runner tells it, and the requests it is tried with.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use hookgate::clock::{Clock as _, SystemClock};
use hookgate::model::{Headers, Request, Secret};
use hookgate::provider::{Catalogue, Provider, SampleIds};
use hookgate::verify;
use serde_json::{Value, json};

use super::ORIGIN;
use crate::support::interop::Sdk;

/// What a letter that is not ASCII, in the body, would break.
const FOREIGN: &str = r#""interop":"Zoë 💶","#;

/// One entry of a runner's table.
pub struct Case {
    pub sdk: &'static Sdk,
    /// `language/name`.
    pub id: String,
    pub name: String,
    pub package: String,
    pub version: String,
    pub calls: String,
    pub signs: bool,
    pub verifies: bool,
    pub provider: Arc<Provider>,
    /// Why the package cannot be asked.
    pub error: Option<String>,
    /// Whether the runner can sign.
    pub makes: bool,
    facts: Value,
}

impl Case {
    /// All entries of both runners.
    pub fn all() -> Vec<Self> {
        let catalogue = Catalogue::load(&[]).expect("the embedded definitions load");
        let cases =
            Sdk::all().into_iter().flat_map(|sdk| sdk.cases().into_iter().map(move |case| (sdk, case)));
        cases.map(|(sdk, facts)| Self::new(sdk, facts, &catalogue)).collect()
    }

    fn new(sdk: &'static Sdk, facts: Value, catalogue: &Catalogue) -> Self {
        let text =
            |key: &str| facts[key].as_str().unwrap_or_else(|| panic!("{facts} has `{key}`")).to_owned();
        let provider = catalogue.get(&text("provider")).unwrap_or_else(|| panic!("no provider of {facts}"));
        let language = if sdk.language == "Python" { "python" } else { "node" };
        Self {
            sdk,
            id: format!("{language}/{}", text("name")),
            name: text("name"),
            package: text("package"),
            version: facts["version"].as_str().unwrap_or_default().to_owned(),
            calls: text("calls"),
            signs: facts["signs"] == true,
            verifies: facts["verifies"] == true,
            error: facts["error"].as_str().map(str::to_owned),
            makes: facts["makes"] == true,
            provider: provider.configure(&settings(&facts)).unwrap_or_else(|e| panic!("{facts}: {e}")),
            facts,
        }
    }

    fn secret(&self) -> &str {
        self.facts["secret"].as_str().expect("every case has a secret")
    }

    /// The name of its endpoint.
    pub fn endpoint_name(&self) -> String {
        self.id.replace('/', "-")
    }

    fn path(&self) -> String {
        format!("/interop/{}", self.id)
    }

    /// Its endpoint, in TOML.
    pub fn endpoint(&self) -> String {
        let mut toml = format!(
            "\n[endpoints.{}]\nprovider = \"{}\"\npaths = [{:?}]\nsecrets = [{:?}]\n",
            self.endpoint_name(),
            self.provider.id(),
            self.path(),
            format!("literal:{}", self.secret()),
        );
        let settings: Vec<String> =
            settings(&self.facts).iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
        if !settings.is_empty() {
            let _ = writeln!(toml, "settings = {{ {} }}", settings.join(", "));
        }
        toml
    }

    /// A sample event as `hookgate sign` signs it, with the provider's private key where there is a pair.
    pub fn signed_by_us(&self, mark: &str) -> Result<Exchange, String> {
        let exchange = self.unsigned(mark);
        let secret = Secret::new(self.facts["private_key"].as_str().unwrap_or(self.secret()));
        let signed = verify::sign(&self.provider, &secret, &exchange.request(), SystemClock.now())?;
        let headers: serde_json::Map<String, Value> =
            signed.headers.into_iter().map(|(name, value)| (name, value.into())).collect();
        let mut exchange = exchange.with(&json!({ "headers": headers }));
        if let Some(target) = signed.path_and_query {
            exchange.target = target;
        }
        if let Some(body) = signed.body {
            exchange.body = body;
        }
        Ok(exchange)
    }

    /// A sample event as the package signs it.
    pub fn signed_by_them(&self, mark: &str) -> Result<Exchange, String> {
        let exchange = self.unsigned(mark);
        let answer = self.sdk.sign(&self.name, &exchange.question(self), &exchange.body)?;
        Ok(exchange.with(&answer))
    }

    /// A sample event as the runner signs it, without the package and without us.
    pub fn signed_by_the_runner(&self, mark: &str) -> Result<Exchange, String> {
        let exchange = self.unsigned(mark);
        let answer = self.sdk.make(&self.name, &exchange.question(self), &exchange.body)?;
        Ok(exchange.with(&answer))
    }

    fn unsigned(&self, mark: &str) -> Exchange {
        let wanted = self.facts["sample"].as_str();
        let mut samples = self.provider.samples().iter();
        let sample = samples.find(|sample| wanted.is_none_or(|wanted| sample.event_type == wanted));
        let sample = sample.unwrap_or_else(|| panic!("{}: no sample {wanted:?}", self.id));
        let ids = SampleIds { event: hex::encode(&mark.as_bytes()[..4]), object: "0a1b2c3d4e5f".to_owned() };
        let (mut headers, mut body) = sample.render(&ids, SystemClock.now());
        if self.facts["plain"].is_null() {
            let text = String::from_utf8_lossy(&body).into_owned();
            if text.starts_with(['{', '[']) {
                body = text.replacen('{', &format!("{{{FOREIGN}"), 1).into();
            }
        }
        for (name, value) in pairs(&self.facts["headers"]) {
            set(&mut headers, &name, Some(&value));
        }
        let query = self.facts["query"].as_str().unwrap_or_default();
        Exchange { target: format!("{}{query}", self.path()), headers, body }
    }
}

/// A request on its way.
#[derive(Clone)]
pub struct Exchange {
    /// Path and query.
    pub target: String,
    pub headers: Headers,
    pub body: Bytes,
}

impl Exchange {
    /// What a runner is told of it.
    pub fn question(&self, case: &Case) -> Value {
        let headers = self.headers.iter();
        let headers: serde_json::Map<String, Value> =
            headers.map(|(name, value)| (name.to_owned(), String::from_utf8_lossy(value).into())).collect();
        json!({ "secret": case.secret(), "method": "POST", "url": format!("{ORIGIN}{}", self.target),
            "headers": headers, "now": SystemClock.now().timestamp() })
    }

    fn request(&self) -> Request {
        let (path, query) = match self.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (self.target.as_str(), None),
        };
        Request {
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: query.map(str::to_owned),
            origin: Some(ORIGIN.to_owned()),
            ..Request::bare(self.headers.clone(), self.body.clone())
        }
    }

    /// With the headers and the body of a runner's answer.
    fn with(mut self, answer: &Value) -> Self {
        use base64::Engine as _;
        for (name, value) in answer["headers"].as_object().into_iter().flatten() {
            set(&mut self.headers, name, value.as_str());
        }
        if let Some(body) = answer["body"].as_str() {
            self.body = base64::engine::general_purpose::STANDARD.decode(body).expect("base64").into();
        }
        self
    }

    /// With one byte that differs: in a text of the body, or where the case says what is signed.
    pub fn tampered(&self, case: &Case) -> Self {
        let mut forged = self.clone();
        match &case.facts["tamper"] {
            Value::Null => {
                let mut body = self.body.to_vec();
                let at = last_of_a_text(&body).unwrap_or_else(|| panic!("{}: nothing to change", case.id));
                body[at] = other(body[at]);
                forged.body = body.into();
            }
            Value::String(place) => {
                let name = place.strip_prefix("header:").expect("tamper names a header or gives two texts");
                let mut value = self.headers.first(name).expect("the header is there").to_vec();
                let at = value.len() / 2;
                value[at] = other(value[at]);
                forged.headers.replace(name, &value);
            }
            texts => {
                let text = String::from_utf8(self.body.to_vec()).expect("UTF-8");
                let [from, to] = [0, 1].map(|at| texts[at].as_str().expect("two texts"));
                assert!(text.contains(from), "{}: {from} is in {text}", case.id);
                forged.body = text.replacen(from, to, 1).into();
            }
        }
        forged
    }
}

/// The last letter or digit of the last JSON text, so that what parses the body still can; else the last byte.
fn last_of_a_text(body: &[u8]) -> Option<usize> {
    let closing = body.windows(2).rposition(|pair| pair[0].is_ascii_alphanumeric() && pair[1] == b'"');
    closing.or_else(|| body.iter().rposition(u8::is_ascii_alphanumeric))
}

fn other(byte: u8) -> u8 {
    if byte == b'7' { b'8' } else { b'7' }
}

/// Puts a header in place of those of the same name, or takes them away.
fn set(headers: &mut Headers, name: &str, value: Option<&str>) {
    let mut all = Headers::new();
    for (known, value) in headers.iter().filter(|(known, _)| *known != name) {
        all.push(known, value);
    }
    if let Some(value) = value {
        all.push(name, value.as_bytes());
    }
    *headers = all;
}

fn settings(facts: &Value) -> BTreeMap<String, String> {
    pairs(&facts["settings"]).collect()
}

fn pairs(object: &Value) -> impl Iterator<Item = (String, String)> {
    let entries = object.as_object().into_iter().flatten();
    entries.map(|(name, value)| (name.clone(), value.as_str().expect("a text").to_owned()))
}
