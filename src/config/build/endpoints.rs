//! Endpoints: provider, paths, secrets, settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, NaiveTime};

use super::values::{DAY, MINUTE};
use super::{Context, ordering, proxy};
use crate::clock::Timestamp;
use crate::config::key::Key;
use crate::config::problem::suggest;
use crate::config::raw::{RawEndpoint, RawKeep, RawMatching, RawSecret, RawSwitch};
use crate::config::{Endpoint, Matching, SigningSecret};
use crate::model::Reason;
use crate::provider::{Provider, SettingsError};
use crate::verify::Keyring;

const MIB: u64 = 1 << 20;

pub(super) fn endpoint(name: &str, raw: &RawEndpoint, context: &mut Context<'_>) -> Option<Endpoint> {
    let key = Key::of(&["endpoints", name]);
    let named = context.name(&key, name);
    for (at, path) in raw.paths.iter().enumerate() {
        check_path(&key.child("paths").index(at), path, context);
    }
    let expect = expect(&key.child("expect"), raw, context);
    let max_body_key = key.child("max_body");
    let max_body = raw.max_body.as_ref().and_then(|text| context.size(&max_body_key, text, 1..=64 * MIB));
    let every_key = key.child("expect_every");
    let expect_every =
        raw.expect_every.as_ref().and_then(|text| context.duration(&every_key, text, MINUTE..=30 * DAY));
    let quarantine = kept(&key.child("quarantine"), raw.quarantine.as_ref(), context);
    let secrets = secrets(&key.child("secrets"), raw, context);
    let (provider, settings) = provider(&key, raw, context)?;
    let keyring = keyring(&key.child("secrets"), &provider, secrets.as_deref()?, context)?;
    if raw.secrets.is_empty() && provider.needs_secret() {
        let help = format!("`hookgate providers show {}` says where it is found", provider.id());
        context.report.error_help(
            &key.child("secrets"),
            "this provider's requests cannot be proved without a secret",
            help,
        );
        return None;
    }
    let mode = proxy::mode(&key, raw, &provider, context);
    if raw.matching == RawMatching::First && proxy::is(raw) {
        context.report.error(
            &key.child("match"),
            "belongs to routes, and none is for an endpoint with `mode = \"proxy\"`",
        );
    }
    named.then_some(())?;
    Some(Endpoint {
        name: name.into(),
        mode: mode?,
        max_body: max_body.or_else(|| provider.max_body()).unwrap_or(1 << 20),
        provider,
        paths: raw.paths.clone(),
        secrets: secrets?,
        keyring,
        settings,
        ordered: ordering::on_dead(raw),
        concurrency: raw.concurrency,
        matching: match raw.matching {
            RawMatching::All => Matching::All,
            RawMatching::First => Matching::First,
        },
        expect,
        expect_every,
        quarantine,
    })
}

/// The reasons for which a rejected request is kept.
fn kept(key: &Key, raw: Option<&RawKeep>, context: &mut Context<'_>) -> Vec<Reason> {
    let names = match raw {
        None => return Endpoint::KEPT.to_vec(),
        Some(RawKeep::Switch(RawSwitch::On)) => return Endpoint::KEEPABLE.to_vec(),
        Some(RawKeep::Switch(RawSwitch::Off)) => return Vec::new(),
        Some(RawKeep::Reasons(names)) => names,
    };
    let mut reasons = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match Endpoint::KEEPABLE.into_iter().find(|reason| reason.as_str() == name) {
            Some(reason) if reasons.contains(&reason) => {
                context.report.error(&key.index(at), format!("{name:?} stands here twice"));
            }
            Some(reason) => reasons.push(reason),
            None => {
                let known = Endpoint::KEEPABLE.map(Reason::as_str);
                let what = format!("found {name:?}, expected one of {}", known.join(", "));
                let always = matches!(name.as_str(), "conflict" | "no_event_id" | "malformed_body");
                let help = if always {
                    "genuine requests are always kept".to_owned()
                } else {
                    suggest(name, known.into_iter())
                };
                context.report.error_help(&key.index(at), what, help);
            }
        }
    }
    reasons
}

/// No path belongs to two endpoints, nor twice to one.
pub(super) fn unique_paths(endpoints: &BTreeMap<String, RawEndpoint>, context: &mut Context<'_>) {
    let mut seen: BTreeMap<&str, Key> = BTreeMap::new();
    for (name, raw) in endpoints {
        for (at, path) in raw.paths.iter().enumerate() {
            let key = Key::of(&["endpoints", name, "paths"]).index(at);
            if let Some(first) = seen.get(path.as_str()) {
                let place = context.report.places.nearest(first).line();
                context.report.error(&key, format!("the path {path:?} is taken by {first} ({place})"));
            } else {
                seen.insert(path, key);
            }
        }
    }
}

/// The provider with the endpoint's settings in it, and those settings but for secret ones.
fn provider(
    key: &Key,
    raw: &RawEndpoint,
    context: &mut Context<'_>,
) -> Option<(Arc<Provider>, BTreeMap<String, String>)> {
    let Some(provider) = context.catalogue.get(&raw.provider) else {
        let ids = context.catalogue.ids();
        let help = suggest(&raw.provider, ids);
        let what = format!("there is no provider {:?}", raw.provider);
        context.report.error_help(&key.child("provider"), what, help);
        return None;
    };
    let provider = ordering::provider(key, raw, provider, context)?;
    let (endpoint_key, key) = (key, key.child("settings"));
    let (mut all, mut shown) = (BTreeMap::new(), BTreeMap::new());
    for (name, text) in &raw.settings {
        if provider.settings().iter().any(|setting| setting.name == *name && setting.secret) {
            let (secret, _) = context.resolve(&key.child(name), text)?;
            all.insert(name.clone(), String::from_utf8_lossy(secret.expose()).into_owned());
        } else {
            all.insert(name.clone(), text.clone());
            shown.insert(name.clone(), text.clone());
        }
    }
    match provider.configure_variant(&all, raw.variant.as_deref()) {
        Ok(provider) => Some((provider, shown)),
        Err(error) => {
            let key = match &error {
                SettingsError::Unknown { name, .. }
                | SettingsError::Missing { name, .. }
                | SettingsError::Invalid { name, .. } => key.child(name),
                SettingsError::Variant { .. } => endpoint_key.child("variant"),
                SettingsError::Secret { .. } => key,
            };
            // Why a value does not fit may quote it, and it may be a secret.
            let what = match &error {
                SettingsError::Invalid { name, .. } => {
                    format!(
                        "setting `{name}` cannot be used: its value does not fit where the definition puts it"
                    )
                }
                SettingsError::Variant { allowed, .. } => {
                    format!("unknown variant: this provider has {}", allowed.join(", "))
                }
                _ => error.to_string(),
            };
            let help = format!("`hookgate providers show {}` lists the settings", raw.provider);
            context.report.error_help(&key, what, help);
            None
        }
    }
}

fn secrets(key: &Key, raw: &RawEndpoint, context: &mut Context<'_>) -> Option<Vec<SigningSecret>> {
    let mut secrets: Vec<SigningSecret> = Vec::new();
    let mut complete = true;
    for (at, raw) in raw.secrets.iter().enumerate() {
        let key = key.index(at);
        let (text, secret_key, until) = match raw {
            RawSecret::Live(text) => (text, key.clone(), None),
            RawSecret::Until(raw) => (&raw.secret, key.child("secret"), Some(raw.until.as_str())),
        };
        let until = until.map(|text| until_moment(&key.child("until"), text, context));
        let secret = context.secret(&secret_key, text);
        let (Some((secret, reference)), true) = (secret, until != Some(None)) else {
            complete = false;
            continue;
        };
        if let Some(twin) = secrets.iter().position(|other| other.secret == secret) {
            context.report.error(&secret_key, format!("the same secret as number {}", twin + 1));
        }
        secrets.push(SigningSecret { secret, until: until.flatten(), reference });
    }
    let now = context.sources.now;
    let passed = |secret: &SigningSecret| secret.until.is_some_and(|until| until <= now);
    if complete && !secrets.is_empty() && secrets.iter().all(passed) {
        context.report.error(key, "the `until` of every secret has passed: no request could be verified");
        return None;
    }
    complete.then_some(secrets)
}

fn until_moment(key: &Key, text: &str, context: &mut Context<'_>) -> Option<Timestamp> {
    let day = text.parse::<NaiveDate>().ok().map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let moment = day.or_else(|| DateTime::parse_from_rfc3339(text).ok().map(|time| time.to_utc()));
    match moment {
        None => {
            // The text is not repeated: beside a secret, it may be one.
            let what = "expected a day (\"2027-01-31\") or a time with its zone";
            context.report.error_help(key, what, "for example \"2027-01-31T12:00:00Z\"");
        }
        Some(moment) if moment <= context.sources.now => {
            context.report.warn(key, format!("{text} has passed: this secret counts no more"), "remove it");
        }
        Some(_) => {}
    }
    moment
}

fn keyring(
    key: &Key,
    provider: &Provider,
    secrets: &[SigningSecret],
    context: &mut Context<'_>,
) -> Option<Keyring> {
    let keyring = Keyring::new(provider, secrets.iter().map(|secret| (secret.secret.clone(), secret.until)));
    keyring
        .map_err(|error| {
            let key = match &error {
                SettingsError::Secret { position, .. } => key.index(position.saturating_sub(1)),
                _ => key.clone(),
            };
            let what = error.to_string();
            context.report.error_help(&key, what, format!("`hookgate providers show {}`", provider.id()));
        })
        .ok()
}

/// Paths are compared byte by byte, so they are written as they arrive: nothing a proxy or client may rewrite.
fn check_path(key: &Key, path: &str, context: &mut Context<'_>) {
    let segments_fit = path.split('/').skip(1).all(|segment| !matches!(segment, "" | "." | ".."));
    let allowed = |c: char| c.is_ascii_alphanumeric() || "/-._~!$&'()*+,=:@".contains(c);
    let what = if !path.starts_with('/') {
        "expected a path that begins with `/`"
    } else if path.len() > 256 {
        "expected at most 256 characters"
    } else if path.contains('?') || path.contains('#') {
        "expected a path alone, without query or fragment"
    } else if !path.chars().all(allowed) {
        "expected letters, digits and -._~!$&'()*+,=:@ only: other characters may arrive in several spellings"
    } else if path != "/" && !segments_fit {
        "expected no empty, `.` or `..` part and no slash at the end: clients and proxies rewrite those"
    } else {
        return;
    };
    context.report.error(key, format!("found {path:?}, {what}"));
}

fn expect(key: &Key, raw: &RawEndpoint, context: &mut Context<'_>) -> Vec<(String, serde_json::Value)> {
    for (pointer, value) in &raw.expect {
        let key = key.child(pointer);
        context.pointer(&key, pointer);
        if !(value.is_boolean() || value.is_string() || value.is_i64()) {
            context.report.error(&key, "expected a text, a whole number, true or false");
        }
    }
    raw.expect.iter().map(|(pointer, value)| (pointer.clone(), value.clone())).collect()
}
