//! What two looks at the metrics, some seconds apart, say of what happened between them.

use serde::Serialize;

use super::page::Page;

/// Everything that one picture shows.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// Gateways that answered, of those that were asked.
    pub gateways: [usize; 2],
    /// Over how many seconds the rates are; 0 for a first look, which has none.
    pub seconds: f64,
    /// By endpoint.
    pub endpoints: Vec<EndpointLine>,
    /// By destination.
    pub destinations: Vec<DestinationLine>,
}

/// One endpoint, over all gateways. Rates are per second, times in seconds; `null` where nothing is known.
#[derive(Debug, Serialize)]
pub struct EndpointLine {
    /// Its name.
    pub endpoint: String,
    /// Its provider.
    pub provider: String,
    /// Verified events.
    pub events: f64,
    /// The share of them that were duplicates, 0 to 1.
    pub duplicates: Option<f64>,
    /// Rejected requests.
    pub rejected: f64,
    /// Runs of handlers that failed, for now or for good.
    pub failed: f64,
    /// 99 % of the replies came within this time.
    pub reply_p99: Option<f64>,
    /// 99 % of the events were done within this time after their receipt.
    pub lag_p99: Option<f64>,
    /// Waiting events, the age of the oldest in seconds, and what needs review.
    #[serde(flatten)]
    pub waiting: Waiting,
}

/// One destination, over all gateways.
#[derive(Debug, Serialize)]
pub struct DestinationLine {
    /// Its name.
    pub destination: String,
    /// Deliveries that it took.
    pub delivered: f64,
    /// Tries that failed, for now or for good.
    pub failed: f64,
    /// 99 % of the tries ended within this time.
    pub attempt_p99: Option<f64>,
    /// Waiting messages, the age of the oldest in seconds, and what needs review.
    #[serde(flatten)]
    pub waiting: Waiting,
}

/// What a queue holds for one endpoint or destination, as the store said last.
#[derive(Debug, Serialize)]
pub struct Waiting {
    /// How many wait.
    pub backlog: Option<f64>,
    /// The age of the oldest, in seconds.
    pub oldest: Option<f64>,
    /// How many a person must look at.
    pub needs_review: Option<f64>,
}

impl Figures {
    /// From a look `seconds` ago and one of now; without one before there are no rates yet.
    #[must_use]
    pub fn new(before: Option<&Page>, now: &Page, seconds: f64, gateways: [usize; 2]) -> Self {
        let nothing = Page::default();
        let span = Span { before: before.unwrap_or(&nothing), now, seconds: before.map_or(0.0, |_| seconds) };
        let endpoints = now.names("hookgate_requests_total", "endpoint", "provider");
        let destinations = now.names("hookgate_delivery_attempts_total", "destination", "");
        Self {
            gateways,
            seconds: span.seconds,
            endpoints: endpoints
                .into_iter()
                .map(|(name, provider)| endpoint(&span, name, provider))
                .collect(),
            destinations: destinations.into_keys().map(|name| destination(&span, name)).collect(),
        }
    }
}

fn endpoint(span: &Span<'_>, name: String, provider: String) -> EndpointLine {
    let own = [("endpoint", name.as_str())];
    let with = |label, value| [own[0], (label, value)];
    let events = span.rate("hookgate_events_total", &own);
    let duplicates = span.rate("hookgate_events_total", &with("outcome", "duplicate"));
    let runs = |outcome| span.rate("hookgate_process_attempts_total", &with("outcome", outcome));
    EndpointLine {
        events,
        duplicates: (events > 0.0).then(|| duplicates / events),
        rejected: span.rate("hookgate_rejections_total", &own),
        failed: runs("failed") + runs("permanent"),
        reply_p99: span.p99("hookgate_request_duration_seconds", &own),
        lag_p99: span.p99("hookgate_event_lag_seconds", &own),
        waiting: Waiting::of(span.now, "inbox", &own),
        provider,
        endpoint: name,
    }
}

fn destination(span: &Span<'_>, name: String) -> DestinationLine {
    let own = [("destination", name.as_str())];
    let tries = |outcome| span.rate("hookgate_delivery_attempts_total", &[own[0], ("outcome", outcome)]);
    DestinationLine {
        delivered: tries("succeeded"),
        failed: tries("failed") + tries("rejected"),
        attempt_p99: span.p99("hookgate_delivery_duration_seconds", &own),
        waiting: Waiting::of(span.now, "outbox", &own),
        destination: name,
    }
}

impl Waiting {
    fn of(now: &Page, queue: &str, own: &[(&str, &str)]) -> Self {
        let gauge = |what| now.max(&format!("hookgate_{queue}_{what}"), own);
        Self {
            backlog: gauge("backlog"),
            oldest: gauge("oldest_seconds"),
            needs_review: gauge("needs_review"),
        }
    }
}

/// The time between two looks.
struct Span<'a> {
    before: &'a Page,
    now: &'a Page,
    seconds: f64,
}

impl Span<'_> {
    /// How much a counter grew in a second. One that shrank belongs to a gateway that was started anew.
    fn rate(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        if self.seconds <= 0.0 {
            return 0.0;
        }
        (self.now.sum(name, labels) - self.before.sum(name, labels)).max(0.0) / self.seconds
    }

    /// The bound that 99 % of what was observed in between did not exceed, as near as the buckets tell.
    fn p99(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let before = self.before.buckets(name, labels);
        let count =
            |bound: f64| before.iter().find(|(le, _)| le.total_cmp(&bound).is_eq()).map_or(0.0, |it| it.1);
        let grown: Vec<(f64, f64)> =
            self.now.buckets(name, labels).into_iter().map(|(le, now)| (le, now - count(le))).collect();
        let all = grown.last().filter(|(_, all)| *all > 0.0 && self.seconds > 0.0)?.1;
        let at = grown.iter().position(|(_, within)| *within >= all * 0.99)?;
        let (bound, within) = grown[at];
        let (floor, below) = if at == 0 { (0.0, 0.0) } else { grown[at - 1] };
        if bound.is_infinite() {
            return Some(floor);
        }
        Some(floor + (bound - floor) * ((all * 0.99 - below) / (within - below)).clamp(0.0, 1.0))
    }
}
