//! Routes: which endpoints, which types, what to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Context, expressions, proxy, sql};
use crate::config::key::Key;
use crate::config::problem::suggest;
use crate::config::raw::{Raw, RawEndpoint, RawRoute};
use crate::config::{Action, Endpoint, Route};
use crate::jq::Expression;

/// The routes in order. `endpoints` are those that came out right; others are reported elsewhere.
pub(super) fn routes(
    raw: &Raw,
    endpoints: &BTreeMap<String, Arc<Endpoint>>,
    context: &mut Context<'_>,
) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    for (at, raw_route) in raw.routes.iter().enumerate() {
        let key = Key::of(&["routes"]).index(at);
        check_types(&key.child("types"), raw_route, context);
        let names = selected(&key, raw_route, raw, context);
        let action = action(&key, raw_route, context);
        let destinations = destinations(&key, raw_route, raw, context);
        let expressions = expressions::of(&key, raw_route, context);
        let (Some(names), Some(action), Some(destinations), Some((filter, transform))) =
            (names, action, destinations, expressions)
        else {
            continue;
        };
        let selected: Vec<&Endpoint> =
            names.iter().filter_map(|name| endpoints.get(*name)).map(AsRef::as_ref).collect();
        let origin = context.report.places.nearest(&key).line();
        let endpoints = selected.iter().map(|endpoint| Arc::clone(&endpoint.name)).collect();
        let types = raw_route.types.clone();
        let route = Route { endpoints, types, filter, transform, action, destinations, origin };
        refuse_repetition(&key, &route, &routes, context);
        expressions::refuse_unreachable(&key, &route, &selected, &routes, context);
        routes.push(route);
    }
    routes
}

/// The names of the endpoints that a route is for.
fn selected<'a>(
    key: &Key,
    route: &'a RawRoute,
    raw: &'a Raw,
    context: &mut Context<'_>,
) -> Option<Vec<&'a str>> {
    let all = || raw.endpoints.keys().map(String::as_str);
    match (&route.endpoint, &route.endpoints, &route.provider) {
        (Some(name), None, None) if name == "*" => {
            let routed = raw.endpoints.iter().filter(|(_, raw)| !proxy::is(raw));
            let names: Vec<&str> = routed.map(|(name, _)| name.as_str()).collect();
            if names.is_empty() && context.report.dropped.is_empty() {
                context.report.error(
                    &key.child("endpoint"),
                    "can never match: there are no endpoints, or proxies only",
                );
            }
            Some(names)
        }
        (Some(name), None, None) => {
            let known = all().find(|known| known == name);
            if known.is_none() && !context.report.has_dropped("endpoints", name) {
                let what = format!("there is no endpoint {name:?}");
                context.report.error_help(&key.child("endpoint"), what, suggest(name, all()));
            }
            known.and_then(|name| proxy::refuse(&key.child("endpoint"), &[name], raw, context))
        }
        (None, Some(names), None) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let names = known(&key.child("endpoints"), "endpoint", &names, all, context)?;
            proxy::refuse(&key.child("endpoints"), &names, raw, context)
        }
        (None, None, Some(provider)) => of_provider(&key.child("provider"), provider, raw, context),
        _ => {
            context.report.error(key, "expected exactly one of `endpoint`, `endpoints` and `provider`");
            None
        }
    }
}

fn of_provider<'a>(key: &Key, id: &str, raw: &'a Raw, context: &mut Context<'_>) -> Option<Vec<&'a str>> {
    let catalogue = context.catalogue;
    let Some(provider) = catalogue.get(id) else {
        let help = suggest(id, catalogue.ids());
        context.report.error_help(key, format!("there is no provider {id:?}"), help);
        return None;
    };
    let same = |raw: &RawEndpoint| {
        !proxy::is(raw) && catalogue.get(&raw.provider).is_some_and(|other| other.id() == provider.id())
    };
    let names: Vec<&str> =
        raw.endpoints.iter().filter(|(_, raw)| same(raw)).map(|(name, _)| name.as_str()).collect();
    if names.is_empty() && context.report.dropped.is_empty() {
        let what = format!("can never match: no endpoint that takes routes has the provider {id:?}");
        context.report.error(key, what);
    }
    Some(names)
}

/// `names`, if there are any, all are among `all`, and none is there twice.
fn known<'a, I: Iterator<Item = &'a str>>(
    key: &Key,
    what: &str,
    names: &[&str],
    all: impl Fn() -> I,
    context: &mut Context<'_>,
) -> Option<Vec<&'a str>> {
    if names.is_empty() {
        context.report.error(key, format!("the list is empty; name at least one {what}"));
    }
    let mut found = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match all().find(|known| known == name) {
            Some(known) if found.contains(&known) => {
                context.report.error(&key.index(at), format!("{name:?} is in the list twice"));
            }
            Some(known) => found.push(known),
            None if context.report.has_dropped(&format!("{what}s"), name) => {}
            None => {
                let problem = format!("there is no {what} {name:?}");
                context.report.error_help(&key.index(at), problem, suggest(name, all()));
            }
        }
    }
    (!found.is_empty() && found.len() == names.len()).then_some(found)
}

fn check_types(key: &Key, route: &RawRoute, context: &mut Context<'_>) {
    for (at, pattern) in route.types.iter().enumerate() {
        let key = key.index(at);
        if pattern.is_empty() {
            context.report.error_help(&key, "can never match: it is empty", "`*` stands for all types");
        } else if pattern.trim() != pattern || pattern.contains(char::is_control) {
            let what = format!("can never match: {pattern:?} has blanks around it or control characters");
            context.report.error(&key, what);
        } else if route.types[..at].contains(pattern) {
            context.report.error(&key, format!("{pattern:?} is in the list twice"));
        }
    }
}

fn action(key: &Key, route: &RawRoute, context: &mut Context<'_>) -> Option<Action> {
    if route.sql.is_none() {
        for (name, given) in [("params", route.params.is_some()), ("operation", route.operation.is_some())] {
            if given {
                context.report.error(&key.child(name), "belongs to `sql`, and there is none in this route");
            }
        }
    }
    match (&route.handler, &route.sql, &route.forward) {
        (Some(name), None, None) => handler(&key.child("handler"), name, context),
        (None, Some(path), None) => sql::module(key, path, route, context).map(Action::Sql),
        (None, None, Some(_)) => Some(Action::Forward),
        _ => {
            context.report.error(key, "expected exactly one of `handler`, `sql` and `forward`");
            None
        }
    }
}

fn handler(key: &Key, name: &str, context: &mut Context<'_>) -> Option<Action> {
    let handlers = &context.sources.handlers;
    if handlers.contains(name) {
        return Some(Action::Handler(name.to_owned()));
    }
    let help = suggest(name, handlers.iter().map(String::as_str));
    context.report.error_help(key, format!("there is no handler {name:?}"), help);
    None
}

fn destinations(key: &Key, route: &RawRoute, raw: &Raw, context: &mut Context<'_>) -> Option<Vec<Arc<str>>> {
    let (name, list) = match (&route.forward, &route.emit) {
        (Some(_), Some(_)) => {
            context.report.error(&key.child("emit"), "belongs to a handler; a `forward` has its own list");
            return None;
        }
        (Some(list), None) => ("forward", list),
        (None, Some(list)) => ("emit", list),
        (None, None) => return Some(Vec::new()),
    };
    let names: Vec<&str> = list.iter().map(String::as_str).collect();
    let all = || raw.destinations.keys().map(String::as_str);
    let known = known(&key.child(name), "destination", &names, all, context)?;
    Some(known.into_iter().map(Arc::from).collect())
}

/// Two routes that say the same would run the handler, or send the event, twice.
fn refuse_repetition(key: &Key, route: &Route, before: &[Route], context: &mut Context<'_>) {
    let same_expressions = |other: &Route| {
        let text = |expression: &Option<Arc<Expression>>| expression.as_ref().map(|it| it.text().to_owned());
        text(&route.filter) == text(&other.filter) && text(&route.transform) == text(&other.transform)
    };
    let same_action = |other: &Route| match (&route.action, &other.action) {
        (Action::Handler(a), Action::Handler(b)) => a == b,
        (Action::Sql(a), Action::Sql(b)) => a.path == b.path,
        (Action::Forward, Action::Forward) => {
            route.destinations.iter().any(|to| other.destinations.contains(to))
        }
        _ => false,
    };
    let shares_endpoint = |other: &Route| route.endpoints.iter().any(|name| other.endpoints.contains(name));
    let shares_type = |other: &Route| route.types.iter().any(|pattern| other.types.contains(pattern));
    let twin = before.iter().find(|other| {
        same_action(other) && same_expressions(other) && shares_endpoint(other) && shares_type(other)
    });
    if let Some(twin) = twin {
        let what =
            format!("repeats the route at {}: the same would be done twice for each event", twin.origin);
        context.report.error(key, what);
    }
}
