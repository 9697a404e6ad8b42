//! Routes' jq expressions, and the routes that an endpoint with `match = "first"` never reaches.

use std::sync::Arc;

use super::Context;
use crate::config::key::Key;
use crate::config::raw::RawRoute;
use crate::config::{Endpoint, Matching, Route};
use crate::jq::Expression;
use crate::routing::TypeGlob;

/// A route's filter and transform.
type Expressions = (Option<Arc<Expression>>, Option<Arc<Expression>>);

/// An expression is wrong, and the report says so.
struct Reported;

/// `None` if one of them is wrong, which is reported.
pub(super) fn of(key: &Key, route: &RawRoute, context: &mut Context<'_>) -> Option<Expressions> {
    if route.transform.is_some() && route.forward.is_none() {
        let what = "belongs to `forward`: a handler gets the event as it came";
        context.report.error(&key.child("transform"), what);
        return None;
    }
    if matches!(route.filter.as_deref().map(str::trim), Some("false" | "null")) {
        context.report.error(&key.child("filter"), "can never match: it is the same for every event");
        return None;
    }
    let mut compile = |name: &str, text: &Option<String>| match text {
        Some(text) => compiled(&key.child(name), text, context).map(Some).ok_or(Reported),
        None => Ok(None),
    };
    let (filter, transform) = (compile("filter", &route.filter), compile("transform", &route.transform));
    Some((filter.ok()?, transform.ok()?))
}

fn compiled(key: &Key, text: &str, context: &mut Context<'_>) -> Option<Arc<Expression>> {
    match Expression::new(text) {
        Ok(expression) => Some(Arc::new(expression)),
        Err(error) => {
            let (line, column) = error.at;
            let what = format!("{} (line {line}, column {column} of the expression)", error.problem);
            match error.help {
                Some(help) => context.report.error_help(key, what, help),
                None => context.report.error(key, what),
            }
            None
        }
    }
}

/// Where only the first route takes an event, one without a filter leaves nothing of its types to those behind it.
pub(super) fn refuse_unreachable(
    key: &Key,
    route: &Route,
    endpoints: &[&Endpoint],
    before: &[Route],
    context: &mut Context<'_>,
) {
    // What covers the text of a pattern, stars and all, covers all that the pattern matches.
    let covers =
        |other: &Route, pattern: &str| other.types.iter().any(|glob| TypeGlob::new(glob).matches(pattern));
    let takes_all = |other: &&Route, endpoint: &Endpoint| {
        other.filter.is_none()
            && other.endpoints.contains(&endpoint.name)
            && route.types.iter().all(|pattern| covers(other, pattern))
    };
    let hidden_by = |endpoint: &&Endpoint| {
        let first = endpoint.matching == Matching::First;
        before.iter().filter(|_| first).find(|other| takes_all(other, endpoint))
    };
    let hiding: Option<Vec<&Route>> = endpoints.iter().map(hidden_by).collect();
    if let Some([first, ..]) = hiding.as_deref() {
        let what = format!("can never match: the route at {} takes all of its events", first.origin);
        context.report.error_help(
            key,
            what,
            "with `match = \"first\"`, special routes stand before general ones",
        );
    }
}
