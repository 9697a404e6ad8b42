//! The vectors beside the definitions: published by the providers, or made from their schemes.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::support::{at, catalogue, keyring, request};
use hookgate::verify::{self, Decision};

#[derive(Deserialize)]
struct Vector {
    name: String,
    valid: bool,
    secret: Option<String>,
    public_key: Option<String>,
    method: Option<String>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    body_base64: Option<String>,
    at: Option<i64>,
}

#[test]
fn every_vector_comes_out_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("providers/vectors");
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("a folder").flatten() {
        let id = file.path().file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file.path()).expect("a file");
        let vectors: Vec<Vector> = serde_json::from_str(&text).expect("vectors");
        for vector in vectors {
            count += 1;
            let decision = run(&id, &vector);
            let genuine =
                matches!(decision, Decision::Verified(_) | Decision::Handshake { verified: true, .. });
            if genuine != vector.valid {
                wrong.push(format!("{id}, {}: {decision:?}", vector.name));
            }
        }
    }
    assert!(count >= 12, "only {count} vectors were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn run(id: &str, vector: &Vector) -> Decision {
    let provider = catalogue().get(id).unwrap_or_else(|| panic!("no definition {id}"));
    let provider = provider.configure(&BTreeMap::new()).expect("no settings");
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
        url.path().clone_into(&mut request.path);
        request.query = url.query().map(str::to_owned);
    }
    let keys: Vec<&str> = vector.secret.iter().chain(&vector.public_key).map(String::as_str).collect();
    verify::verify(&request, &provider, &keyring(&provider, &keys), at(vector.at.unwrap_or(1_700_000_000)))
}
