//! What stands in the store besides the queues: requests in quarantine, and when secrets last matched.

use std::sync::Arc;

use super::Metrics;
use super::metrics::inc;
use crate::receive::{NotKept, Watch};

impl Watch for Metrics {
    fn not_kept(&self, endpoint: &str, why: NotKept) {
        inc(&self.families.not_kept, &[endpoint, why.as_str()]);
    }
}

impl Metrics {
    /// The endpoints, by name.
    pub(super) fn endpoint_names(&self) -> Vec<Arc<str>> {
        self.endpoints.keys().cloned().collect()
    }

    /// How many requests of each endpoint are in quarantine.
    pub(super) fn quarantine(&self, rows: &[(Arc<str>, i64)]) {
        for (endpoint, rows) in rows {
            if let Ok(gauge) = self.families.quarantine_rows.get_metric_with_label_values(&[endpoint]) {
                gauge.set(*rows);
            }
        }
    }

    /// Matches of each secret since the start: endpoint, fingerprint, count.
    pub(super) fn secret_totals(&self) -> Vec<(Arc<str>, String, u64)> {
        let of_endpoint = |(name, metrics): (&Arc<str>, &super::children::EndpointMetrics)| {
            let name = Arc::clone(name);
            let secrets = metrics.fingerprints.iter().zip(&metrics.secrets);
            secrets.map(|(print, count)| (Arc::clone(&name), print.clone(), count.get())).collect::<Vec<_>>()
        };
        self.endpoints.iter().flat_map(of_endpoint).collect()
    }
}
