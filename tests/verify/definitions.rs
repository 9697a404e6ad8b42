//! What holds for every definition: its samples are signed, verified and mapped; nothing else is genuine.

use std::collections::BTreeMap;
use std::sync::Arc;

use hookgate::mapping::map;
use hookgate::model::{EventKey, Headers, Reason, Request, Secret};
use hookgate::provider::{Provider, Sample, SampleIds};
use hookgate::verify::{self, Decision, Fetched, Keyring, Signed};
use uuid::Uuid;

use super::support::{NOW, SECRET, at, catalogue, request};

/// A secret for each form that a definition may ask for, and another one of the same form.
const SECRETS: [(&str, &str); 4] = [
    (SECRET, "whsec_b3RoZXIgdGVzdCBzZWNyZXQgd2l0aCAzMiBieXRlcyE="),
    ("aG9va2dhdGUgdGVzdCBzZWNyZXQgb2YgMzIgYnl0ZXM=", "b3RoZXIgdGVzdCBzZWNyZXQgd2l0aCAzMiBieXRlcyE="),
    (
        "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
        "55782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
    ),
    ("gateway:a-password-of-some-length", "gateway:b-password-of-some-length"),
];
/// Key pairs, made for these tests and used nowhere else.
const PAIRS: &str = include_str!("pairs.json");
/// Those that cannot be signed here: with certificates of Apple's, with RSA over SHA-1, which is only checked, inside of a header's
/// JSON, or not at all, where the provider is asked.
const UNSIGNABLE: [&str; 6] =
    ["apple_app_store", "ebay", "klarna_checkout_push", "mollie_classic", "paddle_classic", "travis_ci"];

#[derive(serde::Deserialize)]
struct Form {
    pairs: [Pair; 2],
}

/// What verifies, and what signs.
#[derive(Clone, serde::Deserialize)]
struct Pair {
    verify: String,
    sign: String,
}

/// Two of each form.
fn pairs() -> Vec<[Pair; 2]> {
    let shared = |secret: &str| Pair { verify: secret.into(), sign: secret.into() };
    let shared = SECRETS.iter().map(|(ours, other)| [shared(ours), shared(other)]);
    let forms: Vec<Form> = serde_json::from_str(PAIRS).expect("pairs");
    shared.chain(forms.into_iter().map(|form| form.pairs)).collect()
}

/// The definition as an endpoint would use it, examples standing in for required settings.
fn configured(provider: &Provider, only: Option<&str>) -> Arc<Provider> {
    let required = provider.settings().iter().filter(|setting| setting.default.is_none());
    let settings: BTreeMap<String, String> = required
        .map(|setting| (setting.name.clone(), setting.example.clone().unwrap_or_else(|| "example".into())))
        .collect();
    provider.configure_variant(&settings, only).unwrap_or_else(|error| panic!("{}: {error}", provider.id()))
}

/// A sample made genuine.
struct Genuine {
    signed: Signed,
    request: Request,
    ring: Keyring,
    /// The same secret but for one byte, where that is a secret still.
    near: Option<Keyring>,
    /// Another secret of the same form, and what it makes of the sample.
    other: Keyring,
    other_signed: Signed,
}

/// Signs with the first secret that has the right form.
fn signed(provider: &Provider, plain: &Request) -> Result<Genuine, String> {
    let mut problem = String::new();
    for [ours, other] in pairs() {
        let ring = |pair: &Pair| Keyring::new(provider, [(Secret::new(pair.verify.as_str()), None)]);
        let sign = |pair: &Pair| verify::sign(provider, &Secret::new(pair.sign.as_str()), plain, at(NOW));
        let (Ok(ring), Ok(other_ring)) = (ring(&ours), ring(&other)) else { continue };
        match (sign(&ours), sign(&other)) {
            (Ok(signed), Ok(other_signed)) => {
                let request = apply(plain, signed.clone());
                // 32 bytes of hex are an Ed25519 key of either side, and a PEM is a text too: then it is not this form.
                if let Decision::Rejected(rejection) = judge(&request, provider, &ring) {
                    problem = format!("{rejection:?}");
                    continue;
                }
                let near = Keyring::new(provider, [(Secret::new(one_byte_changed(&ours.verify)), None)]).ok();
                return Ok(Genuine { signed, request, ring, near, other: other_ring, other_signed });
            }
            (Err(why), _) | (_, Err(why)) => problem = why,
        }
    }
    Err(problem)
}

/// The byte in the middle becomes another one that hex and base64 have too.
fn one_byte_changed(secret: &str) -> String {
    let mut bytes = secret.as_bytes().to_vec();
    let middle = bytes.len() / 2;
    bytes[middle] = match bytes[middle] {
        b'A' => b'B',
        b'a' => b'b',
        byte if byte.is_ascii_lowercase() => b'a',
        _ => b'A',
    };
    String::from_utf8(bytes).expect("text")
}

fn judge(request: &Request, provider: &Provider, ring: &Keyring) -> Decision {
    verify::verify(request, provider, ring, &Fetched::nothing(), at(NOW))
}

fn apply(plain: &Request, signed: Signed) -> Request {
    let mut out = plain.clone();
    out.headers = Headers::new();
    for (name, value) in
        plain.headers.iter().filter(|(name, _)| signed.headers.iter().all(|(set, _)| set != name))
    {
        out.headers.push(name, value);
    }
    for (name, value) in &signed.headers {
        out.headers.push(name, value.as_bytes());
    }
    if let Some((_, query)) = signed.path_and_query.as_deref().and_then(|it| it.split_once('?')) {
        out.query = Some(query.to_owned());
    }
    out.body = signed.body.unwrap_or(out.body);
    out
}

fn plain(sample: &Sample, event: &str) -> Request {
    let ids = SampleIds { event: event.into(), object: "9z8y7x".into() };
    let (headers, body) = sample.render(&ids, at(NOW));
    let mut plain = request(&[], body.to_vec());
    plain.headers = headers;
    plain.by_proxy = true;
    plain
}

fn first_event(provider: &Provider, sample: &Sample, event: &str) -> Result<(EventKey, String), String> {
    let Genuine { request: genuine, ring, .. } = signed(provider, &plain(sample, event))?;
    let verified = match verify::verify(&genuine, provider, &ring, &Fetched::nothing(), at(NOW)) {
        Decision::Verified(verified) => verified,
        other => return Err(format!("{other:?}")),
    };
    let events =
        map(&verified, provider, &"billing".into(), &[], Uuid::nil()).map_err(|why| format!("{why:?}"))?;
    let event = events.into_iter().next().ok_or("no event")?;
    Ok((event.key, event.event_type))
}

#[test]
fn every_sample_that_can_be_signed_verifies_and_maps_to_its_type_and_an_id_of_its_own() {
    let mut wrong = Vec::new();
    for provider in catalogue().iter() {
        let provider = configured(provider, None);
        if provider.samples().is_empty() {
            wrong.push(format!("{}: no sample", provider.id()));
        }
        for sample in provider.samples() {
            let name = format!("{} {}", provider.id(), sample.event_type);
            assert!(
                !plain(sample, "1a2b3c").body.windows(2).any(|pair| pair == b"${"),
                "{name}: not rendered"
            );
            if UNSIGNABLE.contains(&&**provider.id()) {
                continue;
            }
            match (first_event(&provider, sample, "1a2b3c"), first_event(&provider, sample, "other")) {
                (Ok((first, kind)), Ok((second, _))) => {
                    if kind != sample.event_type {
                        wrong.push(format!("{name}: maps to {kind}"));
                    }
                    if first == second {
                        wrong.push(format!("{name}: two events share the id {}", first.event_id));
                    }
                }
                (Err(why), _) | (_, Err(why)) => wrong.push(format!("{name}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn one_changed_byte_or_another_secret_is_refused_by_every_variant_of_every_definition() {
    let (mut wrong, mut variants) = (Vec::new(), 0);
    for known in catalogue().iter() {
        for facts in known.description()["variants"].as_array().expect("variants") {
            let provider = configured(known, facts["name"].as_str());
            if UNSIGNABLE.contains(&&**provider.id()) || facts["algorithm"] == "none" {
                continue;
            }
            let name = format!("{} {}", provider.id(), facts["name"]);
            let chosen_by_shape = facts["when"].as_array().is_none_or(Vec::is_empty);
            // A sample may be a request of another variant.
            let signed = facts["signed"][0].as_str().unwrap_or_default();
            let attacks = provider.samples().iter().map(|sample| attack(&provider, sample, signed));
            let attacks: Vec<Result<(), Refused>> = attacks.collect();
            let best = attacks.iter().position(Result::is_ok).unwrap_or(0);
            let taken = attacks.iter().position(|it| matches!(it, Err(Refused::Taken(_))));
            match attacks.into_iter().nth(taken.unwrap_or(best)).unwrap_or(Ok(())) {
                Ok(()) => variants += 1,
                // The sample is a request of another variant.
                Err(Refused::Genuine(why)) if !chosen_by_shape || why.contains("give it to be signed") => {}
                Err(Refused::Genuine(why) | Refused::Taken(why)) => wrong.push(format!("{name}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(variants > 80, "only {variants} were tried");
}

/// What went wrong: a genuine request was refused, or a false one taken.
enum Refused {
    Genuine(String),
    Taken(String),
}

fn attack(provider: &Provider, sample: &Sample, text: &str) -> Result<(), Refused> {
    let genuine = signed(provider, &plain(sample, "1a2b3c")).map_err(Refused::Genuine)?;
    let Genuine { signed, request: genuine, ring, near, other, other_signed } = genuine;
    let decide =
        |request: &Request, ring| verify::verify(request, provider, ring, &Fetched::nothing(), at(NOW));
    let taken = |request: &Request, ring| !matches!(decide(request, ring), Decision::Rejected(_));
    if let Decision::Rejected(rejection) = decide(&genuine, &ring) {
        return Err(Refused::Genuine(format!("{rejection:?}")));
    }
    if taken(&genuine, &other) {
        return Err(Refused::Taken("another secret".into()));
    }
    if near.as_ref().is_some_and(|near| taken(&genuine, near)) {
        return Err(Refused::Taken("the secret with one byte changed".into()));
    }
    let covered = text.contains("{body");
    for at in (0..genuine.body.len()).step_by(11).filter(|_| covered) {
        let mut changed = genuine.clone();
        let mut body = genuine.body.to_vec();
        body[at] ^= 1;
        changed.body = body.into();
        if taken(&changed, &ring) {
            return Err(Refused::Taken(format!("byte {at} of the body changed")));
        }
    }
    // The signature's header is the last one that was set, and the signature itself what another secret changes in it.
    let header = signed.headers.last().filter(|_| signed.path_and_query.is_none() && signed.body.is_none());
    let Some((header, value)) = header else { return Ok(()) };
    let other = other_signed.headers.last().map_or(&[][..], |(_, value)| value.as_bytes());
    for at in (0..value.len()).filter(|at| other.get(*at) != Some(&value.as_bytes()[*at])) {
        let mut bytes = value.clone().into_bytes();
        bytes[at] ^= 1;
        let changed = super::support::with_header(&genuine, header, &[&bytes]);
        if taken(&changed, &ring) {
            return Err(Refused::Taken(format!("byte {at} of {header} changed")));
        }
    }
    Ok(())
}

#[test]
fn a_request_without_any_signature_is_refused_by_every_definition() {
    for provider in catalogue().iter() {
        let provider = configured(provider, None);
        let Some(sample) = provider.samples().first() else { continue };
        let ring = pairs()
            .iter()
            .find_map(|[ours, _]| Keyring::new(&provider, [(Secret::new(ours.verify.as_str()), None)]).ok());
        let ring = ring.or_else(|| Keyring::new(&provider, []).ok().filter(|_| !provider.needs_secret()));
        let Some(ring) = ring else { panic!("{} takes none of the secrets", provider.id()) };
        match verify::verify(&plain(sample, "1a2b3c"), &provider, &ring, &Fetched::nothing(), at(NOW)) {
            Decision::Rejected(rejection) => {
                let unsigned =
                    [Reason::MissingSignature, Reason::MalformedSignature, Reason::SignatureMismatch];
                assert!(unsigned.contains(&rejection.reason), "{}: {rejection:?}", provider.id());
            }
            // Nothing is signed there: the provider is asked.
            Decision::Needs(_) if asks(&provider) => {}
            other => panic!("{}: {other:?}", provider.id()),
        }
    }
}

fn asks(provider: &Provider) -> bool {
    provider.description()["variants"]
        .as_array()
        .is_some_and(|variants| variants.iter().all(|variant| variant["algorithm"] == "fetch-back"))
}
