//! What must be fetched before a request can be judged, and what the answer means.

use super::fetched::{Answer, Fetched, KeyRequest, OAuth};
use super::keyring::LiveKey;
use crate::clock::Timestamp;
use crate::model::{Reason, Rejection, Secret};
use crate::provider::{Astray, Fetch, Key, Scope, Variant, certificates};

/// Why a request cannot be judged as genuine, or not yet.
pub(super) enum Stop {
    /// It is not.
    Rejected(Rejection),
    /// This is needed first.
    Needs(Box<KeyRequest>),
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

fn reject<T>(reason: Reason, detail: String) -> Result<T, Stop> {
    Err(Stop::Rejected(Rejection::new(reason, detail)))
}

/// Keys that were fetched.
pub(super) struct FetchedKeys<'a> {
    pub(super) keys: Vec<LiveKey>,
    /// The answer they stand in.
    pub(super) body: &'a [u8],
    /// What to ask for if none of them made the signature and a newer answer may have the one that did.
    pub(super) renewal: Option<KeyRequest>,
}

/// Refuses a request that names a place where its provider has no keys, also where nothing will be fetched.
pub(super) fn judge(fetch: &Fetch, scope: &Scope<'_>) -> Result<(), Stop> {
    match fetch.target.url(scope) {
        Err(Astray::Refused(why)) => reject(Reason::UnknownKey, format!("the key's URL: {why}")),
        _ => Ok(()),
    }
}

/// The keys for one request. `scope` has the parts and the token of its signature.
pub(super) fn keys<'a>(
    variant: &Variant,
    fetch: &Fetch,
    scope: &Scope<'a>,
    fetched: &'a Fetched,
    now: Timestamp,
) -> Result<FetchedKeys<'a>, Stop> {
    let request = request(fetch, scope)?;
    let (status, body, fresh) = match fetched.get(&request) {
        None => return Err(Stop::Needs(request.into())),
        Some(Answer::Failed(why)) => {
            return reject(Reason::KeyUnavailable, format!("{} could not be fetched: {why}", request.url));
        }
        Some(Answer::Reply { status, body, fresh }) => (*status, body, *fresh),
    };
    if !(200..300).contains(&status) {
        let detail = format!("the provider has no such key: {} answers {status}", request.url);
        return reject(Reason::UnknownKey, detail);
    }
    let mut inner = scope.beside();
    inner.fetched = Some(body);
    if !fetch.require.iter().all(|condition| condition.holds(&inner)) {
        return reject(Reason::UnknownKey, format!("what {} answers is no key that counts", request.url));
    }
    let renewal = (!fresh).then(|| KeyRequest { renew: true, ..request.clone() });
    let keys = match &fetch.chain {
        Some(chain) => certified(chain, body, now, &request)?,
        None => read(variant, fetch, &inner, &request)?,
    };
    let keys = named(fetch, &inner, keys, renewal.as_ref())?;
    let keys = keys.into_iter().map(LiveKey::fetched).collect();
    // Where the request names its key, a newer set has no other one of that name.
    Ok(FetchedKeys { keys, body, renewal: renewal.filter(|_| fetch.id.is_none()) })
}

fn certified(
    chain: &crate::provider::Chain,
    body: &[u8],
    now: Timestamp,
    request: &KeyRequest,
) -> Result<Vec<Key>, Stop> {
    let Some(certificates) = certificates(body) else {
        return reject(Reason::KeyUnavailable, format!("what {} answers is no certificate", request.url));
    };
    match chain.key(&certificates, now) {
        Ok(key) => Ok(vec![Key::Public(key)]),
        Err(why) => reject(Reason::UnknownKey, format!("the certificate that was fetched {why}")),
    }
}

fn read(variant: &Variant, fetch: &Fetch, scope: &Scope<'_>, request: &KeyRequest) -> Result<Vec<Key>, Stop> {
    let (mut keys, mut problem) = (Vec::new(), String::from("nothing"));
    for template in &fetch.keys {
        match variant.keys_by(template, scope) {
            Ok(made) => keys.extend(made),
            Err(why) => problem = why,
        }
    }
    if keys.is_empty() {
        return reject(Reason::KeyUnavailable, format!("what {} answers: {problem}", request.url));
    }
    Ok(keys)
}

/// Of a set the key that the request names. Keys without a name are all there is at their URL.
fn named(
    fetch: &Fetch,
    scope: &Scope<'_>,
    keys: Vec<Key>,
    renewal: Option<&KeyRequest>,
) -> Result<Vec<Key>, Stop> {
    let Some(template) = &fetch.id else { return Ok(keys) };
    let id = match template.text(scope) {
        Ok(id) => id,
        Err(trouble) => return reject(Reason::UnknownKey, trouble.to_string()),
    };
    let name = |key: &Key| match key {
        Key::Public(key) => key.id().map(str::to_owned),
        _ => None,
    };
    if keys.iter().all(|key| name(key).is_none()) {
        return Ok(keys);
    }
    let named: Vec<Key> = keys.into_iter().filter(|key| name(key).as_deref() == Some(&*id)).collect();
    match renewal {
        _ if !named.is_empty() => Ok(named),
        Some(renewal) => Err(Stop::Needs(renewal.clone().into())),
        None => reject(Reason::UnknownKey, "the provider publishes no key of the name that is given".into()),
    }
}

/// Asks the provider whether a request is true, with each live secret until one is let in. The position of that one,
/// and what the provider says.
pub(super) fn ask<'a>(
    fetch: &Fetch,
    scope: &Scope<'a>,
    secrets: &[&'a LiveKey],
    fetched: &'a Fetched,
) -> Result<(Option<usize>, &'a [u8]), Stop> {
    let uses_secret = fetch.uses_secret();
    let tries: Vec<Option<&LiveKey>> =
        if uses_secret { secrets.iter().copied().map(Some).collect() } else { vec![None] };
    for key in tries {
        let mut inner = scope.beside();
        inner.secret = key.and_then(LiveKey::shared).map(Secret::expose);
        let request = request(fetch, &inner)?;
        let (status, body) = match fetched.get(&request) {
            None => return Err(Stop::Needs(request.into())),
            Some(Answer::Failed(why)) => {
                return reject(Reason::KeyUnavailable, format!("{} could not be asked: {why}", request.url));
            }
            Some(Answer::Reply { status, body, .. }) => (*status, body),
        };
        match status {
            200..=299 => {}
            401 | 403 if uses_secret => continue,
            404 | 410 => {
                return reject(
                    Reason::SignatureMismatch,
                    "the provider does not know what it is about".into(),
                );
            }
            _ => return reject(Reason::KeyUnavailable, format!("{} answers {status}", request.url)),
        }
        inner.fetched = Some(body);
        if !fetch.require.iter().all(|condition| condition.holds(&inner)) {
            return reject(Reason::SignatureMismatch, "the provider says something else about it".into());
        }
        return Ok((key.map(|key| key.position), body));
    }
    reject(Reason::KeyUnavailable, "the provider lets none of the live secrets in".into())
}

fn request(fetch: &Fetch, scope: &Scope<'_>) -> Result<KeyRequest, Stop> {
    let missing = |trouble: &dyn std::fmt::Display| {
        Stop::Rejected(Rejection::new(Reason::MissingSignature, format!("what names the key: {trouble}")))
    };
    let url = match fetch.target.url(scope) {
        Ok(url) => url,
        Err(Astray::Refused(why)) => return reject(Reason::UnknownKey, format!("the key's URL: {why}")),
        Err(Astray::Trouble(trouble)) => return Err(missing(&trouble)),
    };
    let mut headers = Vec::new();
    for (name, value) in &fetch.headers {
        headers.push((name.clone(), value.text(scope).map_err(|trouble| missing(&trouble))?));
    }
    let mut body = bytes::Bytes::new();
    if let Some(fields) = &fetch.json {
        let mut object = serde_json::Map::new();
        for (name, value) in fields {
            object.insert(name.clone(), value.text(scope).map_err(|trouble| missing(&trouble))?.into());
        }
        body = serde_json::Value::Object(object).to_string().into();
        headers.push(("content-type".into(), "application/json".into()));
    }
    Ok(KeyRequest {
        method: fetch.method.clone(),
        headers,
        body,
        cache: fetch.cache,
        allow_private: fetch.target.allow_private,
        oauth: fetch.oauth.as_ref().map(|oauth| OAuth {
            url: oauth.url.clone(),
            client_id: oauth.client_id.clone(),
            client_secret: Secret::new(oauth.client_secret.as_bytes()),
            scope: oauth.scope.clone(),
        }),
        ..KeyRequest::get(url)
    })
}
