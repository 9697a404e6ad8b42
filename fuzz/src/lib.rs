//! What the targets share: providers as endpoints use them, and requests made of arbitrary bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use arbitrary::Arbitrary;
use hookgate::clock::Timestamp;
use hookgate::mapping;
use hookgate::model::{Headers, Request, Secret};
use hookgate::provider::{Catalogue, Provider};
use hookgate::verify::{self, Decision, Fetched, Keyring};

/// Secrets of every form that a definition may ask for.
const SECRETS: [&str; 4] = [
    "whsec_aG9va2dhdGUgdGVzdCBzZWNyZXQgb2YgMzIgYnl0ZXM=",
    "aG9va2dhdGUgdGVzdCBzZWNyZXQgb2YgMzIgYnl0ZXM=",
    "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==",
];

/// When every request is judged.
///
/// # Panics
/// Never: the moment is a constant.
#[must_use]
pub fn now() -> Timestamp {
    chrono::DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

/// A provider with a secret that fits it.
pub struct Candidate {
    /// The definition with examples as settings.
    pub provider: Arc<Provider>,
    /// The secret.
    pub secret: Secret,
    /// The secret, decoded.
    pub keyring: Keyring,
}

/// The definition as an endpoint would use it, if one of our secrets has its form.
#[must_use]
pub fn candidate(provider: &Provider) -> Option<Candidate> {
    let required = provider.settings().iter().filter(|setting| setting.default.is_none());
    let settings: BTreeMap<String, String> = required
        .map(|setting| (setting.name.clone(), setting.example.clone().unwrap_or_else(|| "example".into())))
        .collect();
    let provider = provider.configure(&settings).ok()?;
    SECRETS.iter().find_map(|text| {
        let keyring = Keyring::new(&provider, [(Secret::new(*text), None)]).ok()?;
        Some(Candidate { provider: Arc::clone(&provider), secret: Secret::new(*text), keyring })
    })
}

/// Every definition of the catalogue.
///
/// # Panics
/// If the catalogue is broken.
pub fn candidates() -> &'static [Candidate] {
    static ALL: OnceLock<Vec<Candidate>> = OnceLock::new();
    ALL.get_or_init(|| Catalogue::load(&[]).expect("loads").iter().filter_map(|p| candidate(p)).collect())
}

/// A request of arbitrary bytes.
#[derive(Arbitrary, Debug)]
pub struct Wild<'a> {
    get: bool,
    query: Option<&'a str>,
    headers: Vec<(Name<'a>, &'a [u8])>,
    content_type: Option<u8>,
    body: &'a [u8],
}

#[derive(Arbitrary, Debug)]
enum Name<'a> {
    /// One that the provider reads.
    Known(u8),
    Any(&'a str),
}

impl Wild<'_> {
    /// The request as this provider's endpoint would get it.
    #[must_use]
    pub fn request(&self, provider: &Provider) -> Request {
        const TYPES: [&str; 5] = [
            "application/json",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=b",
            "text/xml",
            "text/plain",
        ];
        let known = provider.signature_headers();
        let mut headers = Headers::new();
        if let Some(index) = self.content_type {
            headers.push("content-type", TYPES[usize::from(index) % TYPES.len()]);
        }
        for (name, value) in &self.headers {
            match name {
                Name::Known(index) if !known.is_empty() => {
                    headers.push(&known[usize::from(*index) % known.len()], *value);
                }
                Name::Known(_) => {}
                Name::Any(name) => headers.push(name, *value),
            }
        }
        Request {
            method: if self.get { "GET" } else { "POST" }.into(),
            path: "/hooks".into(),
            query: self.query.map(str::to_owned),
            origin: Some("https://hooks.example.com".into()),
            ..Request::bare(headers, self.body.to_vec().into())
        }
    }
}

/// Judges a request and maps it, if it is genuine.
pub fn judge(request: &Request, candidate: &Candidate) {
    let Candidate { provider, keyring, .. } = candidate;
    if let Decision::Verified(verified) =
        verify::verify(request, provider, keyring, &Fetched::default(), now())
    {
        let _ = mapping::map(&verified, provider, &"fuzz".into(), &[], uuid::Uuid::nil());
    }
}

/// The same request, genuine, where it can be signed.
#[must_use]
pub fn signed(mut request: Request, candidate: &Candidate) -> Option<Request> {
    let signed = verify::sign(&candidate.provider, &candidate.secret, &request, now()).ok()?;
    for (name, value) in &signed.headers {
        request.headers.push(name, value.as_bytes());
    }
    if let Some((_, query)) = signed.path_and_query.as_deref().and_then(|it| it.split_once('?')) {
        request.query = Some(query.to_owned());
    }
    request.body = signed.body.unwrap_or(request.body);
    Some(request)
}
