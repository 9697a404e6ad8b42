//! The children of each endpoint, made at start.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use prometheus::{Histogram, IntCounter, IntCounterVec, Result};

use super::families::Families;
use crate::config::{Config, Endpoint, Route};
use crate::model::{Outcome, Reason};
use crate::receive::NotKept;

/// How a handler's run can end; see [`crate::process::HandlerRun::outcome`].
const RUN_OUTCOMES: [&str; 6] = ["processed", "ignored", "flagged", "superseded", "failed", "permanent"];
/// Event types that neither a route nor the provider's definition names.
const OTHER: &str = "other";

/// The children of one endpoint, so that a request allocates no label.
pub(super) struct EndpointMetrics {
    pub(super) provider: Arc<str>,
    pub(super) requests: Vec<(Outcome, IntCounter)>,
    pub(super) rejections: Vec<(Reason, IntCounter)>,
    pub(super) events: Vec<(Outcome, IntCounter)>,
    pub(super) duration: Histogram,
    /// Acknowledged too late for the provider, and when that is.
    pub(super) late: IntCounter,
    pub(super) deadline: Option<Duration>,
    pub(super) lag: Histogram,
    pub(super) secrets: Vec<IntCounter>,
    /// The same secrets, by what they are called in the store.
    pub(super) fingerprints: Vec<String>,
    pub(super) types: HashMap<String, IntCounter>,
    pub(super) other_types: IntCounter,
}

impl EndpointMetrics {
    pub(super) fn new(families: &Families, config: &Config, endpoint: &Endpoint) -> Result<Self> {
        let (provider, name) = (&**endpoint.provider.id(), &*endpoint.name);
        let of_outcome = |family: &IntCounterVec| {
            Outcome::ALL
                .into_iter()
                .map(|o| Ok((o, family.get_metric_with_label_values(&[provider, name, o.as_str()])?)))
                .collect::<Result<Vec<_>>>()
        };
        let of_type =
            |event_type: &str| families.event_types.get_metric_with_label_values(&[name, event_type]);
        for handler in handlers_of(config, endpoint) {
            for outcome in RUN_OUTCOMES {
                families
                    .process_attempts
                    .get_metric_with_label_values(&[provider, name, handler, outcome])?;
            }
        }
        for cause in NotKept::ALL {
            families.not_kept.get_metric_with_label_values(&[name, cause.as_str()])?;
        }
        families.declared.set(endpoint)?;
        Ok(Self {
            provider: Arc::clone(endpoint.provider.id()),
            requests: of_outcome(&families.requests)?,
            rejections: Reason::ALL
                .into_iter()
                .map(|r| {
                    Ok((r, families.rejections.get_metric_with_label_values(&[provider, name, r.as_str()])?))
                })
                .collect::<Result<_>>()?,
            events: of_outcome(&families.events)?,
            duration: families.request_duration.get_metric_with_label_values(&[provider, name])?,
            late: families.late_replies.get_metric_with_label_values(&[provider, name])?,
            deadline: endpoint.provider.deadline(),
            lag: families.event_lag.get_metric_with_label_values(&[provider, name])?,
            secrets: (1..=endpoint.secrets.len())
                .map(|p| families.secret_matches.get_metric_with_label_values(&[name, &p.to_string()]))
                .collect::<Result<_>>()?,
            fingerprints: endpoint.secrets.iter().map(|one| one.secret.fingerprint(name)).collect(),
            types: known_types(config, endpoint)
                .into_iter()
                .map(|t| Ok((t.to_owned(), of_type(t)?)))
                .collect::<Result<_>>()?,
            other_types: of_type(OTHER)?,
        })
    }
}

/// The handlers that routes give this endpoint.
fn handlers_of<'a>(config: &'a Config, endpoint: &'a Endpoint) -> BTreeSet<&'a str> {
    config
        .routes
        .iter()
        .filter(|route| route.endpoints.contains(&endpoint.name))
        .filter_map(Route::handler)
        .collect()
}

/// The event types that routes name without a wildcard, and those of the samples in the provider's definition: a set
/// that no request can make larger.
fn known_types<'a>(config: &'a Config, endpoint: &'a Endpoint) -> BTreeSet<&'a str> {
    let samples = endpoint.provider.samples().iter().map(|sample| sample.event_type.as_str());
    config
        .routes
        .iter()
        .filter(|route| route.endpoints.contains(&endpoint.name))
        .flat_map(|route| &route.types)
        .map(String::as_str)
        .filter(|glob| !glob.contains(['*', '?', '[', '{', '\\', '!']))
        .chain(samples)
        .collect()
}

pub(super) fn count<K: PartialEq>(children: &[(K, IntCounter)], key: &K) {
    if let Some((_, counter)) = children.iter().find(|(k, _)| k == key) {
        counter.inc();
    }
}
