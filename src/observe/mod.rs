//! What operators see: metrics, log lines, and whether the store answers.
//!
//! Who acts: `app` builds one [`Metrics`] from the config and wraps the store's ports with [`Measured`], so that the
//! code inside names no metric; the inbox's workers report to [`Metrics::worked`]; `ingress` records each request; a
//! [`Monitor`] asks the store in the background.
//! What holds: label values come from the config or from closed sets, never from a request, so that the number of
//! series is fixed at start; every child exists from the start, so that `rate()` sees the first increase.
//! What is absent: headers, bodies, query strings, secrets, and event types that neither the config nor a provider's definition names.

mod children;
mod declared;
mod families;
mod line;
mod log;
mod measured;
mod metrics;
mod monitor;
mod standing;
mod work;

pub use line::{Exchange, request_line};
pub use log::{LogError, init_tracing};
pub use measured::Measured;
pub use metrics::Metrics;
pub use monitor::{INTERVAL, Monitor, StoreHealth};
pub use work::Alive;
