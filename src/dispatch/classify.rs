//! What an answer, or the lack of one, means for the message.

use std::error::Error;
use std::io;

use http::StatusCode;
use hyper_util::client::legacy;

use super::http::ConnectTimeout;
use super::resolve::ResolveError;
use crate::model::AttemptOutcome;

/// The rule for statuses:
/// - 2xx: taken.
/// - 5xx: the destination's trouble, which passes.
/// - 408, 409, 421, 423, 425, 429: "not now". 409 is what a receiver answers while it still works on the same
///   idempotency key.
/// - 302, 303, 307: temporary redirects. They are not followed, and they are temporary: another try.
/// - all else, above all 410, other 4xx, and 301 and 308: the request or the URL is wrong, and will be wrong again. A
///   person must look.
pub(super) fn outcome(status: StatusCode) -> AttemptOutcome {
    match status.as_u16() {
        200..=299 => AttemptOutcome::Succeeded,
        500..=599 | 408 | 409 | 421 | 423 | 425 | 429 | 302 | 303 | 307 => AttemptOutcome::Failed,
        _ => AttemptOutcome::Rejected,
    }
}

/// Why no answer came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// For `last_error` and metrics, a closed set: `dns`, `blocked_address`, `connect`, `connect.timeout`, `tls`,
    /// `timeout`, `closed`, `protocol`.
    pub(super) code: &'static str,
    /// For the log.
    pub(super) detail: String,
}

/// Names a failure of the exchange by the first cause that says something definite.
pub(super) fn fault(error: &legacy::Error) -> Fault {
    let code = causes(error).find_map(code).unwrap_or(if error.is_connect() { "connect" } else { "closed" });
    let detail = causes(error).last().map(ToString::to_string).unwrap_or_default();
    Fault { code, detail }
}

fn code(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = cause.downcast_ref::<ResolveError>() {
        return Some(match error {
            ResolveError::Blocked(_) => "blocked_address",
            ResolveError::Nothing | ResolveError::Failed(_) => "dns",
        });
    }
    if cause.is::<ConnectTimeout>() {
        return Some("connect.timeout");
    }
    if cause.is::<rustls::Error>() {
        return Some("tls");
    }
    cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse).then_some("protocol")
}

/// An error and all that stands behind it. `io::Error::source` skips the error it wraps, so that one is taken out by
/// hand.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        match error.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
