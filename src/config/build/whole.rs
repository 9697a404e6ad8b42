//! What no part can see alone.

use std::collections::BTreeSet;

use super::Context;
use crate::config::key::Key;
use crate::config::raw::Raw;
use crate::config::{Action, Config, DatabaseUrl, Endpoint, Mode, units};

pub(super) fn check(config: &Config, raw: &Raw, context: &mut Context<'_>) {
    listeners(config, context);
    for endpoint in config.endpoints.values() {
        dedupe_window(endpoint, config, raw, context);
        sync_on_sqlite(endpoint, config, context);
    }
    shared_secrets(config, context);
    loose_ends(config, context);
    if config.endpoints.is_empty() {
        let help =
            "define [endpoints.NAME] in a file and name it with --config; config/endpoints holds examples";
        context.report.warn(&Key::default(), "there are no endpoints: every request is answered 404", help);
    }
}

fn listeners(config: &Config, context: &mut Context<'_>) {
    let (server, admin) = (config.server.listen, config.admin.listen);
    let meet = server.ip() == admin.ip() || server.ip().is_unspecified() || admin.ip().is_unspecified();
    if server.port() == admin.port() && server.port() != 0 && meet {
        let what = format!("the port {} is that of server.listen", admin.port());
        context.report.error_help(&Key::of(&["admin", "listen"]), what, "operators need a port of their own");
    }
}

/// A copy that comes after its key was pruned would be a new event.
fn dedupe_window(endpoint: &Endpoint, config: &Config, raw: &Raw, context: &mut Context<'_>) {
    let Some(window) = endpoint.provider.retry_window() else { return };
    if config.retention.keys < window {
        let what = format!(
            "found {:?}, but {} (endpoint {}) sends an event again for up to {}",
            raw.retention.keys.0,
            endpoint.provider.name(),
            endpoint.name,
            units::show(window)
        );
        let help = "a late copy would be taken for a new event";
        context.report.error_help(&Key::of(&["retention", "keys"]), what, help);
    }
}

fn sync_on_sqlite(endpoint: &Endpoint, config: &Config, context: &mut Context<'_>) {
    let has_handler = config
        .routes
        .iter()
        .any(|route| !matches!(route.action, Action::Forward) && route.endpoints.contains(&endpoint.name));
    if endpoint.mode == Mode::Sync && matches!(config.database.url, DatabaseUrl::Sqlite(_)) && has_handler {
        let key = Key::of(&["endpoints", &endpoint.name, "mode"]);
        let what = "`sync` handlers on SQLite: one writer serves all, so that each request waits for the others' handlers";
        context.report.warn(&key, what, "use mode = \"async\", or PostgreSQL");
    }
}

/// With one secret for two endpoints a delivery for one is genuine at the other.
fn shared_secrets(config: &Config, context: &mut Context<'_>) {
    let endpoints: Vec<&Endpoint> = config.endpoints.values().map(AsRef::as_ref).collect();
    for (at, endpoint) in endpoints.iter().enumerate() {
        for (position, own) in endpoint.secrets.iter().enumerate() {
            let shared = |other: &&&Endpoint| other.secrets.iter().any(|secret| secret.secret == own.secret);
            let Some(other) = endpoints[..at].iter().find(shared) else { continue };
            let key = Key::of(&["endpoints", &endpoint.name, "secrets"]).index(position);
            let what = format!("the same secret as at the endpoint {}", other.name);
            context.report.warn(
                &key,
                what,
                "a request for one of them can be sent to the other; use a secret for each",
            );
        }
    }
}

/// Endpoints and destinations that no route knows.
fn loose_ends(config: &Config, context: &mut Context<'_>) {
    let routed: BTreeSet<&str> =
        config.routes.iter().flat_map(|route| &route.endpoints).map(AsRef::as_ref).collect();
    let proxied = config.endpoints.values().filter_map(|endpoint| endpoint.proxied());
    let used: BTreeSet<&str> = config
        .routes
        .iter()
        .flat_map(|route| &route.destinations)
        .chain(proxied)
        .map(AsRef::as_ref)
        .collect();
    let without_route =
        |endpoint: &&Endpoint| !routed.contains(&*endpoint.name) && endpoint.proxied().is_none();
    for Endpoint { name, .. } in config.endpoints.values().map(AsRef::as_ref).filter(without_route) {
        let what = "no route is for this endpoint: its events are verified, stored and ignored";
        context.report.warn(
            &Key::of(&["endpoints", name]),
            what,
            "add [[routes]] with a handler or a forward",
        );
    }
    for name in config.destinations.keys().filter(|name| !used.contains(name.as_str())) {
        let what = "no route leads to this destination";
        context.report.warn(
            &Key::of(&["destinations", name]),
            what,
            "name it in `forward` or `emit` of a route",
        );
    }
}
