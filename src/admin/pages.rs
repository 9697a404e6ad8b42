//! The pages themselves.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::AdminState;

/// Prometheus' text format.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
const HEADERS: [(HeaderName, &str); 2] = [(CACHE_CONTROL, "no-store"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];

/// The process answers.
pub(super) async fn healthz() -> Response {
    page(StatusCode::OK, &json!({ "status": "alive" }))
}

/// Requests should be sent here: the store answers, its schema is current, and nobody told us to stop.
pub(super) async fn readyz(State(state): State<AdminState>) -> Response {
    let (store, draining) = (state.store.is_ready(), state.draining.is_cancelled());
    let ready = store && !draining;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    page(status, &json!({ "ready": ready, "store": store, "draining": draining }))
}

/// All metrics.
pub(super) async fn metrics(State(state): State<AdminState>) -> Response {
    match state.metrics.render() {
        Ok(text) => (HEADERS, [(CONTENT_TYPE, METRICS_TYPE)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "metrics.failed");
            problem(StatusCode::INTERNAL_SERVER_ERROR, "The metrics could not be written")
        }
    }
}

pub(super) async fn not_found() -> Response {
    problem(StatusCode::NOT_FOUND, "No such page")
}

pub(super) async fn method_not_allowed() -> Response {
    problem(StatusCode::METHOD_NOT_ALLOWED, "This page can only be read")
}

/// RFC 9457.
pub(super) fn problem(status: StatusCode, title: &'static str) -> Response {
    let problem = json!({ "type": "about:blank", "title": title, "status": status.as_u16() });
    (status, HEADERS, [(CONTENT_TYPE, "application/problem+json")], problem.to_string()).into_response()
}

fn page(status: StatusCode, value: &Value) -> Response {
    (status, HEADERS, Json(value)).into_response()
}
