//! What the config says, as numbers that alerts compare with what happens. Set at start, never changed.

use prometheus::{GaugeVec, Registry, Result};

use super::families::gauge;
use crate::config::Endpoint;

/// The gauges; an endpoint that declares nothing has no series.
pub(super) struct Declared {
    expected_every: GaugeVec,
    reply_deadline: GaugeVec,
    secret_expires: GaugeVec,
}

impl Declared {
    pub(super) fn register(registry: &Registry) -> Result<Self> {
        Ok(Self {
            expected_every: gauge(
                registry,
                "hookgate_expected_every_seconds",
                "The endpoint's `expect_every`: a genuine request comes at least this often, or the alert on silence \
                 fires. No series where none is declared.",
                &["endpoint"],
            )?,
            reply_deadline: gauge(
                registry,
                "hookgate_reply_deadline_seconds",
                "How long the provider waits for a reply before it gives up and sends again; no series where it does \
                 not say.",
                &["provider", "endpoint"],
            )?,
            secret_expires: gauge(
                registry,
                "hookgate_secret_expires_timestamp_seconds",
                "When the secret at this position (from 1) counts no more, in Unix time: its `until`. No series for \
                 secrets without one.",
                &["endpoint", "secret"],
            )?,
        })
    }

    pub(super) fn set(&self, endpoint: &Endpoint) -> Result<()> {
        let name = &*endpoint.name;
        if let Some(every) = endpoint.expect_every {
            self.expected_every.get_metric_with_label_values(&[name])?.set(every.as_secs_f64());
        }
        if let Some(deadline) = endpoint.provider.deadline() {
            let labels = [&**endpoint.provider.id(), name];
            self.reply_deadline.get_metric_with_label_values(&labels)?.set(deadline.as_secs_f64());
        }
        for (at, secret) in endpoint.secrets.iter().enumerate() {
            let Some(until) = secret.until else { continue };
            let position = (at + 1).to_string();
            let gauge = self.secret_expires.get_metric_with_label_values(&[name, &position])?;
            #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 fit 53 bits")]
            gauge.set(until.timestamp() as f64);
        }
        Ok(())
    }
}
