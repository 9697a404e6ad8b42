//! Who may ask.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HOST, HeaderValue, WWW_AUTHENTICATE};
use axum::middleware::Next;
use axum::response::Response;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{AdminState, pages};

/// On loopback, only requests to a loopback name go on. A web page can make a browser send requests to 127.0.0.1
/// under a name of its own (DNS rebinding), and would then read the answers; `Host` gives it away. A request without
/// `Host` is no browser's.
pub(super) async fn own_host(State(state): State<AdminState>, request: Request, next: Next) -> Response {
    let host = match request.uri().authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers().get(HOST).map(|host| host.to_str().unwrap_or("")),
    };
    let several = request.headers().get_all(HOST).iter().count() > 1;
    if state.admin.listen.ip().is_loopback() && (several || !host.is_none_or(is_loopback)) {
        return pages::problem(StatusCode::MISDIRECTED_REQUEST, "Ask under localhost or a loopback address");
    }
    next.run(request).await
}

/// Elsewhere than on loopback, metrics need the token from the config.
pub(super) async fn metrics_token(State(state): State<AdminState>, request: Request, next: Next) -> Response {
    if state.admin.listen.ip().is_loopback() {
        return next.run(request).await;
    }
    let Some(token) = &state.admin.metrics_token else {
        return pages::problem(
            StatusCode::FORBIDDEN,
            "Metrics need admin.metrics_token when the listener is not loopback",
        );
    };
    let given = request.headers().get(AUTHORIZATION).and_then(|value| bearer(value.as_bytes()));
    if given.is_some_and(|given| same(given, token.expose())) {
        return next.run(request).await;
    }
    let mut refused = pages::problem(StatusCode::UNAUTHORIZED, "Metrics need a bearer token");
    refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    refused
}

fn is_loopback(host: &str) -> bool {
    let Ok(authority) = host.parse::<axum::http::uri::Authority>() else { return false };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}

/// Over digests, so that neither content nor length shows in the time it takes.
fn same(given: &[u8], token: &[u8]) -> bool {
    Sha256::digest(given).ct_eq(&Sha256::digest(token)).into()
}
