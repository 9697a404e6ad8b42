//! Proxy endpoints: what answers for them, and what cannot be combined with that.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Context;
use crate::config::key::Key;
use crate::config::problem::suggest;
use crate::config::raw::{Raw, RawEndpoint, RawMode};
use crate::config::{Destination, DestinationKind, Mode};
use crate::provider::Provider;

/// Whether an endpoint is one.
pub(super) fn is(raw: &RawEndpoint) -> bool {
    raw.mode == RawMode::Proxy
}

/// An endpoint's mode; whether its destination can be used is seen by [`destinations`].
pub(super) fn mode(
    key: &Key,
    raw: &RawEndpoint,
    provider: &Provider,
    context: &mut Context<'_>,
) -> Option<Mode> {
    let mode = match raw.mode {
        RawMode::Sync => Mode::Sync,
        RawMode::Async => Mode::Async,
        RawMode::Proxy => {
            let Some(destination) = &raw.proxy else {
                let what = "a proxy needs the destination that answers for it";
                context.report.error_help(&key.child("mode"), what, "add proxy = \"DESTINATION\"");
                return None;
            };
            if provider.sends_batches() {
                let what = format!(
                    "{} sends several events in one request, and one answer cannot be for all of them",
                    provider.name()
                );
                context.report.error_help(
                    &key.child("mode"),
                    what,
                    "use mode = \"async\" and a route with `forward`",
                );
                return None;
            }
            return Some(Mode::Proxy { destination: destination.as_str().into() });
        }
    };
    if raw.proxy.is_some() {
        let what = "belongs to mode = \"proxy\", and this endpoint has another";
        context.report.error_help(&key.child("proxy"), what, "set the mode, or use a route with `forward`");
        return None;
    }
    Some(mode)
}

/// The destinations of all proxies are there and can answer. `destinations` are those that came out right; others are
/// reported elsewhere.
pub(super) fn destinations(
    raw: &Raw,
    destinations: &BTreeMap<String, Arc<Destination>>,
    context: &mut Context<'_>,
) {
    for (name, endpoint) in raw.endpoints.iter().filter(|(_, endpoint)| is(endpoint)) {
        let Some(wanted) = &endpoint.proxy else { continue };
        let key = Key::of(&["endpoints", name, "proxy"]);
        if !raw.destinations.contains_key(wanted) {
            if !context.report.has_dropped("destinations", wanted) {
                let all = raw.destinations.keys().map(String::as_str);
                let help = suggest(wanted, all);
                context.report.error_help(&key, format!("there is no destination {wanted:?}"), help);
            }
        } else if destinations.get(wanted).is_some_and(|it| !matches!(it.kind, DestinationKind::Http { .. }))
        {
            let what = format!("the destination {wanted:?} gives no answer");
            context.report.error_help(&key, what, "a proxy's destination has type = \"http\"");
        }
    }
}

/// `names`, if none of them is a proxy: no route is for those.
pub(super) fn refuse<'a>(
    key: &Key,
    names: &[&'a str],
    raw: &Raw,
    context: &mut Context<'_>,
) -> Option<Vec<&'a str>> {
    let proxy = names.iter().find(|name| raw.endpoints.get(**name).is_some_and(is));
    if let Some(name) = proxy {
        let what = format!(
            "the endpoint {name:?} is a proxy: its destination answers for it, and no route is for it"
        );
        context.report.error_help(key, what, "give it another mode, or leave it out here");
        return None;
    }
    Some(names.to_vec())
}
