//! The operators' listener: is the gateway alive, is it ready, and what do its metrics say.
//!
//! Who acts: `app` serves [`router`] on `admin.listen`, which is loopback unless the operator says otherwise.
//! What holds: no GET writes anything or costs a query; on loopback a foreign `Host` is refused, so that no web page
//! in an operator's browser reads it through a name of its own; elsewhere metrics need a token. Health says nothing
//! but yes or no.
//! What is absent: the names of endpoints outside `/metrics`.

mod guard;
mod pages;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tokio_util::sync::CancellationToken;

use crate::config::Admin;
use crate::observe::{Metrics, StoreHealth};

/// What the pages show.
#[derive(Clone)]
pub struct AdminState {
    /// `[admin]`
    pub admin: Admin,
    /// The metrics page.
    pub metrics: Arc<Metrics>,
    /// What the monitor saw.
    pub store: Arc<StoreHealth>,
    /// Cancelled when the process is told to stop.
    pub draining: CancellationToken,
}

/// All pages of the operators' listener.
pub fn router(state: AdminState) -> Router {
    let metrics = Router::new()
        .route("/metrics", get(pages::metrics))
        .layer(from_fn_with_state(state.clone(), guard::metrics_token));
    Router::new()
        .route("/healthz", get(pages::healthz))
        .route("/readyz", get(pages::readyz))
        .merge(metrics)
        .fallback(pages::not_found)
        .method_not_allowed_fallback(pages::method_not_allowed)
        // Outermost: a request under a foreign name sees no page at all, not even a 404.
        .layer(from_fn_with_state(state.clone(), guard::own_host))
        .with_state(state)
}
