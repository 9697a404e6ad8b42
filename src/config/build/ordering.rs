//! Order and hands: `ordering_key`, `version`, `on_dead`, `concurrency`, `[handlers.NAME]`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::Context;
use crate::config::OnDead;
use crate::config::key::Key;
use crate::config::problem::suggest;
use crate::config::raw::{Raw, RawEndpoint, RawMode, RawOnDead, RawOrderingKey};
use crate::provider::Provider;

/// The definition with the endpoint's templates in it.
pub(super) fn provider(
    key: &Key,
    raw: &RawEndpoint,
    provider: Arc<Provider>,
    context: &mut Context<'_>,
) -> Option<Arc<Provider>> {
    useless(key, raw, context);
    let template = match &raw.ordering_key {
        None | Some(RawOrderingKey::Own(false)) => return Some(provider),
        Some(RawOrderingKey::Own(true)) => None,
        Some(RawOrderingKey::Template(text)) => Some(text.as_str()),
    };
    match provider.ordered(template, raw.version.as_deref()) {
        Ok(provider) => Some(provider),
        Err(why) if why.is_empty() => {
            let what = "the provider's definition has no ordering key";
            let help = "say what events have in common, such as \"{json:/data/object/id}\"";
            context.report.error_help(&key.child("ordering_key"), what, help);
            None
        }
        Err(why) => {
            // Each template alone, to know which one it is.
            let is_version = provider.ordered(template, None).is_ok();
            let name = if is_version { "version" } else { "ordering_key" };
            let help = "a template such as \"{json:/created}\"; providers/README.md describes the language";
            context.report.error_help(&key.child(name), why, help);
            None
        }
    }
}

/// Whether order is kept, and what a dead event does to those behind it.
pub(super) fn on_dead(raw: &RawEndpoint) -> Option<OnDead> {
    is_ordered(raw).then_some(match raw.on_dead {
        Some(RawOnDead::Skip) => OnDead::Skip,
        Some(RawOnDead::Block) | None => OnDead::Block,
    })
}

fn is_ordered(raw: &RawEndpoint) -> bool {
    !matches!(raw.ordering_key, None | Some(RawOrderingKey::Own(false)))
}

/// Keys that would do nothing.
fn useless(key: &Key, raw: &RawEndpoint, context: &mut Context<'_>) {
    let given = [
        ("ordering_key", is_ordered(raw)),
        ("version", raw.version.is_some()),
        ("on_dead", raw.on_dead.is_some()),
        ("concurrency", raw.concurrency.is_some()),
    ];
    if !matches!(raw.mode, RawMode::Async) {
        for (name, _) in given.iter().filter(|(_, given)| *given) {
            let what = "needs mode = \"async\": in other modes each request is worked on as it comes";
            context.report.error_help(&key.child(name), what, "set the mode, or leave this out");
        }
    } else if !is_ordered(raw) {
        for (name, _) in given[1..3].iter().filter(|(_, given)| *given) {
            let what = "needs an ordering_key: it is about events that share one";
            context.report.error_help(&key.child(name), what, "add ordering_key = true, or leave this out");
        }
    }
}

/// `[handlers.NAME]`, each of which a route must name.
pub(super) fn handlers(raw: &Raw, context: &mut Context<'_>) -> BTreeMap<String, usize> {
    let stem = |path: &String| Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let named =
        raw.routes.iter().filter_map(|route| route.handler.clone().or_else(|| stem(route.sql.as_ref()?)));
    let named: BTreeSet<String> = named.collect();
    for name in raw.handlers.keys().filter(|name| !named.contains(*name)) {
        let what = format!("no route has a handler {name:?}");
        let help = suggest(name, named.iter().map(String::as_str));
        context.report.error_help(&Key::of(&["handlers", name]), what, help);
    }
    raw.handlers.iter().map(|(name, raw)| (name.clone(), raw.concurrency)).collect()
}
