//! What the workers report.

use prometheus::IntGauge;

use super::Metrics;
use super::metrics::inc;
use crate::model::Attempt;
use crate::worker::Worked;

impl Metrics {
    /// A worker's try to process one event.
    pub fn worked(&self, worked: &Worked) {
        let Some(metrics) = self.endpoints.get(&worked.key.endpoint) else { return };
        self.runs(metrics, &worked.key.endpoint, &worked.runs);
        if let Some(lag) = worked.lag {
            metrics.lag.observe(lag.as_secs_f64());
        }
        if worked.lease_lost {
            self.lease_lost("inbox");
        }
    }

    /// One try to deliver a message; see [`super::Measured`].
    pub(super) fn delivery(&self, destination: &str, attempt: &Attempt) {
        let labels = [destination, attempt.outcome.as_str()];
        inc(&self.families.delivery_attempts, &labels);
        if let Ok(duration) = self.families.delivery_duration.get_metric_with_label_values(&labels) {
            duration.observe(attempt.duration.as_secs_f64());
        }
    }

    /// A worker's loop over this queue (`inbox` or `outbox`) runs until the answer is dropped.
    #[must_use]
    pub fn worker_alive(&self, queue: &'static str) -> Option<Alive> {
        let gauge = self.families.workers_alive.get_metric_with_label_values(&[queue]).ok()?;
        gauge.inc();
        Some(Alive(gauge))
    }
}

/// Counted in `hookgate_workers_alive` until it is dropped, also by a panic.
#[derive(Debug)]
pub struct Alive(IntGauge);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.dec();
    }
}
