//! Tokens (JWS): the algorithm they name against those that are allowed, each only with a key of its own kind, and the
//! times they say themselves.

use std::sync::Arc;

use serde_json::{Map, Value};
use subtle::ConstantTimeEq as _;

use super::keyring::LiveKey;
use super::moment;
use super::pen::Pen;
use super::place::Group;
use crate::clock::Timestamp;
use crate::model::{Reason, Rejection};
use crate::provider::{
    Chain, JwsAlgorithm, Key, Provider, PublicKey, SampleIds, Scope, Template, Token, TokenRules, Unit,
    Variant, fill, signing_input, with_signature,
};

/// A token whose signature is right.
pub(super) struct Found {
    pub(super) token: Arc<Token>,
    pub(super) position: Option<usize>,
}

/// The tokens of a group whose signature is right.
///
/// # Errors
/// A token that is none, that names an algorithm which is not allowed, or whose certificates are not believed.
pub(super) fn fits(
    variant: &Variant,
    rules: &TokenRules,
    group: &Group,
    keys: &[&LiveKey],
    now: Timestamp,
) -> Result<Vec<Found>, Rejection> {
    let malformed = |why: String| Rejection::new(Reason::MalformedSignature, format!("the signature {why}"));
    let mut found = Vec::new();
    for text in &group.signatures {
        let text = std::str::from_utf8(text).map_err(|_| malformed("is not UTF-8".into()))?;
        let token = Arc::new(Token::parse(text).map_err(malformed)?);
        let algorithm = token.algorithm(&rules.allow).map_err(malformed)?;
        let mut add = |position| found.push(Found { token: Arc::clone(&token), position });
        if let Some(chain) = &variant.chain {
            let (key, position) = certified(chain, &token, keys, now)?;
            if is_right(algorithm, &Key::Public(key), &token) {
                add(position);
            }
            continue;
        }
        let named = named(keys, &token);
        // All are tried: how long it takes does not tell which one fits.
        for key in named.iter().filter(|key| is_right(algorithm, &key.key, &token)) {
            add(Some(key.position));
        }
    }
    Ok(found)
}

/// Whether `key` made the token's signature. A key of another kind than the algorithm's made nothing.
fn is_right(algorithm: JwsAlgorithm, key: &Key, token: &Token) -> bool {
    match (algorithm, key) {
        (JwsAlgorithm::Shared(hash), Key::Shared(secret)) => {
            let expected = hash.hmac(secret.expose(), &[token.signed()]);
            token.signature().ct_eq(&expected).into()
        }
        (JwsAlgorithm::Public(scheme), Key::Public(key)) => {
            scheme.verifies(key, token.signed(), token.signature())
        }
        _ => false,
    }
}

/// The keys of the name that the token says, or all where none has it.
fn named<'a>(keys: &[&'a LiveKey], token: &Token) -> Vec<&'a LiveKey> {
    let Some(id) = token.key_id() else { return keys.to_vec() };
    let has = |key: &&&LiveKey| matches!(&key.key, Key::Public(key) if key.id() == Some(&*id));
    let named: Vec<&LiveKey> = keys.iter().filter(has).copied().collect();
    if named.is_empty() { keys.to_vec() } else { named }
}

/// The key in the token's certificates, and the position of the operator's root that they end in.
fn certified(
    chain: &Chain,
    token: &Token,
    keys: &[&LiveKey],
    now: Timestamp,
) -> Result<(PublicKey, Option<usize>), Rejection> {
    let malformed = |why| Rejection::new(Reason::MalformedSignature, format!("the signature {why}"));
    let unknown =
        |why: String| Rejection::new(Reason::UnknownKey, format!("the certificate in the token {why}"));
    let certificates = token.certificates().map_err(malformed)?;
    let mut problem = None;
    for key in keys {
        let Key::Root(root) = &key.key else { continue };
        match chain.with_root(root).key(&certificates, now) {
            Ok(found) => return Ok((found, Some(key.position))),
            Err(why) => problem = Some(why),
        }
    }
    match problem {
        Some(why) => Err(unknown(why)),
        None => chain.key(&certificates, now).map(|key| (key, None)).map_err(unknown),
    }
}

/// Judges `exp` and `nbf` of a genuine token, where they are there.
pub(super) fn judge(token: &Token, rules: &TokenRules, now: Timestamp) -> Result<(), Rejection> {
    let leeway = i64::try_from(rules.leeway.as_secs()).unwrap_or(i64::MAX);
    if let Some(end) = claim(token, "/exp")? {
        let late = now.timestamp().saturating_sub(end.timestamp());
        if late >= leeway {
            let detail =
                format!("genuine, but its `exp` passed {late} s ago; at most {leeway} s are forgiven");
            return Err(Rejection::new(Reason::StaleTimestamp, detail));
        }
    }
    if let Some(start) = claim(token, "/nbf")? {
        let early = start.timestamp().saturating_sub(now.timestamp());
        if early > leeway {
            let detail =
                format!("genuine, but its `nbf` is {early} s ahead; at most {leeway} s are forgiven");
            return Err(Rejection::new(Reason::FutureTimestamp, detail));
        }
    }
    Ok(())
}

fn claim(token: &Token, pointer: &str) -> Result<Option<Timestamp>, Rejection> {
    let malformed =
        |why: &str| Rejection::new(Reason::MalformedSignature, format!("claim `{pointer}` {why}"));
    let raw = crate::provider::json_raw(token.payload(), pointer).map_err(|why| malformed(&why))?;
    let Some(raw) = raw else { return Ok(None) };
    // A time in quotes, or none at all, must not count as no end.
    moment::read_any(raw, &[Unit::Seconds]).map(Some).map_err(|why| malformed(&why))
}

/// A token with the definition's claims.
pub(super) fn make(
    rules: &TokenRules,
    pen: &Pen,
    provider: &Provider,
    scope: &Scope<'_>,
    ids: &SampleIds,
    now: Timestamp,
) -> Result<String, String> {
    let (header, claims) = (provider.sign_jose(), provider.sign_claims());
    let claims = object(claims, scope, ids, now)?;
    let more = object(header, scope, ids, now)?;
    let header = |algorithm: JwsAlgorithm| {
        let mut header = Map::new();
        header.insert("alg".into(), algorithm.name().into());
        header.insert("typ".into(), "JWT".into());
        header.extend(more.clone());
        Value::Object(header)
    };
    let claims = Value::Object(claims);
    let (text, signature) = pen.sign_token(rules, |algorithm| signing_input(&header(algorithm), &claims))?;
    Ok(with_signature(&text, &signature))
}

/// Values that read as numbers or booleans are such, as times have to be.
fn object(
    fields: &[(String, String)],
    scope: &Scope<'_>,
    ids: &SampleIds,
    now: Timestamp,
) -> Result<Map<String, Value>, String> {
    let mut out = Map::new();
    for (name, text) in fields {
        let template = Template::parse(&fill(text, ids, now))?;
        // What a setting leaves empty is left out.
        let value = match template.text(scope) {
            Ok(value) if value.is_empty() => continue,
            Ok(value) => value,
            Err(trouble) => return Err(format!("{trouble}: give it to be signed")),
        };
        let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
        let typed = match value.as_str() {
            "true" | "false" => Value::Bool(value == "true"),
            _ => number.map_or_else(|| Value::String(value.clone()), Value::from),
        };
        out.insert(name.clone(), typed);
    }
    Ok(out)
}
