//! Which of the routes that an event's type fits take it, and as what: filters, transforms, first or all.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;

use crate::jq::{Question, RunError, Runner};
use crate::model::{Event, Failure};

/// What the routes ask of events, in the order of the routes.
#[derive(Debug, Default)]
pub struct Selection {
    /// Each route's expressions.
    pub questions: Vec<Question>,
    /// Where each route stands, for the log.
    pub origins: Vec<String>,
    /// The endpoints whose events only the first route takes that wants them.
    pub first: HashSet<Arc<str>>,
    /// Evaluates the expressions.
    pub runner: Runner,
}

/// The code of a unit of work that no thread was free for: the event has no part in it.
pub const BUSY: &str = "jq.busy";

/// A route that takes the event, by its place, and the body that its transform made.
pub(super) type Taken = (usize, Option<Bytes>);

/// Nobody can say which routes want the event.
pub(super) struct Undecided {
    pub(super) failure: Failure,
    pub(super) text: String,
}

impl Selection {
    /// Whether any of these routes looks into the event.
    pub(super) fn reads(&self, routes: &[usize]) -> bool {
        routes.iter().filter_map(|at| self.questions.get(*at)).any(has_expression)
    }

    /// The transform of a route, as it was written.
    pub(super) fn transform(&self, route: usize) -> Option<&str> {
        self.questions.get(route)?.transform.as_deref().map(crate::jq::Expression::text)
    }

    /// Those of `routes`, whose types fit, that take the event.
    pub(super) async fn select(&self, event: &Event, routes: Vec<usize>) -> Result<Vec<Taken>, Undecided> {
        let first = self.first.contains(&event.key.endpoint);
        if !self.reads(&routes) {
            let number = if first { 1 } else { routes.len() };
            return Ok(routes.into_iter().take(number).map(|at| (at, None)).collect());
        }
        let questions =
            routes.iter().map(|at| self.questions.get(*at).cloned().unwrap_or_default()).collect();
        let answer = self.runner.ask(event.json().clone(), facts(event), questions, first).await;
        let place = |at: usize| routes.get(at).copied().unwrap_or_default();
        match answer {
            Ok(answer) => Ok(answer.into_iter().map(|(at, body)| (place(at), body)).collect()),
            Err(error) => Err(self.undecided(&error, place)),
        }
    }

    fn undecided(&self, error: &RunError, place: impl Fn(usize) -> usize) -> Undecided {
        match error {
            RunError::Busy => Undecided {
                failure: Failure { code: BUSY.into(), retryable: true },
                text: "no thread was free to evaluate the expressions of the routes".to_owned(),
            },
            RunError::Failed(at, is_transform, why) => {
                let key = if *is_transform { "transform" } else { "filter" };
                let origin = self.origins.get(place(*at)).map_or("", String::as_str);
                Undecided {
                    failure: Failure { code: format!("{key}.failed"), retryable: false },
                    text: format!("the {key} of the route at {origin}: {why}"),
                }
            }
        }
    }
}

fn has_expression(question: &Question) -> bool {
    question.filter.is_some() || question.transform.is_some()
}

/// `$event`. Headers are not in it: most are not signed, and what a stranger can add to a genuine request must not
/// choose its way.
fn facts(event: &Event) -> Bytes {
    let facts = json!({
        "id": event.key.event_id,
        "type": event.event_type,
        "provider": &*event.key.provider,
        "endpoint": &*event.key.endpoint,
        "account": event.account,
        "occurred_at": event.occurred_at.map(|time| time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)),
        "received_at": event.received_at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true),
    });
    facts.to_string().into()
}
